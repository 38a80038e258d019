"""The common base of the parts of a turn: its session, its state, and the only method that appends."""

from __future__ import annotations

from functools import partial

from compactord import v1
from compactord._async.compaction.compacting import AsyncSessionCompactions
from compactord._async.turn.runtime import Lock, Work
from compactord._async.turn.state import AsyncTurnState, Step, Write, send
from compactord._async.wire.calls import AsyncCalls
from compactord.errors import TurnAbortedError
from compactord.results import Appended
from compactord.unanswered import leaves_open
from compactord.words import Thinking

FAILED = (v1.StopReason.STOP_REASON_ERROR, v1.StopReason.STOP_REASON_ABORTED)
"""The stop reasons of answers that views leave out, together with their calls."""


class AsyncTurnRun:
    """The base of one turn of an agent.

    Another task or thread can abort the turn between two calls to the daemon. For each write, the turn takes its lock
    and then checks ``aborted``. An abort sets ``aborted`` and then takes the lock. So nothing is written after an abort
    has returned, and no write is interrupted.

    Attributes:
        aborted: Whether the turn was aborted.
    """

    def __init__(
        self,
        session: AsyncSessionCompactions,
        calls: AsyncCalls,
        state: AsyncTurnState,
        *,
        thinking: Thinking | None,
        mark_cache_breakpoints: bool,
    ) -> None:
        self.aborted = False
        self._session = session
        self._calls = calls
        self._state = state
        self._draw = partial(session.view, thinking=thinking, mark_cache_breakpoints=mark_cache_breakpoints)
        self._write_lock = Lock()
        self._work = Work()
        self._answer: v1.ModelAnswer | None = None
        self._report: v1.ContextReport | None = None
        self._steps = 0

    async def _write(self, write: Write) -> None:
        """Append, and keep the append until it is known that the daemon has it."""
        async with self._write_lock:
            self._check()
            self._state.keep(write)
            try:
                appended = await send(self._session, write)
            except Exception as error:
                if not leaves_open(error):
                    self._state.written(write)
                raise
            self._state.written(write)
            self._note(write, appended)

    def _note(self, write: Write, appended: Appended) -> None:
        """Update the state after an append."""
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
            if answer.stop_reason not in FAILED:
                self._state.overflow_spent = False

    def _check(self) -> None:
        if self.aborted:
            raise aborted_error()

    def _unfinished(self) -> bool:
        """Whether the model has not finished: it paused, or calls are open. No other message may be appended then."""
        return self._state.paused or (self._report is not None and self._report.open_call_count > 0)


def aborted_error() -> TurnAbortedError:
    """Make the error of an aborted turn."""
    return TurnAbortedError("the turn was aborted; answers of its model and its tools after that are dropped")
