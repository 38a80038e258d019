"""What the calls of a session answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compactord import v1


@dataclass(frozen=True)
class Appended:
    """Where appended messages went.

    Attributes:
        first_index: The index of the first of them; the others follow it.
        next_index: The index that the next message will get.
        point: The point after them.
        report: How full the context is, and whether to compact.
        findings: What was malformed and taken all the same. The first 1,000.
        answer: With ``model_answer``: what the model answered, described; else None.
    """

    first_index: int
    next_index: int
    point: int
    report: v1.ContextReport
    findings: Sequence[v1.Finding]
    answer: v1.ModelAnswer | None


@dataclass(frozen=True)
class CompactionResult:
    """How a compaction ended that did not fail. True where something was done.

    Attributes:
        operation_id: The operation's id; empty where the client's own model wrote.
        completed: What was committed.
        skipped: Why nothing was done.
        planned: What would be done: the answer to ``dry_run``.
    """

    operation_id: str = ""
    completed: v1.CompactionCompleted | None = None
    skipped: v1.CompactionSkipped | None = None
    planned: v1.CompactionPlan | None = None

    def __bool__(self) -> bool:
        return self.completed is not None

    @property
    def compaction(self) -> v1.CompactionEntry | None:
        """The entry, where a cut was made."""
        done = self.completed
        return done.compaction if done is not None and done.HasField("compaction") else None

    @property
    def prune(self) -> v1.PruneEntry | None:
        """The edits, where some were made."""
        done = self.completed
        return done.prune if done is not None and done.HasField("prune") else None

    @property
    def fallback_cause(self) -> str:
        """Which summarizer failed and why, in a sentence, where the policy's fallback wrote for it; else empty.

        What wrote instead is the ``provenance.summarizer`` of ``compaction``, or that of ``prune`` where results were
        written shorter.
        """
        for entry in (self.compaction, self.prune):
            if entry is not None and entry.provenance.fallback != v1.SummaryFallback.SUMMARY_FALLBACK_UNSPECIFIED:
                return entry.provenance.fallback_cause
        return ""

    @property
    def report(self) -> v1.ContextReport | None:
        """How full the context is; None of a plan."""
        ended = self.completed or self.skipped
        return ended.report if ended is not None else None

    @property
    def reason(self) -> str:
        """Why nothing was done, such as ``"BELOW_THRESHOLD"``; empty where something was."""
        if self.skipped is None:
            return ""
        known = self.skipped.reason in v1.SkipReason.values()
        return v1.SkipReason.Name(self.skipped.reason).removeprefix("SKIP_REASON_") if known else "UNKNOWN"

    @property
    def message(self) -> str:
        """The same in a sentence with the figures."""
        return self.skipped.message if self.skipped is not None else ""


def result_of(event: v1.CompactionEvent) -> CompactionResult | None:
    """The result that an event tells; None where the compaction goes on, failed or was cancelled."""
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
    """A point with a name.

    Attributes:
        id: Its id, from 1; never used again.
        point: The point that a revert to it goes to.
        title: What it is called.
        marker_index: The message that announces it to the model, where one was asked for.
        report: How full the context is.
    """

    id: int
    point: int
    title: str
    marker_index: int | None
    report: v1.ContextReport


@dataclass(frozen=True)
class Reverted:
    """What a revert or a clearing wrote.

    Attributes:
        record: The record; None where there was nothing to put aside or to tell.
        point: The point after it.
        report: How full the context is.
        messages_put_aside: How many messages were put aside.
        first_request_put_aside: The first of them that is a request of the user, if there is one.
    """

    record: v1.Record | None
    point: int
    report: v1.ContextReport
    messages_put_aside: int
    first_request_put_aside: int | None = None


@dataclass(frozen=True)
class Pinned:
    """What a pinning or unpinning wrote.

    Attributes:
        record: The record; None where there was nothing to do.
        point: The point after it.
        report: How full the context is.
    """

    record: v1.Record | None
    point: int
    report: v1.ContextReport


@dataclass(frozen=True)
class SessionInfo:
    """A session, and how full its context is."""

    session: v1.Session
    report: v1.ContextReport
