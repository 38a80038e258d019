"""The steps of a turn: an answer of the model, the calls in it, and the results that tools give."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Protocol, TypeAlias

from compactord import v1, words
from compactord._async.compaction.compacting import AsyncSessionCompactions
from compactord._async.turn.compactions import AsyncTurnCompactions, OnEvent, WriteSummary
from compactord._async.turn.run import FAILED
from compactord._async.turn.state import AsyncTurnState, Step, Write
from compactord._async.wire.calls import AsyncCalls
from compactord._async.wire.runtime import Result, resolve
from compactord.errors import (
    CheckpointNotFoundError,
    CheckpointPutAsideError,
    InvalidRequestError,
    ToolCallsOpenError,
)
from compactord.tool_results import result_message
from compactord.tools import Mail, ToolCall, ToolOutput, ToolRejected, calls_of
from compactord.turns import Turn
from compactord.words import Thinking

RunTool: TypeAlias = Callable[[ToolCall], Result[str | ToolOutput | v1.Message | Mapping[str, Any] | list[Any] | None]]
"""Answers a call.

With a text, a :class:`ToolOutput`, a TOOL message, or a message in the session's dialect: a dict with a ``role`` or a
``type``. Any other dict and a list is data, whose JSON is the result; None is an empty result.
"""


class AsyncTools(Protocol):
    """The tools that are asked first, as a turn uses them. ``AsyncAgentTools`` are such.

    Attributes:
        dmail: Whether the model can send itself back to a checkpoint.
    """

    dmail: bool

    async def handle(self, call: ToolCall) -> ToolOutput | None:
        """Answer a call; None where it is none of these tools."""
        ...

    def take_mail(self) -> Mail | None:
        """Take the message that waits to be delivered; None where there is none."""
        ...

    def discard_mail(self) -> None:
        """Drop the message that waits to be delivered."""
        ...


class AsyncTurnSteps(AsyncTurnCompactions):
    """The part of a turn that deals with what the model answered."""

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
        run_tool: RunTool | None,
        tools: AsyncTools | None,
    ) -> None:
        super().__init__(
            session,
            calls,
            state,
            thinking=thinking,
            mark_cache_breakpoints=mark_cache_breakpoints,
            on_event=on_event,
            summarize_with=summarize_with,
        )
        self._run_tool = run_tool
        self._tools = tools

    async def _finish(self, step: Step) -> Turn | None:
        """Deal with an answer: with its overflow, or its calls.

        Returns:
            What became of the turn; None where the model is to go on.
        """
        if step.answer.overflow:
            self._state.finish(step)
            await self._relieve(None, step.answer.why)
            return None
        if step.calls is None:
            step.calls = await self._asked(step.answer)
            step.results = [None] * len(step.calls)
        if not step.calls:
            self._state.finish(step)
            stopped = step.answer.stop_reason
            return None if stopped == v1.StopReason.STOP_REASON_PAUSE else self._turn(done=stopped not in FAILED)
        if step.writes is None:
            await self._work.all([partial(self._answer_call, step, call) for call in enumerate(step.calls)])
            if self._state.step is not step:
                # A tool has taken the conversation back to before its call.
                return None
            answered = [result for result in step.results if result is not None]
            groups = groupby(answered, key=lambda result: isinstance(result, v1.Message))
            step.writes = [Write(tuple(group)) for _, group in groups]
        while step.writes:
            await self._write_results(step, step.writes[0])
        self._state.finish(step)
        return await self._after(step)

    async def _write_results(self, step: Step, write: Write) -> None:
        """Append results. Where the daemon refuses them, their tools are asked again when the turn is taken up."""
        try:
            await self._write(write)
        except (InvalidRequestError, ToolCallsOpenError) as refused:
            calls = step.calls or []
            bad = [place for place, result in enumerate(step.results) if any(result is one for one in write.messages)]
            for place in bad:
                step.results[place] = None
            step.writes = None
            answered = ", ".join(f"{calls[place].id} of {calls[place].name}" for place in bad)
            refused.message = f"what run_tool answered to call {answered} is refused: {refused.message}"
            raise

    async def _after(self, step: Step) -> Turn | None:
        """Decide how it goes on once the results of a step are appended."""
        unanswered = [call for call, result in zip(step.calls or (), step.results, strict=True) if result is None]
        rejected = step.rejected and not step.feedback
        if step.rejected and self._tools is not None:
            self._tools.discard_mail()
        if unanswered or rejected:
            return self._turn(done=False, tool_calls=unanswered, rejected=rejected)
        if step.rejected:
            return None
        await self._deliver()
        return None

    async def _answer_call(self, step: Step, placed: tuple[int, ToolCall]) -> None:
        """Have one call answered, unless it was before the turn was taken up again."""
        place, call = placed
        if step.results[place] is not None:
            return
        output: object = None
        try:
            if self._tools is not None:
                output = await self._tools.handle(call)
            if output is None:
                if self._run_tool is None:
                    return
                output = await resolve(self._run_tool(call))
        except ToolRejected as rejection:
            step.rejected = True
            step.feedback = step.feedback and bool(rejection.feedback)
            output = rejection.output()
        except Exception as error:
            output = ToolOutput(str(error) or type(error).__name__, is_error=True)
        step.results[place] = result_message(call, output, words.dialect(self._session.dialect))

    async def _deliver(self) -> None:
        """Send a D-Mail that waits."""
        mail = self._tools.take_mail() if self._tools is not None else None
        if mail is None:
            return
        async with self._gate:
            self._check()
            # Another client may have gone back to before the checkpoint: the model reads that nothing was delivered.
            with contextlib.suppress(CheckpointPutAsideError, CheckpointNotFoundError):
                reverted = await self._session.revert(
                    to_checkpoint=mail.checkpoint_id, message_from_future=mail.message
                )
                self._report = reverted.report

    async def _asked(self, answer: v1.ModelAnswer) -> list[ToolCall]:
        # The log closes the calls of an answer that failed.
        return [] if answer.stop_reason in FAILED else calls_of(answer.index, await self._parts(answer))

    async def _parts(self, answer: v1.ModelAnswer) -> Iterable[v1.Part]:
        if not answer.parts_left_out:
            return answer.parts
        async for message in self._session.messages(from_index=answer.index):
            return message.message.parts
        return answer.parts

    def _turn(self, *, done: bool, tool_calls: Sequence[ToolCall] = (), rejected: bool = False) -> Turn:
        return Turn(
            done=done,
            answer=self._answer,
            report=self._report,
            steps=self._steps,
            tool_calls=tuple(tool_calls),
            rejected=rejected,
            compactions=tuple(self._compactions),
        )
