# Generated from src/compactord/_async/turn/compactions.py by scripts/unasync.py. Do not edit.
"""The compactions of a turn: where one is due, and after an overflow."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from compactord import v1
from compactord._sync.compaction.compacting import SessionCompactions
from compactord._sync.compaction.compaction import Compaction
from compactord._sync.turn.run import TurnRun
from compactord._sync.turn.runtime import wait_for
from compactord._sync.turn.state import TurnState
from compactord._sync.wire.calls import Calls
from compactord._sync.wire.runtime import Result, resolve
from compactord.errors import CompactionRunningError, ContextOverflowError
from compactord.prompts import Prompt, PromptAnswer
from compactord.results import CompactionResult
from compactord.words import Reason, Thinking

WriteSummary: TypeAlias = Callable[[Prompt], str | PromptAnswer]
"""Has the agent's own model write a summary."""
OnEvent: TypeAlias = Callable[[v1.CompactionEvent], Result[object]]
"""Is told each event of a turn's compactions."""

# How long to wait for another client's compaction before looking again, in seconds.
_FIRST_WAIT, _LONGEST_WAIT, _LONGER = 0.1, 2.0, 1.6


class TurnCompactions(TurnRun):
    """The part of a turn that compacts."""

    def __init__(
        self,
        session: SessionCompactions,
        calls: Calls,
        state: TurnState,
        *,
        thinking: Thinking | None,
        mark_cache_breakpoints: bool,
        on_event: OnEvent | None,
        summarize_with: WriteSummary | None,
    ) -> None:
        super().__init__(session, calls, state, thinking=thinking, mark_cache_breakpoints=mark_cache_breakpoints)
        self._on_event = on_event
        self._summarize_with = summarize_with
        self._compaction: Compaction | None = None
        self._threshold_failed = False
        self._compactions: list[CompactionResult | Exception] = []
        # What the caller's on_event raised.
        self._broken: BaseException | None = None

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


def _overflow(why: str, report: v1.ContextReport | None, tried: str) -> ContextOverflowError:
    figures = f"; the context has {report.tokens} tokens" if report is not None else ""
    return ContextOverflowError(
        f"the conversation is too long for the model, and {tried}{figures}: {why}",
        why=why,
        tokens=report.tokens if report is not None else None,
        context_window=report.context_window or None if report is not None else None,
    )
