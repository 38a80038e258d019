# Generated from src/compactord/_async/compaction/client_model.py by scripts/unasync.py. Do not edit.
"""Compactions with summaries by the client's own model."""

from __future__ import annotations

from collections.abc import Callable

from compactord import v1, words
from compactord._sync.session.log import SessionLog
from compactord._sync.view import SessionView
from compactord._sync.wire.runtime import Result, resolve
from compactord.arguments import checked_arguments
from compactord.connection import new_request_id
from compactord.errors import CompactordError
from compactord.prompts import Prompt, PromptAnswer, add_answer, prompt_answer, prompt_of
from compactord.results import CompactionResult
from compactord.warned import fallback, warn

_TRIES = 3


@checked_arguments
class ClientModel(SessionLog):
    """The part of a session that plans and commits compactions for the client's own model."""

    def plan_compaction(
        self,
        *,
        reason: words.Reason = "manual",
        focus: str = "",
        replay: bool | None = None,
        policy: words.Policy | None = None,
        client_plan: v1.ClientPlan | None = None,
        max_prompt_tokens: int | None = None,
        fold: v1.FoldRange | None = None,
        timeout: float | None = None,
    ) -> v1.PlanCompactionResponse:
        """Plan a compaction and get all prompts for it. The arguments are those of :meth:`compact_with`.

        Returns:
            The plan. Where its ``plan_token`` is empty, there is nothing to do, and ``message`` says why.
        """
        request = v1.PlanCompactionRequest(
            session_id=self._id,
            reason=words.reason(reason),
            focus=focus,
            policy=words.policy(policy),
            replay=replay,
            client_plan=client_plan,
            max_prompt_tokens=max_prompt_tokens,
            fold=fold,
        )
        plan = self._calls.unary(self._calls.compactions.PlanCompaction, request, timeout)
        page = plan
        while page.has_more:
            request.from_prompt = len(plan.prompts)
            page = self._calls.unary(self._calls.compactions.PlanCompaction, request, timeout)
            plan.prompts.extend(page.prompts)
        plan.has_more = False
        return plan

    def commit_compaction(
        self, commit: v1.CommitCompactionRequest, *, timeout: float | None = None
    ) -> CompactionResult:
        """Commit a plan of :meth:`plan_compaction`.

        Args:
            commit: The answers and the plan's token. The session's id is filled in, and a request id where it is empty.
            timeout: The timeout in seconds. Default: the client's for compactions.

        Raises:
            CompactordError: ``SUMMARY_REJECTED``: An answer did not pass the checks. The end of the text is a sentence
                for the model that wrote it.
            ConflictError: ``STATE_CHANGED``: The session was reverted or compacted since the plan: plan again.
        """
        request = v1.CommitCompactionRequest()
        request.CopyFrom(commit)
        request.session_id = self._id
        request.request_id = commit.request_id or new_request_id()
        answer = self._calls.unary(self._calls.compactions.CommitCompaction, request, timeout)
        if answer.HasField("completed"):
            result = CompactionResult(completed=answer.completed)
            warn(fallback(result.fallback_cause))
            return result
        return CompactionResult(skipped=answer.skipped)

    def _committed(
        self,
        plan: v1.PlanCompactionResponse,
        write: Callable[[Prompt], Result[str | PromptAnswer]],
        client_plan: v1.ClientPlan | None,
        timeout: float | None,
    ) -> CompactionResult:
        """Let the model answer the prompts of the plan, and commit. Answers that fail the checks are written again."""
        view = self._neutral_prefix(plan, timeout)
        complaint = ""
        tries = 0
        while True:
            tries += 1
            commit = v1.CommitCompactionRequest(
                plan_token=plan.plan_token, client_plan=client_plan, use_fallback=tries == _TRIES
            )
            text = ""
            for asked in plan.prompts:
                written = prompt_answer(resolve(write(prompt_of(asked, text, complaint, view))))
                text = written.text
                add_answer(commit, asked, written)
            try:
                return self.commit_compaction(commit, timeout=timeout)
            except CompactordError as error:
                # The end of the text is a sentence for the model.
                complaint = error.message.partition("passed the checks: ")[2]
                if error.reason != "SUMMARY_REJECTED" or tries == _TRIES or not complaint:
                    raise

    def _neutral_prefix(
        self, plan: v1.PlanCompactionResponse, timeout: float | None
    ) -> tuple[v1.ViewMessage, ...]:
        if not any(asked.HasField("view_messages") for asked in plan.prompts):
            return ()
        neutral = SessionView(self._calls, self._id, v1.Dialect.DIALECT_UNSPECIFIED)
        view = neutral.view(timeout=timeout)
        return tuple(view.messages)
