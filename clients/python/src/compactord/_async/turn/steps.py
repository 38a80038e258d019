"""The steps of a turn: an answer of the model, its tool calls, and their results."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import groupby

from compactord import v1, words
from compactord._async.turn.compactions import AsyncTurnCompactions
from compactord._async.turn.run import FAILED, AsyncTurnRun
from compactord._async.turn.state import ANSWERED, Step
from compactord._async.turn.writes import Write
from compactord._async.wire.runtime import resolve
from compactord.errors import (
    CompactordError,
    InvalidRequestError,
    ToolCallsOpenError,
)
from compactord.tool_results import result_message
from compactord.tools import ToolCall, ToolOutput, ToolRejected, calls_of
from compactord.turns import Turn


class AsyncTurnSteps:
    """The part of a turn that handles an answer of the model."""

    def __init__(self, run: AsyncTurnRun, compactions: AsyncTurnCompactions) -> None:
        """Handle the answers of this turn."""
        self._run = run
        self._compactions = compactions

    async def finish(self, step: Step) -> Turn | None:
        """Handle an answer: its overflow or its tool calls.

        Returns:
            The result of the turn; None where the turn continues.
        """
        if step.answer.overflow:
            self._run.state.finish(step)
            await self._compactions.after_overflow(None, step.answer.why)
            return None
        if step.calls is None:
            step.calls = await self._tool_calls(step.answer)
            step.results = [None] * len(step.calls)
        if not step.calls:
            self._run.state.finish(step)
            stopped = step.answer.stop_reason
            return None if stopped == v1.StopReason.STOP_REASON_PAUSE else self._run.turn(done=stopped not in FAILED)
        if step.writes is None:
            await self._run.work.all([partial(self._answer_call, step, call) for call in enumerate(step.calls)])
            if self._run.state.step is not step:
                # A tool reverted the session to a point before its call.
                return None
            answered = [result for result in step.results if result is not None and result is not ANSWERED]
            if ANSWERED in step.results:
                # The log has grown without this turn.
                self._run.report = None
            groups = groupby(answered, key=lambda result: isinstance(result, v1.Message))
            step.writes = [Write(tuple(group)) for _, group in groups]
        while step.writes:
            await self._write_results(step, step.writes[0])
        self._run.state.finish(step)
        return await self._after(step)

    async def _write_results(self, step: Step, write: Write) -> None:
        """Append results. Where the daemon refuses them, the next turn runs their tools again."""
        try:
            await self._run.write(write)
        except (InvalidRequestError, ToolCallsOpenError) as refused:
            calls = step.calls or []
            bad = [place for place, result in enumerate(step.results) if any(result is one for one in write.messages)]
            for place in bad:
                step.results[place] = None
            step.writes = None
            answered = ", ".join(f"{calls[place].id} of {calls[place].name}" for place in bad)
            refused.message = f"the result of run_tool for call {answered} is refused: {refused.message}"
            raise

    async def _after(self, step: Step) -> Turn | None:
        """End or continue the turn after the results of a step were appended."""
        unanswered = [call for call, result in zip(step.calls or (), step.results, strict=True) if result is None]
        rejected = step.rejected and not step.feedback
        tools = self._run.options.tools
        if step.rejected and tools is not None:
            tools.discard_mail()
        if unanswered or rejected:
            return self._run.turn(done=False, tool_calls=unanswered, rejected=rejected)
        if step.rejected:
            return None
        await self._deliver()
        return None

    async def _answer_call(self, step: Step, placed: tuple[int, ToolCall]) -> None:
        """Run one call, unless it already has a result from an earlier turn."""
        place, call = placed
        if step.results[place] is not None:
            return
        tools, run_tool = self._run.options.tools, self._run.options.run_tool
        output: object = None
        try:
            if tools is not None:
                output = await tools.handle(call)
            if output is None:
                if run_tool is None:
                    return
                output = await resolve(run_tool(call))
        except ToolRejected as rejection:
            step.rejected = True
            step.feedback = step.feedback and bool(rejection.feedback)
            output = rejection.output()
        except Exception as error:
            output = ToolOutput(str(error) or type(error).__name__, is_error=True)
        if call.id in self._run.state.answered:
            self._run.state.answered.discard(call.id)
            step.results[place] = ANSWERED
        else:
            step.results[place] = result_message(call, output, words.dialect(self._run.session.dialect))

    async def _deliver(self) -> None:
        """Deliver the message of ``send_dmail``, if one waits."""
        tools = self._run.options.tools
        mail = tools.take_mail() if tools is not None else None
        if mail is None:
            return
        async with self._run.write_lock:
            self._run.check()
            try:
                reverted = await self._run.session.revert(
                    to_checkpoint=mail.checkpoint_id, message_from_future=mail.message
                )
            except CompactordError as error:
                # A revert of another client may have put the checkpoint aside. Then nothing is delivered.
                if error.reason not in ("CHECKPOINT_NOT_FOUND", "CHECKPOINT_PUT_ASIDE"):
                    raise
            else:
                self._run.report = reverted.report

    async def _tool_calls(self, answer: v1.ModelAnswer) -> list[ToolCall]:
        # Views leave out an answer that failed, with its calls.
        return [] if answer.stop_reason in FAILED else calls_of(answer.index, await self._parts(answer))

    async def _parts(self, answer: v1.ModelAnswer) -> Iterable[v1.Part]:
        if not answer.parts_left_out:
            return answer.parts
        async for message in self._run.session.messages(from_index=answer.index):
            return message.message.parts
        return answer.parts
