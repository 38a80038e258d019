"""The results of the agent's tools as text for the model: recalled content and search hits."""

from __future__ import annotations

import re
from collections.abc import Sequence

from compactord import v1
from compactord.texts import model_text
from compactord.words import word

_BLANKS = re.compile(r"[ \t\n\r\v\f]+")


def reference(index: int, part: int | None = None, result_part: int | None = None, *, session_id: str = "") -> str:
    """Make a reference to content of the log, as views write it: ``#12``, ``#12.0``, ``#12.0.1``.

    That to content of a child begins with the child's id.
    """
    places = [str(place) for place in (index, part, result_part) if place is not None]
    return f"{session_id}#" + ".".join(places)


def content_text(answer: v1.RecallContentResponse, *, by_bytes: bool, match: str) -> str:
    """Describe recalled content: a line about it, the content word for word, and how to read on.

    Args:
        answer: The response of the daemon.
        by_bytes: Whether the model asked for bytes.
        match: The expression that the model searched for; empty where it did not search.
    """
    head = model_text("recalled", reference=_place(answer), facts=", ".join(_facts(answer, by_bytes, match)))
    if answer.kind == v1.ContentKind.CONTENT_KIND_MEDIA:
        return head
    body = _blocks(answer.blocks) if match else answer.text
    more = _more(answer)
    if body and more and not body.endswith("\n"):
        body += "\n"
    return f"{head}\n{body}{more}" if body or more else head


def hits_text(hits: Sequence[v1.SearchHit], *, skipped: int, more: bool) -> str:
    """List hits, one on each line, with the reference to recall it by.

    Args:
        hits: The hits.
        skipped: The number of hits that were skipped before these.
        more: Whether there are more hits after these.
    """
    if not hits:
        return model_text("no_further_hits" if skipped else "no_hits")
    lines = [_hit(hit) for hit in hits]
    if more:
        lines.append(model_text("more_hits", skip=skipped + len(hits)))
    return "\n".join(lines)


def _place(answer: v1.RecallContentResponse) -> str:
    if answer.block:
        return f"block {answer.block}"
    part = answer.part if answer.HasField("part") else None
    piece = answer.result_part if answer.HasField("result_part") else None
    return reference(answer.index, part, piece, session_id=answer.session_id)


def _facts(answer: v1.RecallContentResponse, by_bytes: bool, match: str) -> list[str]:
    taken_back = answer.state == v1.MessageState.MESSAGE_STATE_PUT_ASIDE and not answer.block
    facts = [
        _who(answer),
        word(v1.ContentKind, answer.kind).replace("_", " "),
        model_text("taken_back") if taken_back else "",
        answer.name,
        answer.mime_type,
        _shown(answer, by_bytes, match),
    ]
    return [fact for fact in facts if fact]


def _who(told: v1.RecallContentResponse | v1.SearchHit) -> str:
    return word(v1.Role, told.role) + (f" {told.tool}" if told.tool else "")


def _shown(answer: v1.RecallContentResponse, by_bytes: bool, match: str) -> str:
    """Say how much of the content is shown."""
    if answer.kind == v1.ContentKind.CONTENT_KIND_MEDIA:
        return model_text("recalled_media", bytes=answer.total_bytes)
    if match:
        return model_text("recalled_matches" if answer.blocks else "recalled_no_match", total=answer.total_lines)
    if by_bytes:
        return model_text("recalled_bytes", first=answer.offset, total=answer.total_bytes)
    if answer.total_lines == 0:
        return model_text("recalled_empty")
    last = answer.first_line + max(_line_count(answer.text), 1) - 1
    return model_text("recalled_lines", first=answer.first_line, last=last, total=answer.total_lines)


def _line_count(text: str) -> int:
    return text.count("\n") + (0 if text.endswith("\n") else 1)


def _blocks(blocks: Sequence[v1.LineBlock]) -> str:
    """Number the lines. A colon marks those that match, as in the output of grep."""
    shown: list[str] = []
    for block in blocks:
        matching = set(block.matching_lines)
        lines = [line.removesuffix("\r") for line in block.text.removesuffix("\n").split("\n")]
        numbered = [
            f"{number}{':' if number in matching else '-'}{line}" for number, line in enumerate(lines, block.first_line)
        ]
        shown.append("\n".join(numbered))
    return "\n--\n".join(shown)


def _more(answer: v1.RecallContentResponse) -> str:
    if not answer.has_more:
        return ""
    if answer.next_line:
        return model_text("more_lines", line=answer.next_line)
    return model_text("more_bytes", byte=answer.next_offset)


def _hit(hit: v1.SearchHit) -> str:
    piece = hit.result_part if hit.HasField("result_part") else None
    facts = [
        _who(hit),
        *([model_text("hit_line", line=hit.line)] if hit.line else ()),
        *([model_text("hit_matches", matches=hit.matches)] if hit.matches > 1 else ()),
        *([model_text("taken_back")] if hit.state == v1.MessageState.MESSAGE_STATE_PUT_ASIDE else ()),
    ]
    place = reference(hit.index, hit.part, piece, session_id=hit.session_id)
    snippet = _BLANKS.sub(" ", hit.snippet).strip(" ")
    return model_text("hit", reference=place, facts=", ".join(facts), snippet=snippet)
