"""The turns of a session, and the compactions beside them: who goes first, and who waits."""

from __future__ import annotations

from typing_extensions import override

from compactord import v1
from compactord._async.compaction.compacting import AsyncSessionCompactions
from compactord._async.turn.state import Announce, AsyncTurnState
from compactord._async.wire.calls import AsyncCalls
from compactord.results import CompactionResult


class AsyncSessionTurns(AsyncSessionCompactions):
    """The part of a session that keeps its turns apart: one at a time, and none beside a compaction."""

    def __init__(self, calls: AsyncCalls, session_id: str, dialect: v1.Dialect.ValueType) -> None:
        super().__init__(calls, session_id, dialect)
        self._turns = AsyncTurnState()

    @property
    def announce(self) -> Announce | None:
        """Says what the model must be told again after a compaction: running tasks, the state of a plan, attachments.

        It is called with the result of each compaction that this session object completed, by a turn or by hand. A
        ``str`` that it returns is appended as a DEVELOPER message, messages as they are; None is nothing. That happens
        before the model is called again, and not as long as calls wait for their results. Where it raises, the
        compaction is done all the same: it is asked again before the model is called next, and what it raises then
        comes out of :meth:`run_turn`.
        """
        return self._turns.announce

    @announce.setter
    def announce(self, announce: Announce | None) -> None:
        self._turns.announce = announce

    async def abort_turn(self) -> None:
        """Abort the turn of this session object, if one runs: its ``run_turn`` raises :class:`TurnAbortedError`.

        What its model and its tools say from now on is dropped; once this returns nothing more of it is appended. Calls
        that are open then get a result in views that says so, with the next message of the user.
        """
        await self._turns.abort()

    @override
    def _taken_back(self) -> None:
        self._turns.forget()

    @override
    def _written(self) -> None:
        self._turns.appended()

    @override
    async def _hold_turns(self) -> None:
        await self._turns.hold()

    @override
    async def _abort_running(self) -> bool:
        return await self._turns.abort()

    @override
    async def _release_turns(self, result: CompactionResult | None) -> None:
        await self._turns.release()
        if result is not None:
            await self._turns.compacted(self, result)
