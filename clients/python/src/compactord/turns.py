"""What became of a turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from compactord import v1
from compactord.results import CompactionResult
from compactord.tools import ToolCall


@dataclass(frozen=True)
class Turn:
    """What became of a turn.

    Attributes:
        done: Whether the model has come to an end. It has not where calls wait for their results, where a call was
            rejected, where ``max_steps`` ended the turn, and where the answer was cut off or failed, which its
            ``stop_reason`` says: then ``run_turn`` goes on from here.
        answer: What the model answered last, as the daemon describes it; None where it was not called.
        tool_calls: The calls that nobody has answered. Append their results, with
            :func:`compactord.tool_result`, before the next turn, or give them to it.
        rejected: Whether a call was rejected without feedback.
        report: How full the context is.
        steps: How many times the model answered.
        compactions: The compactions that were made on the way, or why they failed.
    """

    done: bool
    answer: v1.ModelAnswer | None
    report: v1.ContextReport | None
    steps: int
    tool_calls: Sequence[ToolCall] = ()
    rejected: bool = False
    compactions: Sequence[CompactionResult | Exception] = field(default=())

    @property
    def text(self) -> str:
        """The text of the last answer."""
        return "".join(part.text.text for part in self.answer.parts) if self.answer else ""
