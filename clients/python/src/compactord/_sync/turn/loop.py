# Generated from src/compactord/_async/turn/loop.py by scripts/unasync.py. Do not edit.
"""A turn: from what the user said to what the model has to say to it, through compactions, overflows and tool calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from compactord import provider_errors, v1, words
from compactord._sync.compaction.compacting import SessionCompactions
from compactord._sync.turn.compactions import OnEvent, WriteSummary
from compactord._sync.turn.run import aborted_error
from compactord._sync.turn.runtime import Interrupted, ModelAnswerLike
from compactord._sync.turn.state import TurnState, Write
from compactord._sync.turn.steps import Tools, TurnSteps, RunTool
from compactord._sync.wire.calls import Calls
from compactord.answers import StreamedAnswer, appendable
from compactord.errors import CompactordError, HistoryRevertedError
from compactord.turns import Turn
from compactord.view import View
from compactord.words import Thinking

CallModel: TypeAlias = Callable[[View], ModelAnswerLike]
"""Calls the model with a view, and returns its answer (see :data:`compactord.AnswerLike`) or the events of it."""


class TurnLoop(TurnSteps):
    """One run of an agent's loop.

    An error leaves the session's state such that the next run goes on where this one stopped.
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
        super().__init__(
            session,
            calls,
            state,
            thinking=thinking,
            mark_cache_breakpoints=mark_cache_breakpoints,
            on_event=on_event,
            summarize_with=summarize_with,
            run_tool=run_tool,
            tools=tools,
        )
        self._call_model = call_model
        self._max_steps = max_steps
        self._checkpoint_steps = checkpoint_steps

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
            raise aborted_error() from None
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

    def _prepare(self) -> None:
        """Tell what waits to be told, and mark the place where the step begins."""
        with self._gate:
            self._check()
            if not self._between():
                self._report = self._state.tell(self._session) or self._report
            mail = self._tools is not None and self._tools.dmail
            if (mail or self._checkpoint_steps) and not self._between():
                self._report = (self._state.mark(self._session, announce=mail)).report
