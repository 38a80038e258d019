"""The order of a session's turns and compactions."""

from __future__ import annotations

from typing_extensions import override

from compactord import v1
from compactord._async.compaction.folding import AsyncSessionFolds
from compactord._async.turn.state import Announce, AsyncTurnState
from compactord._async.wire.calls import AsyncCalls
from compactord.results import CompactionResult


class AsyncSessionTurns(AsyncSessionFolds):
    """The part of a session that lets only one turn run at a time, and none during a compaction."""

    def __init__(self, calls: AsyncCalls, session_id: str, dialect: v1.Dialect.ValueType) -> None:
        super().__init__(calls, session_id, dialect)
        self._turns = AsyncTurnState(self._position)

    @property
    def announce(self) -> Announce | None:
        """A function that returns what the model must know again after a compaction, such as running tasks or a plan.

        It is called with the result of each compaction that this session object completed, in a turn or outside of
        one. A ``str`` that it returns is appended as a DEVELOPER message, and messages unchanged; for None nothing is
        appended. That happens before the next model call, when no tool call is open. The compaction stays committed
        where the function raises an exception. The function is then called again before the next model call, and
        :meth:`run_turn` raises its exception.
        """
        return self._turns.announce

    @announce.setter
    def announce(self, announce: Announce | None) -> None:
        self._turns.announce = announce

    async def abort_turn(self) -> None:
        """Abort the running turn of this session object: its ``run_turn`` raises a :class:`TurnAbortedError`.

        Later answers of its model and tools are dropped. The turn appends nothing after this call has returned. From
        the user's next message on, views show a result for each open call that says that the call was given up.
        """
        await self._turns.abort()

    @override
    def _reverted(self) -> None:
        self._turns.forget()

    @override
    def _written(self) -> None:
        self._turns.appended()

    @override
    async def _hold_turns(self) -> None:
        await self._turns.compaction_started()

    @override
    async def _abort_running(self) -> bool:
        return await self._turns.abort()

    @override
    async def _release_turns(self, result: CompactionResult | None) -> None:
        await self._turns.compaction_ended()
        if result is not None:
            await self._turns.compacted(self, result)
