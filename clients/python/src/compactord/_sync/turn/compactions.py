# Generated from src/compactord/_async/turn/compactions.py by scripts/unasync.py. Do not edit.
"""The compactions of a turn: at the trigger and after an overflow."""

from __future__ import annotations

from compactord import provider_errors, v1
from compactord._sync.compaction.compaction import Compaction
from compactord._sync.session.limits import warned_of_limit
from compactord._sync.turn.run import TurnRun
from compactord._sync.turn.runtime import wait_for
from compactord._sync.wire.runtime import resolve
from compactord.errors import CompactordError, ContextOverflowError
from compactord.results import CompactionResult
from compactord.words import Reason

# While another client's compaction is running: the first and the longest wait between attempts in seconds, and the
# factor from one wait to the next.
_FIRST_WAIT, _LONGEST_WAIT, _WAIT_FACTOR = 0.1, 2.0, 1.6


class TurnCompactions:
    """The part of a turn that compacts."""

    def __init__(self, run: TurnRun) -> None:
        """Start without a compaction."""
        self._run = run
        self._compaction: Compaction | None = None
        self._threshold_failed = False
        # The exception of the caller's on_event.
        self._event_error: BaseException | None = None

    def cancel(self) -> bool:
        """Cancel the running compaction, from another task or thread.

        Returns:
            Whether one was running.
        """
        compaction = self._compaction
        if compaction is not None:
            compaction.cancel()
        return compaction is not None

    def if_due(self) -> None:
        """Compact where the report says so. A failure does not end the turn; the turn does not try again."""
        self._run.report = self._run.report or (self._run.view()).report
        if not self._run.report.should_compact or self._threshold_failed:
            return
        try:
            self._compact("threshold")
        except Exception as failure:
            self._run.check()
            if failure is self._event_error:
                raise
            self._threshold_failed = True
            self._run.compactions.append(failure)

    def overflow_of(self, error: Exception) -> str | None:
        """Ask the daemon whether an exception of the provider's package is an overflow.

        Returns:
            The rule that found it; None where it is no overflow, or the daemon cannot be reached.
        """
        request = v1.ClassifyErrorRequest(
            error_text=provider_errors.text(error),
            http_status=provider_errors.http_status(error),
            session_id=self._run.session.id,
        )
        try:
            verdict = self._run.calls.unary(self._run.calls.compactions.ClassifyError, request)
        except CompactordError:
            # The caller must see the provider's error. The next call reports that the daemon cannot be reached.
            return None
        if not verdict.overflow:
            return None
        if verdict.HasField("limit_tokens"):
            self._run.limit_tokens = verdict.limit_tokens
            self._run.contradiction = warned_of_limit(self._run.calls, self._run.session.id, verdict)
        return verdict.why

    def after_overflow(self, error: Exception | None, why: str) -> None:
        """Compact after an overflow, unless the last overflow was already compacted.

        Raises:
            ContextOverflowError: It was already compacted, or there is nothing to compact.
            Exception: The compaction failed.
        """
        if self._run.state.overflow_spent:
            raise self._overflow(why, "compacting it did not help") from error
        done = self._compact("overflow", error)
        if not done:
            raise self._overflow(why, "there is nothing to compact") from error
        self._run.state.overflow_spent = True

    def _compact(self, reason: Reason, cause: Exception | None = None) -> bool:
        """Compact. Where another client's compaction is running, wait for it first.

        Returns:
            Whether the view may have changed.
        """
        wait, waited = _FIRST_WAIT, False
        result: CompactionResult | None = None
        while result is None:
            try:
                result = self._compact_once(reason)
            except Exception as failure:
                if isinstance(failure, CompactordError) and failure.reason == "COMPACTION_RUNNING":
                    waited = True
                    with self._run.state.changed:
                        wait_for(self._run.state.changed, lambda: self._run.aborted, wait)
                    wait = min(wait * _WAIT_FACTOR, _LONGEST_WAIT)
                    self._run.check()
                    continue
                self._run.check()
                if cause is None or failure is self._event_error:
                    raise
                raise failure from cause
        if result.completed is not None:
            self._run.compactions.append(result)
        # Where this turn waited for another client's compaction, that one has changed the view.
        return waited or result.completed is not None

    def _compact_once(self, reason: Reason) -> CompactionResult:
        self._run.check()
        write = self._run.options.summarize_with
        if write is not None:

            def compact_with() -> CompactionResult:
                return self._run.session.compact_with(write, reason=reason, abort_running=False)

            [result] = self._run.work.all([compact_with])
        else:
            result = self._compact_here(reason)
            self._run.state.compacted(self._run.session, result)
        self._run.report = result.report or self._run.report
        return result

    def _compact_here(self, reason: Reason) -> CompactionResult:
        """Compact with the daemon's summarizer, and pass the events on."""
        compaction = self._run.session.compacting(reason=reason, will_retry=reason == "overflow", abort_running=False)
        self._compaction = compaction
        try:
            with compaction:
                for event in compaction:
                    self._run.check()
                    self._report_event(event)
        finally:
            self._compaction = None
        return compaction.result

    def _report_event(self, event: v1.CompactionEvent) -> None:
        on_event = self._run.options.on_event
        if on_event is None:
            return
        try:
            resolve(on_event(event))
        except BaseException as error:
            self._event_error = error
            raise

    def _overflow(self, why: str, tried: str) -> ContextOverflowError:
        report, limit = self._run.report, self._run.limit_tokens
        figures = f"; the context has {report.tokens} tokens" if report is not None else ""
        return ContextOverflowError(
            f"the conversation is too long for the model, and {tried}{figures}: {why}",
            why=why,
            tokens=report.tokens if report is not None else None,
            context_window=report.context_window or None if report is not None else None,
            limit_tokens=limit,
        )
