# Generated from src/compactord/_async/turn/loop.py by scripts/unasync.py. Do not edit.
"""A turn: from what the user said to what the model has to say to it, through compactions, overflows and tool calls."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Protocol, TypeAlias

from compactord import provider_errors, v1, words
from compactord._sync.compaction.compacting import SessionCompactions
from compactord._sync.compaction.compaction import Compaction
from compactord._sync.turn.runtime import Interrupted, Lock, ModelAnswerLike, Work, wait_for
from compactord._sync.turn.state import TurnState, Step, Write, send
from compactord._sync.wire.calls import Calls
from compactord._sync.wire.runtime import Result, resolve
from compactord.answers import StreamedAnswer, appendable
from compactord.errors import (
    CheckpointNotFoundError,
    CheckpointPutAsideError,
    CompactionRunningError,
    CompactordError,
    ContextOverflowError,
    HistoryRevertedError,
    InvalidRequestError,
    ToolCallsOpenError,
    TurnAbortedError,
)
from compactord.prompts import Prompt, PromptAnswer
from compactord.results import Appended, CompactionResult
from compactord.tool_results import result_message
from compactord.tools import Mail, ToolCall, ToolOutput, ToolRejected, calls_of
from compactord.turns import Turn
from compactord.unanswered import leaves_open
from compactord.view import View
from compactord.words import Reason, Thinking

CallModel: TypeAlias = Callable[[View], ModelAnswerLike]
"""Calls the model with a view, and returns its answer (see :data:`compactord.AnswerLike`) or the events of it."""
RunTool: TypeAlias = Callable[[ToolCall], Result[str | ToolOutput | v1.Message | Mapping[str, Any] | list[Any] | None]]
"""Answers a call.

With a text, a :class:`ToolOutput`, a TOOL message, or a message in the session's dialect: a dict with a ``role`` or a
``type``. Any other dict and a list is data, whose JSON is the result; None is an empty result.
"""
WriteSummary: TypeAlias = Callable[[Prompt], str | PromptAnswer]
"""Has the agent's own model write a summary."""
OnEvent: TypeAlias = Callable[[v1.CompactionEvent], Result[object]]
"""Is told each event of a turn's compactions."""

# How long to wait for another client's compaction before looking again, in seconds.
_FIRST_WAIT, _LONGEST_WAIT, _LONGER = 0.1, 2.0, 1.6

_FAILED = (v1.StopReason.STOP_REASON_ERROR, v1.StopReason.STOP_REASON_ABORTED)


class Tools(Protocol):
    """The tools that are asked first, as a turn uses them. ``AgentTools`` are such.

    Attributes:
        dmail: Whether the model can send itself back to a checkpoint.
    """

    dmail: bool

    def handle(self, call: ToolCall) -> ToolOutput | None:
        """Answer a call; None where it is none of these tools."""
        ...

    def take_mail(self) -> Mail | None:
        """Take the message that waits to be delivered; None where there is none."""
        ...

    def discard_mail(self) -> None:
        """Drop the message that waits to be delivered."""
        ...


class TurnLoop:
    """One run of an agent's loop.

    Between any two calls to the daemon it can be aborted, from another task or thread. Whatever it writes it writes
    with its gate held and after a look at ``aborted``; who aborts it sets that and then takes the gate. So nothing is
    written once an abort is done, and nothing that is under way is cut off.

    An error leaves the session's state such that the next run goes on where this one stopped.

    Attributes:
        aborted: Whether it was aborted.
    """

    def __init__(
        self,
        session: SessionCompactions,
        calls: Calls,
        state: TurnState,
        call_model: CallModel,
        *,
        run_tool: RunTool | None = None,
        tools: Tools | None = None,
        max_steps: int | None = None,
        on_event: OnEvent | None = None,
        summarize_with: WriteSummary | None = None,
        checkpoint_steps: bool = False,
        thinking: Thinking | None = None,
        mark_cache_breakpoints: bool = False,
    ) -> None:
        """Make one; ``Session.run_turn`` has the arguments."""
        if max_steps is not None and max_steps < 1:
            raise ValueError(f"max_steps is {max_steps}, and is to be at least 1")
        self.aborted = False
        self._session = session
        self._calls = calls
        self._state = state
        self._call_model = call_model
        self._run_tool = run_tool
        self._tools = tools
        self._max_steps = max_steps
        self._on_event = on_event
        self._summarize_with = summarize_with
        self._checkpoint_steps = checkpoint_steps
        self._draw = partial(session.view, thinking=thinking, mark_cache_breakpoints=mark_cache_breakpoints)
        self._gate = Lock()
        self._work = Work()
        self._compaction: Compaction | None = None
        self._threshold_failed = False
        self._answer: v1.ModelAnswer | None = None
        self._report: v1.ContextReport | None = None
        self._steps = 0
        self._compactions: list[CompactionResult | Exception] = []
        # What the caller's on_event raised.
        self._broken: BaseException | None = None

    def run(self, messages: Sequence[Any]) -> Turn:
        """Run it to its end.

        Args:
            messages: What to append first.

        Returns:
            What became of it.
        """
        token = self._state.begin(self)
        try:
            self._begin(messages)
            self._state.settled(self)
            return self._loop()
        except Interrupted:
            raise _aborted() from None
        finally:
            # An aborted turn's tools may be another's by now.
            if self._tools is not None and not self.aborted:
                self._tools.discard_mail()
            self._state.end(self, token)

    def abort(self) -> bool:
        """Abort it, from outside.

        Returns:
            Whether a compaction of it was cancelled.
        """
        self.aborted = True
        self._work.interrupt()
        compaction = self._compaction
        if compaction is not None:
            compaction.cancel()
        with self._state.changed:
            self._state.changed.notify_all()
        with self._gate:
            self._state.forget()
            if self._tools is not None:
                self._tools.discard_mail()
        return compaction is not None

    def _begin(self, messages: Sequence[Any]) -> None:
        """Append what an earlier run could not, and what is new."""
        if messages:
            self._state.queue(tuple(messages))
        self._drop_reverted()
        for write in tuple(self._state.unsent):
            try:
                self._write(write)
            except HistoryRevertedError:
                # The view that it answers was taken back since: nobody waits for it any more.
                if not write.model_answer:
                    raise
        if messages:
            self._state.anew()

    def _drop_reverted(self) -> None:
        """Drop the step that an earlier run broke off in, where a revert put its answer aside: no tool is to run."""
        step = self._state.step
        if step is None:
            return
        for message in self._session.messages(from_index=step.answer.index):
            if message.state == v1.MessageState.MESSAGE_STATE_PUT_ASIDE:
                self._state.forget_step()
            return

    def _loop(self) -> Turn:
        while True:
            step = self._state.step
            if step is not None:
                turn = self._finish(step)
                if turn is not None:
                    return turn
            if self._steps == self._max_steps:
                return self._turn(done=False)
            self._compact_if_due()
            self._prepare()
            self._ask()

    # The model.

    def _ask(self) -> None:
        """Call the model once, and log what it answered."""
        self._check()
        view = self._draw()
        self._report = view.report
        streamed = StreamedAnswer(words.dialect(self._session.dialect))
        try:
            answer = self._work.model(lambda: self._call_model(view), streamed.add)
        except CompactordError:
            self._check()
            raise
        except Exception as error:
            self._check()
            why = self._overflow_of(error)
            if why is None:
                raise
            self._relieve(error, why)
            return
        said = streamed.whole() if answer is None else appendable(answer)
        self._write(Write((said,), view=view, model_answer=True))

    def _asked(self, answer: v1.ModelAnswer) -> list[ToolCall]:
        # The log closes the calls of an answer that failed.
        return [] if answer.stop_reason in _FAILED else calls_of(answer.index, self._parts(answer))

    def _parts(self, answer: v1.ModelAnswer) -> Iterable[v1.Part]:
        if not answer.parts_left_out:
            return answer.parts
        for message in self._session.messages(from_index=answer.index):
            return message.message.parts
        return answer.parts

    def _overflow_of(self, error: Exception) -> str | None:
        """Ask whether what the provider's package raised is an overflow.

        Returns:
            Why it is one; None where it is none, or where the daemon cannot be asked.
        """
        request = v1.ClassifyErrorRequest(
            error_text=provider_errors.text(error),
            http_status=provider_errors.http_status(error),
            session_id=self._session.id,
        )
        try:
            verdict = self._calls.unary(self._calls.compactions.ClassifyError, request)
        except CompactordError:
            # What went wrong is the provider's error; that the daemon is out of reach as well, the next call tells.
            return None
        return verdict.why if verdict.overflow else None

    # Compactions.

    def _compact_if_due(self) -> None:
        self._report = self._report or (self._draw()).report
        if not self._report.should_compact or self._threshold_failed:
            return
        try:
            self._compact("threshold")
        except Exception as failure:
            self._check()
            if failure is self._broken:
                raise
            self._threshold_failed = True
            self._compactions.append(failure)

    def _relieve(self, error: Exception | None, why: str) -> None:
        """Compact after an overflow, where it was not just done.

        Raises:
            ContextOverflowError: It was, or it is of no use.
            Exception: The compaction failed.
        """
        if self._state.overflow_spent:
            raise _overflow(why, self._report, "it was compacted before, and the model was called again") from error
        done = self._compact("overflow", error)
        if not done:
            raise _overflow(why, self._report, "there is nothing to compact") from error
        self._state.overflow_spent = True

    def _compact(self, reason: Reason, cause: Exception | None = None) -> bool:
        """Compact, once no other client does.

        Returns:
            Whether the view is another one now.
        """
        wait, waited = _FIRST_WAIT, False
        result: CompactionResult | None = None
        while result is None:
            try:
                result = self._compact_once(reason)
            except CompactionRunningError:
                waited = True
                with self._state.changed:
                    wait_for(self._state.changed, lambda: self.aborted, wait)
                wait = min(wait * _LONGER, _LONGEST_WAIT)
                self._check()
            except Exception as failure:
                self._check()
                if cause is None or failure is self._broken:
                    raise
                raise failure from cause
        if result.completed is not None:
            self._compactions.append(result)
        # Where another client's compaction was waited for, that one has done it.
        return waited or result.completed is not None

    def _compact_once(self, reason: Reason) -> CompactionResult:
        self._check()
        write = self._summarize_with
        if write is not None:

            def compact_with() -> CompactionResult:
                return self._session.compact_with(write, reason=reason, abort_running=False)

            [result] = self._work.all([compact_with])
        else:
            result = self._compact_here(reason)
            self._state.compacted(self._session, result)
        self._report = result.report or self._report
        return result

    def _compact_here(self, reason: Reason) -> CompactionResult:
        """Have the daemon compact, and tell how it goes on."""
        compaction = self._session.compaction_events(
            reason=reason, will_retry=reason == "overflow", abort_running=False
        )
        self._compaction = compaction
        try:
            with compaction:
                while (event := compaction.next_event()) is not None:
                    self._check()
                    self._tell_event(event)
        finally:
            self._compaction = None
        return compaction.result

    def _tell_event(self, event: v1.CompactionEvent) -> None:
        if self._on_event is None:
            return
        try:
            resolve(self._on_event(event))
        except BaseException as error:
            self._broken = error
            raise

    def _prepare(self) -> None:
        """Tell what waits to be told, and mark the place where the step begins."""
        with self._gate:
            self._check()
            if not self._between():
                self._report = self._state.tell(self._session) or self._report
            mail = self._tools is not None and self._tools.dmail
            if (mail or self._checkpoint_steps) and not self._between():
                self._report = (self._state.mark(self._session, announce=mail)).report

    def _between(self) -> bool:
        """Whether a message here would come between what belongs together."""
        return self._state.paused or (self._report is not None and self._report.open_call_count > 0)

    # Tools.

    def _finish(self, step: Step) -> Turn | None:
        """Deal with an answer: with its overflow, or its calls.

        Returns:
            What became of the turn; None where the model is to go on.
        """
        if step.answer.overflow:
            self._state.finish(step)
            self._relieve(None, step.answer.why)
            return None
        if step.calls is None:
            step.calls = self._asked(step.answer)
            step.results = [None] * len(step.calls)
        if not step.calls:
            self._state.finish(step)
            stopped = step.answer.stop_reason
            return None if stopped == v1.StopReason.STOP_REASON_PAUSE else self._turn(done=stopped not in _FAILED)
        if step.writes is None:
            self._work.all([partial(self._answer_call, step, call) for call in enumerate(step.calls)])
            if self._state.step is not step:
                # A tool has taken the conversation back to before its call.
                return None
            answered = [result for result in step.results if result is not None]
            groups = groupby(answered, key=lambda result: isinstance(result, v1.Message))
            step.writes = [Write(tuple(group)) for _, group in groups]
        while step.writes:
            self._write_results(step, step.writes[0])
        self._state.finish(step)
        return self._after(step)

    def _write_results(self, step: Step, write: Write) -> None:
        """Append results. Where the daemon refuses them, their tools are asked again when the turn is taken up."""
        try:
            self._write(write)
        except (InvalidRequestError, ToolCallsOpenError) as refused:
            calls = step.calls or []
            bad = [place for place, result in enumerate(step.results) if any(result is one for one in write.messages)]
            for place in bad:
                step.results[place] = None
            step.writes = None
            answered = ", ".join(f"{calls[place].id} of {calls[place].name}" for place in bad)
            refused.message = f"what run_tool answered to call {answered} is refused: {refused.message}"
            raise

    def _after(self, step: Step) -> Turn | None:
        """Decide how it goes on once the results of a step are appended."""
        unanswered = [call for call, result in zip(step.calls or (), step.results, strict=True) if result is None]
        rejected = step.rejected and not step.feedback
        if step.rejected and self._tools is not None:
            self._tools.discard_mail()
        if unanswered or rejected:
            return self._turn(done=False, tool_calls=unanswered, rejected=rejected)
        if step.rejected:
            return None
        self._deliver()
        return None

    def _answer_call(self, step: Step, placed: tuple[int, ToolCall]) -> None:
        """Have one call answered, unless it was before the turn was taken up again."""
        place, call = placed
        if step.results[place] is not None:
            return
        output: object = None
        try:
            if self._tools is not None:
                output = self._tools.handle(call)
            if output is None:
                if self._run_tool is None:
                    return
                output = resolve(self._run_tool(call))
        except ToolRejected as rejection:
            step.rejected = True
            step.feedback = step.feedback and bool(rejection.feedback)
            output = rejection.output()
        except Exception as error:
            output = ToolOutput(str(error) or type(error).__name__, is_error=True)
        step.results[place] = result_message(call, output, words.dialect(self._session.dialect))

    def _deliver(self) -> None:
        """Send a D-Mail that waits."""
        mail = self._tools.take_mail() if self._tools is not None else None
        if mail is None:
            return
        with self._gate:
            self._check()
            # Another client may have gone back to before the checkpoint: the model reads that nothing was delivered.
            with contextlib.suppress(CheckpointPutAsideError, CheckpointNotFoundError):
                reverted = self._session.revert(
                    to_checkpoint=mail.checkpoint_id, message_from_future=mail.message
                )
                self._report = reverted.report

    # The log.

    def _write(self, write: Write) -> None:
        """Append, and remember what is appended until it is known that the daemon has it."""
        with self._gate:
            self._check()
            self._state.keep(write)
            try:
                appended = send(self._session, write)
            except Exception as error:
                if not leaves_open(error):
                    self._state.written(write)
                raise
            self._state.written(write)
            self._note(write, appended)

    def _note(self, write: Write, appended: Appended) -> None:
        """Take up what the daemon says of an append."""
        step, answer = self._state.step, appended.answer
        self._report = appended.report
        if step is not None and step.writes and step.writes[0] is write:
            step.writes.pop(0)
        if answer is None:
            return
        self._answer = answer
        self._state.step = Step(answer)
        if not answer.overflow:
            self._steps += 1
            self._state.paused = answer.stop_reason == v1.StopReason.STOP_REASON_PAUSE
            if answer.stop_reason not in _FAILED:
                self._state.overflow_spent = False

    def _check(self) -> None:
        if self.aborted:
            raise _aborted()

    def _turn(self, *, done: bool, tool_calls: Sequence[ToolCall] = (), rejected: bool = False) -> Turn:
        return Turn(
            done=done,
            answer=self._answer,
            report=self._report,
            steps=self._steps,
            tool_calls=tuple(tool_calls),
            rejected=rejected,
            compactions=tuple(self._compactions),
        )


def _aborted() -> TurnAbortedError:
    return TurnAbortedError("the turn was aborted, and what its model and its tools said since is dropped")


def _overflow(why: str, report: v1.ContextReport | None, tried: str) -> ContextOverflowError:
    figures = f"; the context has {report.tokens} tokens" if report is not None else ""
    return ContextOverflowError(
        f"the conversation is too long for the model, and {tried}{figures}: {why}",
        why=why,
        tokens=report.tokens if report is not None else None,
        context_window=report.context_window or None if report is not None else None,
    )
