"""What all parts of a turn share: its session, what it keeps, and the only way to write."""

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
"""Why answers stopped that views leave out, with their calls."""


class AsyncTurnRun:
    """One run of an agent's loop, as far as all parts of it need it.

    Between any two calls to the daemon it can be aborted, from another task or thread. Whatever it writes it writes
    with its gate held and after a look at ``aborted``; who aborts it sets that and then takes the gate. So nothing is
    written once an abort is done, and nothing that is under way is cut off.

    Attributes:
        aborted: Whether it was aborted.
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
        self._gate = Lock()
        self._work = Work()
        self._answer: v1.ModelAnswer | None = None
        self._report: v1.ContextReport | None = None
        self._steps = 0

    async def _write(self, write: Write) -> None:
        """Append, and remember what is appended until it is known that the daemon has it."""
        async with self._gate:
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
            if answer.stop_reason not in FAILED:
                self._state.overflow_spent = False

    def _check(self) -> None:
        if self.aborted:
            raise aborted_error()

    def _between(self) -> bool:
        """Whether a message here would come between what belongs together."""
        return self._state.paused or (self._report is not None and self._report.open_call_count > 0)


def aborted_error() -> TurnAbortedError:
    """What a turn raises that was aborted."""
    return TurnAbortedError("the turn was aborted, and what its model and its tools said since is dropped")
