"""The result of a turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

from compactord import v1
from compactord.results import CompactionResult
from compactord.tools import ToolCall
from compactord.words import StopReason, word


@dataclass(frozen=True)
class Turn:
    """The result of a turn.

    Attributes:
        done: Whether the model has finished. It is False where calls wait for their results, where a call was
            rejected, where ``max_steps`` ended the turn, and where the answer was aborted or failed, as its
            ``stop_reason`` says. Call ``run_turn`` again to continue.
        answer: The model's last answer, as the daemon describes it; None where the model was not called.
        tool_calls: The calls without a result. Append their results, with :func:`compactord.tool_result`, before the
            next turn, or pass them to it.
        rejected: Whether a call was rejected without feedback.
        report: How full the context is.
        steps: How many times the model answered.
        compactions: The compactions of the turn: their results, or the errors of those that failed.
        limit_tokens: How many tokens the model accepts, where an error of its provider said so in this turn.
        warnings: What deserves a look, in sentences, each of which was a :class:`compactord.CompactordWarning`, too:
            the policy's fallback wrote a summary, the provider's error contradicts the context window, or the session
            has none and grows.
    """

    done: bool
    answer: v1.ModelAnswer | None
    report: v1.ContextReport | None
    steps: int
    tool_calls: Sequence[ToolCall] = ()
    rejected: bool = False
    compactions: Sequence[CompactionResult | Exception] = field(default=())
    limit_tokens: int | None = None
    warnings: Sequence[str] = ()

    @property
    def stop_reason(self) -> StopReason | Literal["", "unknown"]:
        """Why the last answer ended, such as ``"end"`` or ``"length"``; empty where the provider did not say."""
        return cast("StopReason", word(v1.StopReason, self.answer.stop_reason)) if self.answer else ""

    @property
    def text(self) -> str:
        """The text of the last answer."""
        return "".join(part.text.text for part in self.answer.parts) if self.answer else ""
