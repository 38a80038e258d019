"""Making a session's context smaller."""

from __future__ import annotations

from collections.abc import Callable

from compactord import v1, words
from compactord._async.compaction import AsyncCompaction
from compactord._async.runtime import Result, resolve
from compactord._async.turns import AsyncTurns
from compactord.connection import new_request_id
from compactord.errors import OperationNotFoundError
from compactord.results import CompactionResult


class AsyncCompacting(AsyncTurns):
    """The part of a session that compacts and prunes it."""

    async def compact(
        self,
        *,
        reason: words.Reason = "manual",
        focus: str = "",
        on_event: Callable[[v1.CompactionEvent], Result[object]] | None = None,
        replay: bool | None = None,
        preempt: bool = False,
        detach: bool = False,
        dry_run: bool = False,
        policy: words.Policy | None = None,
        will_retry: bool = False,
        abort_running: bool = True,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> CompactionResult:
        """Summarize the older part of the conversation.

        Interrupting the call (Ctrl-C, cancelling its task) cancels the compaction, unless it is detached.

        Args:
            reason: ``"manual"``, ``"threshold"`` (when a report says ``should_compact``; it checks again) or
                ``"overflow"`` (when the provider refused the context).
            focus: What the summary is to attend to.
            on_event: Called with each event, in order. What it raises cancels the compaction.
            replay: With ``"overflow"``: whether the last user message is shown again after the summary. Default: the
                policy's.
            preempt: Whether a compaction that runs is cancelled first.
            detach: Whether the compaction outlives this call.
            dry_run: Whether only the plan is made: ``planned`` of the result.
            policy: Overrides the session's policy for this compaction.
            will_retry: Echoed in every event: whether the turn is to be tried again.
            abort_running: Whether a turn of this session object that runs is aborted first.
            request_id: Makes the call safe to make again. Default: a new one.
            timeout: Seconds that it may take. Default: the client's for compactions.

        Returns:
            How it ended; true where something was done.

        Raises:
            CompactionRunningError: Another compaction of the session runs.
            TargetUnreachableError: No compaction can help.
            BreakerOpenError: Three automatic ones in a row did not help.
            OperationCancelledError: It was cancelled.
            CompactordError: It failed; the class is that of the reason.
        """
        aborted = not dry_run and await self._before_compaction(abort_running)
        try:
            compaction = self.compaction_events(
                reason=reason,
                focus=focus,
                replay=replay,
                preempt=preempt or aborted,
                detach=detach,
                dry_run=dry_run,
                policy=policy,
                will_retry=will_retry,
                abort_running=False,
                request_id=request_id,
                timeout=timeout,
            )
            async with compaction:
                while (event := await compaction.next_event()) is not None:
                    if on_event is not None:
                        await resolve(on_event(event))
            result = compaction.result
        except BaseException:
            if not dry_run:
                await self._after_compaction(None)
            raise
        if not dry_run:
            await self._after_compaction(result)
        return result

    def compaction_events(
        self,
        *,
        reason: words.Reason = "manual",
        focus: str = "",
        replay: bool | None = None,
        preempt: bool = False,
        detach: bool = False,
        dry_run: bool = False,
        policy: words.Policy | None = None,
        will_retry: bool = False,
        abort_running: bool = True,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> AsyncCompaction:
        """Summarize the older part of the conversation, event by event. Leaving the loop cancels it.

        The arguments are those of :meth:`compact`. A turn that runs is aborted when the first event is asked for.
        """
        request = v1.CompactRequest(
            session_id=self._id,
            reason=words.reason(reason),
            focus=focus,
            policy=words.policy(policy),
            preempt=preempt,
            detach=detach,
            dry_run=dry_run,
            replay=replay,
            will_retry=will_retry,
            request_id=request_id or new_request_id(),
        )
        turns = self._turns if abort_running and not dry_run else None
        return AsyncCompaction(self._calls, request, timeout, self._left, turns)

    async def cancel_compaction(
        self, operation_id: str = "", *, timeout: float | None = None
    ) -> v1.CancelCompactionResponse | None:
        """End the compaction of the session that runs, whoever asked for it, and wait for its end.

        Args:
            operation_id: Only the one with this id. Default: the one that runs.
            timeout: Seconds that it may take. Default: the client's.

        Returns:
            How it ended; None where none ran.
        """
        request = v1.CancelCompactionRequest(session_id=self._id, operation_id=operation_id)
        try:
            return await self._calls.unary(self._calls.compactions.CancelCompaction, request, timeout)
        except OperationNotFoundError:
            return None

    async def prune(
        self,
        *,
        reason: words.Reason = "manual",
        dry_run: bool = False,
        policy: words.Policy | None = None,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> v1.PruneResponse:
        """Make the edits of the policy's ``prune_strategy``, such as hiding old tool results. No summary is written.

        Args:
            reason: As for :meth:`compact`.
            dry_run: Whether only the edits are answered that would be made.
            policy: Overrides the session's policy for this call.
            request_id: Makes the call safe to make again. Default: a new one.
            timeout: Seconds that it may take. Default: the client's.

        Returns:
            The edits in ``prune``, or in ``skip_reason`` and ``message`` why there are none; and the ``report``.
        """
        request = v1.PruneRequest(
            session_id=self._id,
            reason=words.reason(reason),
            policy=words.policy(policy),
            dry_run=dry_run,
            request_id=request_id or new_request_id(),
        )
        return await self._calls.unary(self._calls.compactions.Prune, request, timeout)
