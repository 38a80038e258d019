# Generated from src/compactord/_async/compaction/compacting.py by scripts/unasync.py. Do not edit.
"""Compacting and pruning a session."""

from __future__ import annotations

from collections.abc import Callable

from compactord import v1, words
from compactord._sync.compaction.client_model import ClientModel
from compactord._sync.compaction.compaction import Compaction
from compactord._sync.wire.runtime import Result
from compactord.arguments import checked_arguments
from compactord.awaitables import require_callable
from compactord.connection import new_request_id
from compactord.errors import NotFoundError
from compactord.prompts import Prompt, PromptAnswer
from compactord.results import CompactionResult


@checked_arguments
class SessionCompactions(ClientModel):
    """The part of a session that compacts and prunes it. A subclass aborts the turns that are in the way."""

    def compact(
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
        fold: v1.FoldRange | None = None,
        abort_running: bool = True,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> CompactionResult:
        """Summarize the older part of the conversation.

        To follow it, iterate over :meth:`compacting` instead. Interrupting the call (Ctrl-C, cancelling its task)
        cancels the compaction and waits until the daemon has ended it, unless ``detach`` is set.

        Args:
            reason: ``"manual"``, ``"threshold"`` (a report has ``should_compact``; the daemon checks it again) or
                ``"overflow"`` (the provider refused the context).
            focus: What the summary must pay attention to.
            replay: With ``"overflow"``: whether views show the user's last message again after the summary that
                covers it. Default: the policy's setting.
            preempt: Whether to cancel a running compaction first.
            detach: Whether the compaction continues when this call ends.
            dry_run: Whether to make only the plan, which is ``planned`` of the result.
            policy: A policy for this compaction, in place of the session's.
            will_retry: Whether the caller will repeat the turn. Every event contains it.
            fold: The messages to fold into one text where they stand, in place of what the policy's strategy would do.
                :meth:`fold` makes it.
            abort_running: Whether to abort the running turn of this session object first.
            request_id: Makes the call safe to repeat. Default: a new one.
            timeout: The timeout in seconds. Default: the client's for compactions.

        Returns:
            The result; true where something was committed.

        Raises:
            CompactordError: ``COMPACTION_RUNNING``: Another compaction of the session is running.
            CompactordError: ``TARGET_UNREACHABLE``: No compaction can help.
            CompactordError: ``BREAKER_OPEN``: Three automatic compactions in a row did not help.
            CompactordError: ``CANCELLED``: The compaction was cancelled.
            CompactordError: The compaction failed. The class depends on the reason.
        """
        aborted = not dry_run and self._suspend_turns(abort_running)
        try:
            compaction = self.compacting(
                reason=reason,
                focus=focus,
                replay=replay,
                preempt=preempt or aborted,
                detach=detach,
                dry_run=dry_run,
                policy=policy,
                will_retry=will_retry,
                fold=fold,
                abort_running=False,
                request_id=request_id,
                timeout=timeout,
            )
            with compaction:
                for _ in compaction:
                    pass
            result = compaction.result
        except BaseException:
            if not dry_run:
                self._release_turns(None)
            raise
        if not dry_run:
            self._release_turns(result)
        return result

    def compacting(
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
        fold: v1.FoldRange | None = None,
        abort_running: bool = True,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> Compaction:
        """Summarize the older part of the conversation, event by event. Leaving the loop cancels the compaction.

        The arguments are those of :meth:`compact`. A running turn is aborted when the first event is requested. After
        the last event, ``result`` of the compaction is what :meth:`compact` returns::

            compaction = session.compacting()
            for event in compaction:
                show(event)
            print(compaction.result.reason)
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
            fold=fold,
            request_id=request_id or new_request_id(),
        )
        abort_turn = self._abort_running if abort_running and not dry_run else None
        return Compaction(self._calls, request, timeout, self._calls.left(self._id), abort_turn)

    def compact_with(
        self,
        write: Callable[[Prompt], Result[str | PromptAnswer]],
        *,
        reason: words.Reason = "manual",
        focus: str = "",
        replay: bool | None = None,
        policy: words.Policy | None = None,
        client_plan: v1.ClientPlan | None = None,
        max_prompt_tokens: int | None = None,
        fold: v1.FoldRange | None = None,
        abort_running: bool = True,
        timeout: float | None = None,
    ) -> CompactionResult:
        """Compact with a summary by the client's own model: plan, call the model, commit.

        Where an answer fails the daemon's checks, the model is called again with ``complaint``. Where the third answer
        fails too, the policy's fallback writes the summary.

        Args:
            write: Calls the model with a prompt. An exception that it raises ends the compaction without a commit.
            reason: As for :meth:`compact`.
            focus: What the summary must pay attention to.
            replay: As for :meth:`compact`.
            policy: A policy for this compaction, in place of the session's.
            client_plan: The client's own plan, in place of the plan of the policy's strategy.
            max_prompt_tokens: The most tokens that a prompt may have: the model's context window less its answer. A
                longer conversation is summarized in several prompts.
            fold: As for :meth:`compact`: the model writes the text of the fold.
            abort_running: Whether to abort the running turn of this session object first.
            timeout: The timeout of each call in seconds. Default: the client's.

        Returns:
            The result; true where something was committed.

        Raises:
            CompactordError: ``SUMMARY_REJECTED``: No answer passed the checks, and the policy has no fallback.
            ConflictError: ``STATE_CHANGED``: The session was reverted or compacted in the meantime.
        """
        require_callable(write=write)
        self._suspend_turns(abort_running)
        try:
            plan = self.plan_compaction(
                reason=reason,
                focus=focus,
                replay=replay,
                policy=policy,
                client_plan=client_plan,
                max_prompt_tokens=max_prompt_tokens,
                fold=fold,
                timeout=timeout,
            )
            if plan.plan_token:
                result = self._committed(plan, write, client_plan, timeout)
            else:
                skipped = v1.CompactionSkipped(reason=plan.plan.skip_reason, message=plan.message, report=plan.report)
                result = CompactionResult(skipped=skipped)
        except BaseException:
            self._release_turns(None)
            raise
        self._release_turns(result)
        return result

    def cancel_compaction(
        self, operation_id: str = "", *, timeout: float | None = None
    ) -> v1.CancelCompactionResponse | None:
        """Cancel the running compaction of the session, whichever client started it, and wait for its end.

        Args:
            operation_id: Cancel only the compaction with this operation id. Default: any.
            timeout: The timeout in seconds. Default: the client's.

        Returns:
            How the compaction ended; None where none was running.
        """
        request = v1.CancelCompactionRequest(session_id=self._id, operation_id=operation_id)
        try:
            return self._calls.unary(self._calls.compactions.CancelCompaction, request, timeout)
        except NotFoundError as error:
            if error.reason != "OPERATION_NOT_FOUND":
                raise
            return None

    def prune(
        self,
        *,
        reason: words.Reason = "manual",
        dry_run: bool = False,
        policy: words.Policy | None = None,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> v1.PruneResponse:
        """Make the edits of the policy's ``prune_strategy``, such as hiding old tool results, without a summarizer.

        Args:
            reason: As for :meth:`compact`.
            dry_run: Whether to return the edits without making them.
            policy: A policy for this call, in place of the session's.
            request_id: Makes the call safe to repeat. Default: a new one.
            timeout: The timeout in seconds. Default: the client's.

        Returns:
            The response: ``prune`` has the edits, or ``skip_reason`` and ``message`` say why there are none.
        """
        request = v1.PruneRequest(
            session_id=self._id,
            reason=words.reason(reason),
            policy=words.policy(policy),
            dry_run=dry_run,
            request_id=request_id or new_request_id(),
        )
        return self._calls.unary(self._calls.compactions.Prune, request, timeout)

    def _suspend_turns(self, abort_running: bool) -> bool:
        """Let new turns wait for a compaction of this session object, and abort the running turn.

        Returns:
            Whether a compaction of the turn was cancelled, which may take the daemon a moment.
        """
        self._hold_turns()
        try:
            return abort_running and self._abort_running()
        except BaseException:
            self._release_turns(None)
            raise

    def _hold_turns(self) -> None:
        """Let new turns wait. A subclass overrides it."""

    def _abort_running(self) -> bool:
        """Abort the running turn and return whether a compaction of it was cancelled. A subclass overrides it."""
        return False

    def _release_turns(self, result: CompactionResult | None) -> None:
        """Let turns continue after a compaction; None means that it failed. A subclass overrides it."""
