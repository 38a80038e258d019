# Generated from src/compactord/_async/turn/run.py by scripts/unasync.py. Do not edit.
"""What the parts of a turn share: its session, its state, and the only method that appends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from compactord import v1, warned
from compactord._sync.compaction.compacting import SessionCompactions
from compactord._sync.turn.options import TurnOptions
from compactord._sync.turn.runtime import Lock, Work
from compactord._sync.turn.state import TurnState, Step
from compactord._sync.turn.writes import Write
from compactord._sync.wire.calls import Calls
from compactord._sync.wire.runtime import resolve
from compactord.errors import TurnAbortedError
from compactord.results import Appended, CompactionResult
from compactord.tools import ToolCall
from compactord.turns import Turn
from compactord.unanswered import leaves_open
from compactord.view import View

FAILED = (v1.StopReason.STOP_REASON_ERROR, v1.StopReason.STOP_REASON_ABORTED)
"""The stop reasons of answers that views leave out, together with their calls."""


class TurnRun:
    """What the parts of one turn share.

    Another task or thread can abort the turn between two calls to the daemon. For each write, the turn takes its lock
    and then checks ``aborted``. An abort sets ``aborted`` and then takes the lock. So nothing is written after an abort
    has returned, and no write is interrupted.

    Attributes:
        session: The session.
        calls: The calls to the daemon.
        state: The state that the session keeps between turns.
        options: The turn's options.
        aborted: Whether the turn was aborted.
        write_lock: Held during each write.
        work: The functions of the caller that are running.
        report: How full the context is; None before the daemon has said so.
        compactions: The turn's compactions, in order: their results, or the exceptions of those that failed without
            ending the turn.
        limit_tokens: How many tokens the model accepts, where an error of its provider said so.
        contradiction: The warning of a context window above that; else empty.
    """

    def __init__(
        self, session: SessionCompactions, calls: Calls, state: TurnState, options: TurnOptions
    ) -> None:
        """Start without an answer."""
        self.session = session
        self.calls = calls
        self.state = state
        self.options = options
        self.aborted = False
        self.write_lock = Lock()
        self.work = Work()
        self.report: v1.ContextReport | None = None
        self.compactions: list[CompactionResult | Exception] = []
        self.limit_tokens: int | None = None
        self.contradiction = ""
        self._answer: v1.ModelAnswer | None = None
        self._steps = 0

    def view(self) -> View:
        """Fetch the view that the options ask for."""
        return self.session.view(
            thinking=self.options.thinking,
            mark_cache_breakpoints=self.options.mark_cache_breakpoints,
            extra_blocks=self._extra_blocks(),
        )

    def _extra_blocks(self) -> Iterable[v1.ContextBlock]:
        """Return the blocks for the next view: none where they would end a paused answer."""
        extra = self.options.extra_blocks
        if self.state.paused:
            return ()
        if not callable(extra):
            return extra

        def find() -> Iterable[v1.ContextBlock]:
            return resolve(extra())

        [blocks] = self.work.all([find])
        return blocks

    def write(self, write: Write) -> None:
        """Append, and keep the append until it is known that the daemon has it."""
        with self.write_lock:
            self.check()
            self.state.keep(write)
            try:
                appended = self.state.send(self.session, write)
            except Exception as error:
                if not leaves_open(error):
                    self.state.written(write)
                raise
            self.state.written(write)
            self._note(write, appended)

    def _note(self, write: Write, appended: Appended) -> None:
        """Update the state after an append."""
        step, answer = self.state.step, appended.answer
        self.report = appended.report
        if step is not None and step.writes and step.writes[0] is write:
            step.writes.pop(0)
        if answer is None:
            return
        self._answer = answer
        self.state.step = Step(answer)
        if not answer.overflow:
            self._steps += 1
            self.state.paused = answer.stop_reason == v1.StopReason.STOP_REASON_PAUSE
            if answer.stop_reason not in FAILED:
                self.state.overflow_spent = False

    def check(self) -> None:
        """Raise a TurnAbortedError where the turn was aborted."""
        if self.aborted:
            raise aborted_error()

    @property
    def unfinished(self) -> bool:
        """Whether the model has not finished: it paused, or calls are open. No other message may be appended then."""
        return self.state.paused or (self.report is not None and self.report.open_call_count > 0)

    @property
    def full(self) -> bool:
        """Whether the model may not answer again in this turn."""
        return self._steps == self.options.max_steps

    def turn(self, *, done: bool, tool_calls: Sequence[ToolCall] = (), rejected: bool = False) -> Turn:
        """Make the result of the turn."""
        return Turn(
            done=done,
            answer=self._answer,
            report=self.report,
            steps=self._steps,
            tool_calls=tuple(tool_calls),
            rejected=rejected,
            compactions=tuple(self.compactions),
            limit_tokens=self.limit_tokens,
            warnings=self._warnings(),
        )

    def _warnings(self) -> tuple[str, ...]:
        made = [text for one in self.compactions if isinstance(one, CompactionResult) for text in one.warnings]
        return (*made, *filter(None, [self.contradiction, warned.unbounded(self.report)]))


def aborted_error() -> TurnAbortedError:
    """Make the error of an aborted turn."""
    return TurnAbortedError("the turn was aborted; answers of its model and its tools after that are dropped")
