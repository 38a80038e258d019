"""The compactions of a turn: at the trigger and after an overflow."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from compactord import v1
from compactord._async.compaction.compacting import AsyncSessionCompactions
from compactord._async.compaction.compaction import AsyncCompaction
from compactord._async.turn.run import AsyncTurnRun
from compactord._async.turn.runtime import wait_for
from compactord._async.turn.state import AsyncTurnState
from compactord._async.wire.calls import AsyncCalls
from compactord._async.wire.runtime import Result, resolve
from compactord.errors import CompactionRunningError, ContextOverflowError
from compactord.prompts import Prompt, PromptAnswer
from compactord.results import CompactionResult
from compactord.words import Reason, Thinking

WriteSummary: TypeAlias = Callable[[Prompt], Awaitable[str | PromptAnswer]]
"""Lets the agent's own model write a summary."""
OnEvent: TypeAlias = Callable[[v1.CompactionEvent], Result[object]]
"""Called with each event of a turn's compactions."""

# While another client's compaction is running: the first and the longest wait between attempts in seconds, and the
# factor from one wait to the next.
_FIRST_WAIT, _LONGEST_WAIT, _WAIT_FACTOR = 0.1, 2.0, 1.6


class AsyncTurnCompactions(AsyncTurnRun):
    """The part of a turn that compacts."""

    def __init__(
        self,
        session: AsyncSessionCompactions,
        calls: AsyncCalls,
        state: AsyncTurnState,
        *,
        thinking: Thinking | None,
        mark_cache_breakpoints: bool,
        on_event: OnEvent | None,
        summarize_with: WriteSummary | None,
    ) -> None:
        super().__init__(session, calls, state, thinking=thinking, mark_cache_breakpoints=mark_cache_breakpoints)
        self._on_event = on_event
        self._summarize_with = summarize_with
        self._compaction: AsyncCompaction | None = None
        self._threshold_failed = False
        self._compactions: list[CompactionResult | Exception] = []
        # The exception of the caller's on_event.
        self._event_error: BaseException | None = None

    async def _compact_if_due(self) -> None:
        self._report = self._report or (await self._draw()).report
        if not self._report.should_compact or self._threshold_failed:
            return
        try:
            await self._compact("threshold")
        except Exception as failure:
            self._check()
            if failure is self._event_error:
                raise
            self._threshold_failed = True
            self._compactions.append(failure)

    async def _compact_after_overflow(self, error: Exception | None, why: str) -> None:
        """Compact after an overflow, unless the last overflow was already compacted.

        Raises:
            ContextOverflowError: It was already compacted, or there is nothing to compact.
            Exception: The compaction failed.
        """
        if self._state.overflow_spent:
            raise _overflow(why, self._report, "compacting it did not help") from error
        done = await self._compact("overflow", error)
        if not done:
            raise _overflow(why, self._report, "there is nothing to compact") from error
        self._state.overflow_spent = True

    async def _compact(self, reason: Reason, cause: Exception | None = None) -> bool:
        """Compact. Where another client's compaction is running, wait for it first.

        Returns:
            Whether the view may have changed.
        """
        wait, waited = _FIRST_WAIT, False
        result: CompactionResult | None = None
        while result is None:
            try:
                result = await self._compact_once(reason)
            except CompactionRunningError:
                waited = True
                async with self._state.changed:
                    await wait_for(self._state.changed, lambda: self.aborted, wait)
                wait = min(wait * _WAIT_FACTOR, _LONGEST_WAIT)
                self._check()
            except Exception as failure:
                self._check()
                if cause is None or failure is self._event_error:
                    raise
                raise failure from cause
        if result.completed is not None:
            self._compactions.append(result)
        # Where this turn waited for another client's compaction, that one has changed the view.
        return waited or result.completed is not None

    async def _compact_once(self, reason: Reason) -> CompactionResult:
        self._check()
        write = self._summarize_with
        if write is not None:

            async def compact_with() -> CompactionResult:
                return await self._session.compact_with(write, reason=reason, abort_running=False)

            [result] = await self._work.all([compact_with])
        else:
            result = await self._compact_here(reason)
            await self._state.compacted(self._session, result)
        self._report = result.report or self._report
        return result

    async def _compact_here(self, reason: Reason) -> CompactionResult:
        """Compact with the daemon's summarizer, and pass the events on."""
        compaction = self._session.compaction_events(
            reason=reason, will_retry=reason == "overflow", abort_running=False
        )
        self._compaction = compaction
        try:
            async with compaction:
                while (event := await compaction.next_event()) is not None:
                    self._check()
                    await self._report_event(event)
        finally:
            self._compaction = None
        return compaction.result

    async def _report_event(self, event: v1.CompactionEvent) -> None:
        if self._on_event is None:
            return
        try:
            await resolve(self._on_event(event))
        except BaseException as error:
            self._event_error = error
            raise


def _overflow(why: str, report: v1.ContextReport | None, tried: str) -> ContextOverflowError:
    figures = f"; the context has {report.tokens} tokens" if report is not None else ""
    return ContextOverflowError(
        f"the conversation is too long for the model, and {tried}{figures}: {why}",
        why=why,
        tokens=report.tokens if report is not None else None,
        context_window=report.context_window or None if report is not None else None,
    )
