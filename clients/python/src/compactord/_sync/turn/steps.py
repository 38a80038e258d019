# Generated from src/compactord/_async/turn/steps.py by scripts/unasync.py. Do not edit.
"""The steps of a turn: an answer of the model, its tool calls, and their results."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Protocol, TypeAlias

from compactord import v1, words
from compactord._sync.compaction.compacting import SessionCompactions
from compactord._sync.turn.compactions import TurnCompactions, OnEvent, WriteSummary
from compactord._sync.turn.run import FAILED
from compactord._sync.turn.state import TurnState, Step, Write
from compactord._sync.wire.calls import Calls
from compactord._sync.wire.runtime import Result, resolve
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
"""Runs a tool call and returns its result.

The result can be a text, a :class:`ToolOutput`, a TOOL message, or a message in the session's dialect: a dict with a
``role`` or a ``type``. Another dict and a list are data, whose JSON is the result. None is an empty result.
"""


class Tools(Protocol):
    """Tools that are asked to run a call before ``run_tool``, such as ``AgentTools``.

    Attributes:
        dmail: Whether the model has ``send_dmail``.
    """

    dmail: bool

    def handle(self, call: ToolCall) -> ToolOutput | None:
        """Run a call and return its result; None where the call is of another tool."""
        ...

    def take_mail(self) -> Mail | None:
        """Return and forget the message that waits to be delivered; None where there is none."""
        ...

    def discard_mail(self) -> None:
        """Forget the message that waits to be delivered."""
        ...


class TurnSteps(TurnCompactions):
    """The part of a turn that handles an answer of the model."""

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
        run_tool: RunTool | None,
        tools: Tools | None,
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

    def _finish(self, step: Step) -> Turn | None:
        """Handle an answer: its overflow or its tool calls.

        Returns:
            The result of the turn; None where the turn continues.
        """
        if step.answer.overflow:
            self._state.finish(step)
            self._compact_after_overflow(None, step.answer.why)
            return None
        if step.calls is None:
            step.calls = self._tool_calls(step.answer)
            step.results = [None] * len(step.calls)
        if not step.calls:
            self._state.finish(step)
            stopped = step.answer.stop_reason
            return None if stopped == v1.StopReason.STOP_REASON_PAUSE else self._turn(done=stopped not in FAILED)
        if step.writes is None:
            self._work.all([partial(self._answer_call, step, call) for call in enumerate(step.calls)])
            if self._state.step is not step:
                # A tool reverted the session to a point before its call.
                return None
            answered = [result for result in step.results if result is not None]
            groups = groupby(answered, key=lambda result: isinstance(result, v1.Message))
            step.writes = [Write(tuple(group)) for _, group in groups]
        while step.writes:
            self._write_results(step, step.writes[0])
        self._state.finish(step)
        return self._after(step)

    def _write_results(self, step: Step, write: Write) -> None:
        """Append results. Where the daemon refuses them, the next turn runs their tools again."""
        try:
            self._write(write)
        except (InvalidRequestError, ToolCallsOpenError) as refused:
            calls = step.calls or []
            bad = [place for place, result in enumerate(step.results) if any(result is one for one in write.messages)]
            for place in bad:
                step.results[place] = None
            step.writes = None
            answered = ", ".join(f"{calls[place].id} of {calls[place].name}" for place in bad)
            refused.message = f"the result of run_tool for call {answered} is refused: {refused.message}"
            raise

    def _after(self, step: Step) -> Turn | None:
        """End or continue the turn after the results of a step were appended."""
        unanswered = [call for call, result in zip(step.calls or (), step.results, strict=True) if result is None]
        rejected = step.rejected and not step.feedback
        if step.rejected and self._tools is not None:
            self._tools.discard_mail()
        if unanswered or rejected:
            return self._turn(done=False, tool_calls=unanswered, rejected=rejected)
        if step.rejected:
            return None
        self._deliver()
        return None

    def _answer_call(self, step: Step, placed: tuple[int, ToolCall]) -> None:
        """Run one call, unless it already has a result from an earlier turn."""
        place, call = placed
        if step.results[place] is not None:
            return
        output: object = None
        try:
            if self._tools is not None:
                output = self._tools.handle(call)
            if output is None:
                if self._run_tool is None:
                    return
                output = resolve(self._run_tool(call))
        except ToolRejected as rejection:
            step.rejected = True
            step.feedback = step.feedback and bool(rejection.feedback)
            output = rejection.output()
        except Exception as error:
            output = ToolOutput(str(error) or type(error).__name__, is_error=True)
        step.results[place] = result_message(call, output, words.dialect(self._session.dialect))

    def _deliver(self) -> None:
        """Deliver the message of ``send_dmail``, if one waits."""
        mail = self._tools.take_mail() if self._tools is not None else None
        if mail is None:
            return
        with self._write_lock:
            self._check()
            # A revert of another client may have put the checkpoint aside. Then nothing is delivered.
            with contextlib.suppress(CheckpointPutAsideError, CheckpointNotFoundError):
                reverted = self._session.revert(
                    to_checkpoint=mail.checkpoint_id, message_from_future=mail.message
                )
                self._report = reverted.report

    def _tool_calls(self, answer: v1.ModelAnswer) -> list[ToolCall]:
        # Views leave out an answer that failed, with its calls.
        return [] if answer.stop_reason in FAILED else calls_of(answer.index, self._parts(answer))

    def _parts(self, answer: v1.ModelAnswer) -> Iterable[v1.Part]:
        if not answer.parts_left_out:
            return answer.parts
        for message in self._session.messages(from_index=answer.index):
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
