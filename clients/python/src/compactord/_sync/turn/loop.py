# Generated from src/compactord/_async/turn/loop.py by scripts/unasync.py. Do not edit.
"""The loop of a turn: model calls, tool calls and compactions until the model has finished."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compactord import v1, words
from compactord._sync.compaction.compacting import SessionCompactions
from compactord._sync.turn.compactions import TurnCompactions
from compactord._sync.turn.options import CallModel, TurnOptions
from compactord._sync.turn.run import TurnRun, aborted_error
from compactord._sync.turn.runtime import Interrupted
from compactord._sync.turn.state import TurnState
from compactord._sync.turn.steps import TurnSteps
from compactord._sync.turn.writes import Write
from compactord._sync.wire.calls import Calls
from compactord.answers import STREAMED, StreamedAnswer, appendable
from compactord.errors import CompactordError, ConflictError, WrongNextIndexError
from compactord.turns import Turn


class TurnLoop:
    """One turn of an agent.

    After an error, the next turn of the session continues where this one stopped.
    """

    def __init__(
        self,
        session: SessionCompactions,
        calls: Calls,
        state: TurnState,
        call_model: CallModel,
        options: TurnOptions,
    ) -> None:
        """Make a turn."""
        self._call_model = call_model
        self._run = TurnRun(session, calls, state, options)
        self._compactions = TurnCompactions(self._run)
        self._steps = TurnSteps(self._run, self._compactions)

    @property
    def aborted(self) -> bool:
        """Whether the turn was aborted."""
        return self._run.aborted

    def run(self, messages: Sequence[Any]) -> Turn:
        """Run the turn to its end.

        Args:
            messages: Messages to append first.

        Returns:
            The result of the turn.
        """
        token = self._run.state.begin(self)
        try:
            self._begin(messages)
            self._run.state.wait_for_compactions(self)
            return self._loop()
        except Interrupted:
            raise aborted_error() from None
        finally:
            # After an abort, another turn may already use the same tools.
            tools = self._run.options.tools
            if tools is not None and not self.aborted:
                tools.discard_mail()
            self._run.state.end(self, token)

    def end_after_function(self) -> None:
        """Abort the turn after the caller's function that is running, which calls this."""
        self._run.aborted = True

    def abort(self) -> bool:
        """Abort the turn, from another task or thread.

        Returns:
            Whether a compaction of the turn was cancelled.
        """
        self._run.aborted = True
        self._run.work.interrupt()
        compacting = self._compactions.cancel()
        with self._run.state.changed:
            self._run.state.changed.notify_all()
        with self._run.write_lock:
            self._run.state.forget()
            if self._run.options.tools is not None:
                self._run.options.tools.discard_mail()
        return compacting

    def _begin(self, messages: Sequence[Any]) -> None:
        """Append the messages that an earlier turn could not append, then the new ones."""
        if messages:
            self._run.state.queue(tuple(messages))
        self._drop_reverted()
        if not self._run.state.unsent and self._run.state.step is None:
            # The turn goes on with what is in the log, whoever wrote it.
            info = self._run.session.info()
            self._run.state.position.start(info.session.next_index)
        while self._run.state.unsent:
            write = self._run.state.unsent[0]
            try:
                self._run.write(write)
            except WrongNextIndexError:
                # Others have written since the earlier turn. The new messages start over without its step.
                if not messages or write.given:
                    raise
            except ConflictError as error:
                # A revert came after the view of this answer, so the answer is not needed any more.
                if error.reason != "HISTORY_REVERTED" or not write.model_answer:
                    raise
        if messages:
            self._run.state.start_over()

    def _drop_reverted(self) -> None:
        """Forget the unfinished step of an earlier turn where a revert put its answer aside: its tools must not run."""
        step = self._run.state.step
        if step is None:
            return
        for message in self._run.session.messages(from_index=step.answer.index):
            if message.state == v1.MessageState.MESSAGE_STATE_PUT_ASIDE:
                self._run.state.forget_step()
            return

    def _loop(self) -> Turn:
        while True:
            step = self._run.state.step
            if step is not None:
                turn = self._steps.finish(step)
                if turn is not None:
                    return turn
            if self._run.full:
                return self._run.turn(done=False)
            self._compactions.if_due()
            self._prepare()
            self._ask()

    def _ask(self) -> None:
        """Call the model once and append its answer."""
        self._run.check()
        view = self._run.view()
        self._run.report = view.report
        streamed = StreamedAnswer(words.dialect(self._run.session.dialect))
        try:
            answer = self._run.work.model(lambda: self._call_model(view), streamed.add)
        except CompactordError:
            self._run.check()
            raise
        except Exception as error:
            self._run.check()
            why = self._compactions.overflow_of(error)
            if why is None:
                raise
            self._compactions.after_overflow(error, why)
            return
        said = streamed.whole() if answer is STREAMED else appendable(answer)
        self._run.write(Write((said,), view=view, model_answer=True))

    def _prepare(self) -> None:
        """Append the announcements that wait, and make the checkpoint of the step."""
        with self._run.write_lock:
            self._run.check()
            if not self._run.unfinished:
                self._run.report = self._run.state.append_announcements(self._run.session) or self._run.report
            options = self._run.options
            announce = options.tools is not None and options.tools.name_checkpoints
            if (announce or options.checkpoint_steps) and not self._run.unfinished:
                self._run.report = (self._run.state.checkpoint(self._run.session, announce=announce)).report
