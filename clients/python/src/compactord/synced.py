"""The result of a sync of a session with an agent's complete list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from compactord import v1, warned
from compactord.results import CompactionResult
from compactord.view import View


@dataclass(frozen=True)
class Synced:
    """What a sync has done, and the view to send to the model.

    Attributes:
        view: The view; None where none was wanted, and while tool calls wait for results.
        appended: How many messages were appended: the last ones of the log.
        put_aside: How many messages of the log were put aside, since the list lacks them.
        known: How many elements at the start of the list the session had.
        sent: How many elements were sent with their content.
        instructions_replaced: Whether the list has other instructions than the session had, which are in force now.
        begins_with_view: Whether the list begins with a view that the session had returned.
        next_index: The index that the next message will get.
        point: The newest point after the list was in the log, and before the compaction.
        findings: What was malformed and accepted anyway, by its position in the list. The first 1,000.
        report: How full the context is, and whether to compact.
        compaction_result: How the compaction ended that this sync made; None where it made none.
    """

    view: View | None
    appended: int
    put_aside: int
    known: int
    sent: int
    instructions_replaced: bool
    begins_with_view: bool
    next_index: int
    point: int
    findings: Sequence[v1.Finding]
    report: v1.ContextReport = field(repr=False)
    compaction_result: CompactionResult | None = field(default=None, repr=False)

    @property
    def messages(self) -> list[Any] | None:
        """The messages to send to the model, as :attr:`View.messages` has them. None where there is no view."""
        return None if self.view is None else self.view.messages

    @property
    def system(self) -> list[Any]:
        """The system prompt to send, as :attr:`View.system` has it; empty where there is no view."""
        return [] if self.view is None else self.view.system

    @property
    def compacted(self) -> v1.CompactionEntry | None:
        """The entry of the compaction that this sync made; None where it summarized nothing."""
        return None if self.compaction_result is None else self.compaction_result.compaction

    @property
    def open_calls(self) -> Sequence[v1.CallRef]:
        """The tool calls that wait for results, for which there is no view in a dialect. The first 100."""
        return self.report.open_calls

    @property
    def warnings(self) -> tuple[str, ...]:
        """What deserves a look, in sentences: a fallback wrote, or the session has no context window and grows."""
        made = self.compaction_result.warnings if self.compaction_result is not None else ()
        return (*made, *filter(None, [warned.unbounded(self.report)]))

    def request(self, **own: Any) -> dict[str, Any]:
        """Make a provider's request of the view, as :meth:`View.request` does.

        Raises:
            ValueError: There is no view, or it is neutral.
        """
        if self.view is None:
            waits = ", ".join(call.id for call in self.open_calls)
            why = f"tool calls wait for their results ({waits})" if waits else "the sync was made with view=False"
            raise ValueError(f"there is no view to make a request of: {why}")
        return self.view.request(**own)
