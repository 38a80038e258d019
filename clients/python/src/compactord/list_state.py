"""What a caller keeps between two compactions of a list of which the daemon keeps nothing."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from google.protobuf.message import DecodeError

from compactord import v1
from compactord.lists import ElementList
from compactord.results import CompactionResult
from compactord.view import View
from compactord.words import dialect_name

_VERSION = 1

E = TypeVar("E", v1.CompactionEntry, v1.PruneEntry)


@dataclass(frozen=True)
class Compacted:
    """A list as the model is to see it, and what to keep for the next call.

    Attributes:
        view: The view to send to the model.
        state: What to give to the next call, with the complete list again: a text that can be stored. It holds the
            summary and the edits, and no messages.
        compacted: Whether this call compacted.
        began_anew: Whether the state that was given could not be used, since messages that it covers have changed.
        compaction_result: How the compaction ended that this call made; None where it made none.
        findings: What was malformed and accepted anyway, by its position in the list. The first 1,000.
        report: How full the context is.
    """

    view: View
    state: str = field(repr=False)
    compacted: bool
    began_anew: bool
    findings: Sequence[v1.Finding]
    compaction_result: CompactionResult | None = field(default=None, repr=False)

    @property
    def messages(self) -> list[Any]:
        """The messages to send to the model, as :attr:`View.messages` has them."""
        return self.view.messages

    @property
    def system(self) -> list[Any]:
        """The system prompt to send, as :attr:`View.system` has it."""
        return self.view.system

    @property
    def report(self) -> v1.ContextReport:
        """How full the context is."""
        return self.view.report

    @property
    def warnings(self) -> tuple[str, ...]:
        """What deserves a look, in sentences: that the policy's fallback wrote. Python warns of it, too."""
        return self.compaction_result.warnings if self.compaction_result is not None else ()

    def request(self, **own: Any) -> dict[str, Any]:
        """Make a provider's request of the view, as :meth:`View.request` does."""
        return self.view.request(**own)


@dataclass(frozen=True)
class ListState:
    """The entries of a list, and which elements they are of.

    Attributes:
        dialect: The dialect of the list.
        compaction: The compaction in effect.
        prunes: The edits in force.
        apart: How many elements the system prompt has that stands apart.
        leading: How many elements of the list are SYSTEM and DEVELOPER messages at its start. They may change.
        covered: How many elements of the list the entries name messages of, with the leading ones.
        digest: Stands for what these have, the leading ones apart.
        elements: How many elements the list had at the end when it was the shortest since the newest entry was made.
    """

    dialect: v1.Dialect.ValueType
    compaction: v1.CompactionEntry | None = None
    prunes: tuple[v1.PruneEntry, ...] = ()
    apart: int = 0
    leading: int = 0
    covered: int = 0
    digest: str = ""
    elements: int = 0

    @property
    def empty(self) -> bool:
        """Whether there are no entries."""
        return self.compaction is None and not self.prunes

    def fits(self, listed: ElementList, apart: int) -> bool:
        """Whether the entries are of a list."""
        return self.empty or (
            (self.apart, self.leading) == (apart, listed.leading) and self.digest == _digest(listed, self.covered)
        )

    def after(self, result: CompactionResult) -> ListState:
        """The entries after a compaction. Edits of messages that the summary stands for are dropped."""
        entry = result.compaction or self.compaction
        prunes = [*self.prunes, *([result.prune] if result.prune is not None else [])]
        if entry is not None and not entry.HasField("replayed_index"):
            prunes = [prune for prune in prunes if _reach(prune) > entry.first_kept_index]
        return ListState(self.dialect, entry, tuple(prunes))

    def of(self, listed: ElementList, apart: int, covered: int) -> ListState:
        """The same entries with the elements that they are of."""
        return replace(
            self,
            apart=apart,
            leading=listed.leading,
            covered=covered,
            digest=_digest(listed, covered),
            elements=len(listed.elements),
        )

    def shortened(self, elements: int, messages: int) -> ListState:
        """The same entries for a list that has lost its end since, and has fewer elements and messages now."""
        entry = None if self.compaction is None else _copy(self.compaction)
        prunes = tuple(map(_copy, self.prunes))
        for change in [prune.view_change for prune in prunes] + ([] if entry is None else [entry.view_change]):
            change.next_index = min(change.next_index, messages)
        return replace(self, compaction=entry, prunes=prunes, elements=elements)

    @property
    def named_messages(self) -> int:
        """The index behind the last message that the entries name."""
        entry = self.compaction
        kept = 0 if entry is None else entry.first_kept_index
        replayed = entry.replayed_index + 1 if entry is not None and entry.HasField("replayed_index") else 0
        return max([kept, replayed, *map(_reach, self.prunes)])

    def text(self) -> str:
        """The state as a text; empty without entries."""
        if self.empty:
            return ""
        return json.dumps(
            {
                "version": _VERSION,
                "dialect": dialect_name(self.dialect),
                "apart": self.apart,
                "leading": self.leading,
                "covered": self.covered,
                "digest": self.digest,
                "elements": self.elements,
                "compaction": None if self.compaction is None else _encoded(self.compaction),
                "prunes": [_encoded(prune) for prune in self.prunes],
            },
            separators=(",", ":"),
        )


def read(text: object, dialect: v1.Dialect.ValueType) -> ListState:
    """Read a state; None and the empty text mean that there is none yet.

    Raises:
        TypeError: It is no text.
        ValueError: It is no state, it is a newer client's, or one of a list in another dialect.
    """
    if text is not None and not isinstance(text, str):
        raise TypeError(f"state: must be the text that an earlier call returned, and is a {type(text).__name__}")
    if not text:
        return ListState(dialect)
    try:
        kept: dict[str, Any] = json.loads(text)
        if kept["version"] != _VERSION:
            raise ValueError("state: it was made by a newer client than this one")
        if kept["dialect"] != dialect_name(dialect):
            raise ValueError(
                f"state: it is of a list in {_shape(kept['dialect'])}, and this list is in "
                f"{_shape(dialect_name(dialect))}: begin without a state"
            )
        return ListState(
            dialect,
            None if kept["compaction"] is None else v1.CompactionEntry.FromString(_decoded(kept["compaction"])),
            tuple(v1.PruneEntry.FromString(_decoded(prune)) for prune in kept["prunes"]),
            int(kept["apart"]),
            int(kept["leading"]),
            int(kept["covered"]),
            str(kept["digest"]),
            int(kept["elements"]),
        )
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError, DecodeError, binascii.Error):
        raise ValueError("state: it is not what an earlier call returned: begin without a state") from None


def _shape(name: str | None) -> str:
    return "neutral messages" if name is None else f"the dialect {name}"


def _digest(listed: ElementList, covered: int) -> str:
    """What stands for the elements up to the covered ones; another text where there are not so many."""
    if covered > len(listed.digests):
        return "short"
    return hashlib.sha256(b"".join(listed.digests[listed.leading : covered])).hexdigest()


def _reach(prune: v1.PruneEntry) -> int:
    """The index behind the last message that edits name."""
    return max((max(edit.index + 1, edit.fold_end) for edit in prune.edits), default=0)


def _copy(entry: E) -> E:
    copied = type(entry)()
    copied.CopyFrom(entry)
    return copied


def _encoded(entry: v1.CompactionEntry | v1.PruneEntry) -> str:
    return base64.b64encode(entry.SerializeToString(deterministic=True)).decode()


def _decoded(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
