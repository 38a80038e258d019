"""Making a session's context smaller."""

from __future__ import annotations

from collections.abc import Callable

from compactord import v1, words
from compactord._async.compaction.client_model import AsyncClientModel
from compactord._async.compaction.compaction import AsyncCompaction
from compactord._async.wire.calls import AsyncCalls
from compactord._async.wire.runtime import Result, resolve
from compactord.connection import new_request_id
from compactord.errors import OperationNotFoundError
from compactord.prompts import Prompt, PromptAnswer
from compactord.results import CompactionResult


class AsyncSessionCompactions(AsyncClientModel):
    """The part of a session that compacts and prunes it. A layer above says which turns it makes way for."""

    def __init__(self, calls: AsyncCalls, session_id: str, dialect: v1.Dialect.ValueType) -> None:
        super().__init__(calls, session_id, dialect)
        # Operation ids of compactions that were left: the daemon may take a moment to end them.
        self._left: set[str] = set()

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
        aborted = not dry_run and await self._make_way(abort_running)
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
                await self._release_turns(None)
            raise
        if not dry_run:
            await self._release_turns(result)
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
        abort_turn = self._abort_running if abort_running and not dry_run else None
        return AsyncCompaction(self._calls, request, timeout, self._left, abort_turn)

    async def compact_with(
        self,
        write: Callable[[Prompt], Result[str | PromptAnswer]],
        *,
        reason: words.Reason = "manual",
        focus: str = "",
        replay: bool | None = None,
        policy: words.Policy | None = None,
        client_plan: v1.ClientPlan | None = None,
        max_prompt_tokens: int | None = None,
        abort_running: bool = True,
        timeout: float | None = None,
    ) -> CompactionResult:
        """Compact with a summary by the client's own model: plan, ask it, commit.

        What the daemon's checks refuse is asked for again with what is wrong in ``complaint``. The third time the
        policy's fallback writes what does not pass.

        Args:
            write: Asks the model. What it raises ends the compaction; nothing is written then.
            reason: As for ``compact``.
            focus: What the summary is to attend to.
            replay: As for ``compact``.
            policy: Overrides the session's policy for this compaction.
            client_plan: A plan of the client's own, in place of that of the policy's strategy.
            max_prompt_tokens: The most tokens that a prompt may have: the window of the model less what it writes. A
                longer conversation comes in several prompts.
            abort_running: Whether a turn of this session object that runs is aborted first.
            timeout: Seconds that each call of the daemon may take. Default: the client's.

        Returns:
            How it ended; true where something was done.

        Raises:
            SummaryRejectedError: Nothing passed, and the policy wants no fallback.
            StateChangedError: The session was reverted or compacted meanwhile.
        """
        await self._make_way(abort_running)
        try:
            plan = await self.plan_compaction(
                reason=reason,
                focus=focus,
                replay=replay,
                policy=policy,
                client_plan=client_plan,
                max_prompt_tokens=max_prompt_tokens,
                timeout=timeout,
            )
            if plan.plan_token:
                result = await self._committed(plan, write, client_plan, timeout)
            else:
                skipped = v1.CompactionSkipped(reason=plan.plan.skip_reason, message=plan.message, report=plan.report)
                result = CompactionResult(skipped=skipped)
        except BaseException:
            await self._release_turns(None)
            raise
        await self._release_turns(result)
        return result

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

    async def _make_way(self, abort_running: bool) -> bool:
        """Hold up turns that begin, before a compaction of this session object, and abort the one that runs.

        Returns:
            Whether a compaction of that one was cancelled, which may take the daemon a moment.
        """
        await self._hold_turns()
        try:
            return abort_running and await self._abort_running()
        except BaseException:
            await self._release_turns(None)
            raise

    async def _hold_turns(self) -> None:
        """Have turns that begin wait. A layer above overrides it."""

    async def _abort_running(self) -> bool:
        """Abort the turn that runs; say whether a compaction of it was cancelled. A layer above overrides it."""
        return False

    async def _release_turns(self, result: CompactionResult | None) -> None:
        """Let turns go on after a compaction, which with None has failed. A layer above overrides it."""
