"""The results of a session's calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from compactord import v1, warned, words

_COMPACT_ANEW = ": to compact in another way, undo the last one with session.revert(undo=True)"


@dataclass(frozen=True)
class Appended:
    """The result of an append.

    Attributes:
        first_index: The index of the first message; the others follow it.
        next_index: The index that the next message will get.
        point: The point after the messages.
        report: How full the context is, and whether to compact.
        findings: What was malformed and accepted anyway. The first 1,000.
        answer: With ``model_answer``: the daemon's description of the model's answer; else None.
    """

    first_index: int
    next_index: int
    point: int
    report: v1.ContextReport
    findings: Sequence[v1.Finding]
    answer: v1.ModelAnswer | None


@dataclass(frozen=True)
class CompactionResult:
    """The result of a compaction that did not fail. Its truth value says whether something was committed.

    Attributes:
        operation_id: The operation's id; empty where the client's own model wrote the summary.
        completed: What was committed; None where nothing was.
        skipped: Why nothing was done; None where something was.
        planned: With ``dry_run``: the plan.
    """

    operation_id: str = ""
    completed: v1.CompactionCompleted | None = None
    skipped: v1.CompactionSkipped | None = None
    planned: v1.CompactionPlan | None = None

    def __bool__(self) -> bool:
        return self.completed is not None

    @property
    def compaction(self) -> v1.CompactionEntry | None:
        """The compaction's entry; None where no messages were summarized."""
        done = self.completed
        return done.compaction if done is not None and done.HasField("compaction") else None

    @property
    def prune(self) -> v1.PruneEntry | None:
        """The edits; None where there are none."""
        done = self.completed
        return done.prune if done is not None and done.HasField("prune") else None

    @property
    def fallback_cause(self) -> str:
        """Which summarizer failed and why, in a sentence, where the policy's fallback wrote in its place; else empty.

        ``provenance.summarizer`` of ``compaction`` or ``prune`` names the fallback.
        """
        for entry in (self.compaction, self.prune):
            if entry is not None and entry.provenance.fallback != v1.SummaryFallback.SUMMARY_FALLBACK_UNSPECIFIED:
                return entry.provenance.fallback_cause
        return ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What deserves a look, in sentences: that the policy's fallback wrote. Python warns of it, too."""
        return tuple(filter(None, [warned.fallback(self.fallback_cause)]))

    @property
    def report(self) -> v1.ContextReport | None:
        """How full the context is; None for a plan."""
        ended = self.completed or self.skipped
        return ended.report if ended is not None else None

    @property
    def reason(self) -> words.SkipReason | Literal["", "unknown"]:
        """Why nothing was done, such as ``"below_threshold"``; empty where something was done."""
        return words.skip_reason(self.skipped.reason) if self.skipped is not None else ""

    @property
    def outcome(self) -> Literal["completed", "skipped", "planned"]:
        """Whether something was committed, nothing was to be done, or it was a dry run."""
        if self.completed is not None:
            return "completed"
        return "skipped" if self.skipped is not None else "planned"

    @property
    def message(self) -> str:
        """Why nothing was done, in a sentence with the figures, and what to do; empty where something was done."""
        if self.skipped is None:
            return ""
        advice = _COMPACT_ANEW if self.reason == "already_compacted" else ""
        return self.skipped.message + advice


def result_of(event: v1.CompactionEvent) -> CompactionResult | None:
    """Return the result in an event; None where the compaction still runs, failed or was cancelled."""
    match event.WhichOneof("event"):
        case "completed":
            return CompactionResult(event.operation_id, completed=event.completed)
        case "skipped":
            return CompactionResult(event.operation_id, skipped=event.skipped)
        case "planned":
            return CompactionResult(event.operation_id, planned=event.planned)
        case _:
            return None


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint: a point with a number and a title.

    Attributes:
        id: Its id, from 1. An id is never used again.
        point: The point that a revert to the checkpoint goes back to.
        title: Its title.
        marker_index: The index of the message that announces it to the model; None where it was not announced.
        report: How full the context is.
    """

    id: int
    point: int
    title: str
    marker_index: int | None
    report: v1.ContextReport


@dataclass(frozen=True)
class Reverted:
    """The result of a revert or a clear.

    Attributes:
        record: The record; None where nothing was put aside and no message was added.
        point: The point after the record.
        report: How full the context is.
        messages_put_aside: The number of messages that were put aside.
        first_request_put_aside: The index of the first of them that is a request of the user; None where none is.
    """

    record: v1.Record | None
    point: int
    report: v1.ContextReport
    messages_put_aside: int
    first_request_put_aside: int | None = None


@dataclass(frozen=True)
class Pinned:
    """The result of pinning or unpinning.

    Attributes:
        record: The record; None where nothing changed.
        point: The point after the record.
        report: How full the context is.
    """

    record: v1.Record | None
    point: int
    report: v1.ContextReport


@dataclass(frozen=True)
class ContextChanged:
    """The result of setting and removing context blocks, or of replacing the instructions.

    Attributes:
        sequence: The sequence of the record; None where nothing was written, since it was so already.
        point: The newest point now.
        report: How full the context is.
    """

    sequence: int | None
    point: int
    report: v1.ContextReport


@dataclass(frozen=True)
class ChildEnded:
    """The result of ending a child.

    Attributes:
        index: The index of the child's result in the parent's log.
        point: The parent's point after it.
        answers_call: Whether it is the result of the parent's tool call; else it is a USER message.
        report: How full the parent's context is.
    """

    index: int
    point: int
    answers_call: bool
    report: v1.ContextReport


@dataclass(frozen=True)
class SessionInfo:
    """A session, and how full its context is."""

    session: v1.Session
    report: v1.ContextReport
