"""The options of a turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from compactord import v1
from compactord._async.turn.runtime import ModelAnswerLike
from compactord._async.wire.runtime import Result
from compactord.awaitables import require_callable
from compactord.prompts import Prompt, PromptAnswer
from compactord.tools import Mail, ToolCall, ToolOutput
from compactord.view import View
from compactord.words import Thinking

CallModel: TypeAlias = Callable[[View], ModelAnswerLike]
"""Calls the model with a view and returns its answer (see :data:`compactord.AnswerLike`) or its events."""
RunTool: TypeAlias = Callable[[ToolCall], Result[str | ToolOutput | v1.Message | Mapping[str, Any] | list[Any] | None]]
"""Runs a tool call and returns its result.

The result can be a text, a :class:`ToolOutput`, a TOOL message, or a message in the session's dialect: a dict with a
``role`` or a ``type``. Another dict and a list are data, whose JSON is the result. None is an empty result.
"""
WriteSummary: TypeAlias = Callable[[Prompt], Awaitable[str | PromptAnswer]]
"""Lets the agent's own model write a summary."""
ExtraBlocks: TypeAlias = Iterable[v1.ContextBlock] | Callable[[], Result[Iterable[v1.ContextBlock]]]
"""Context blocks for the views of a turn alone, or a function that returns them for each view."""
OnEvent: TypeAlias = Callable[[v1.CompactionEvent], Result[object]]
"""Called with each event of a turn's compactions."""


class AsyncTools(Protocol):
    """Tools that are asked to run a call before ``run_tool``, such as ``AsyncAgentTools``."""

    @property
    def name_checkpoints(self) -> bool:
        """Whether a tool takes the number of a checkpoint. A turn then announces one before each step."""
        ...

    async def handle(self, call: ToolCall) -> ToolOutput | None:
        """Run a call and return its result; None where the call is of another tool."""
        ...

    def take_mail(self) -> Mail | None:
        """Return and forget the message that waits to be delivered; None where there is none."""
        ...

    def discard_mail(self) -> None:
        """Forget the message that waits to be delivered."""
        ...


@dataclass(frozen=True)
class TurnOptions:
    """The options of a turn; ``AsyncSession.run_turn`` describes them."""

    run_tool: RunTool | None = None
    tools: AsyncTools | None = None
    max_steps: int | None = None
    on_event: OnEvent | None = None
    summarize_with: WriteSummary | None = None
    checkpoint_steps: bool = False
    thinking: Thinking | None = None
    mark_cache_breakpoints: bool = False
    extra_blocks: ExtraBlocks = ()

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            ValueError: ``max_steps`` is below 1.
            TypeError: A function is none, or ``tools`` are no tools.
        """
        require_callable(run_tool=self.run_tool, on_event=self.on_event, summarize_with=self.summarize_with)
        if self.tools is not None and not callable(getattr(self.tools, "handle", None)):
            raise TypeError(f"tools: must be AgentTools(session), not of the type {type(self.tools).__name__}")
        if self.max_steps is not None and self.max_steps < 1:
            raise ValueError(f"max_steps: must be at least 1, and is {self.max_steps}")
