"""The results of the agent's tools as text for the model: recalled content and search hits."""

from __future__ import annotations

from collections.abc import Sequence

from compactord import v1
from compactord.texts import model_text


def reference(index: int, part: int | None = None, result_part: int | None = None, *, session_id: str = "") -> str:
    """Make a reference to content of the log, as views write it: ``#12``, ``#12.0``, ``#12.0.1``.

    That to content of a child begins with the child's id.
    """
    places = [str(place) for place in (index, part, result_part) if place is not None]
    return f"{session_id}#" + ".".join(places)


def content_text(answer: v1.RecallContentResponse, *, by_bytes: bool, match: str) -> str:
    """Describe recalled content: a line about it, the content, and how to read on.

    Args:
        answer: The response of the daemon.
        by_bytes: Whether the model asked for bytes.
        match: The expression that the model searched for; empty where it did not search.
    """
    if answer.kind == v1.ContentKind.CONTENT_KIND_MEDIA:
        return f"[{_head(answer)}: {answer.mime_type} of {answer.total_bytes} bytes, which cannot be shown as text]"
    if match:
        body, shown = _blocks(answer.blocks), f"lines that match, of {answer.total_lines}"
        if not answer.blocks:
            shown = f"no line matches, of {answer.total_lines}"
    else:
        body = answer.text
        shown = f"from byte {answer.offset} of {answer.total_bytes}" if by_bytes else _lines(answer)
    end = "\n" if body and not body.endswith("\n") else ""
    return f"[{_head(answer)}, {shown}]\n{body}{end}{_more(answer)}".rstrip("\n")


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


def _head(answer: v1.RecallContentResponse) -> str:
    part = answer.part if answer.HasField("part") else None
    piece = answer.result_part if answer.HasField("result_part") else None
    named = f" {answer.tool}" if answer.tool else ""
    kind = v1.ContentKind.Name(answer.kind).removeprefix("CONTENT_KIND_").lower().replace("_", " ")
    role = v1.Role.Name(answer.role).removeprefix("ROLE_").lower()
    return f"{reference(answer.index, part, piece, session_id=answer.session_id)} {role}{named}, {kind}"


def _lines(answer: v1.RecallContentResponse) -> str:
    if answer.total_lines == 0:
        return "empty"
    last = answer.first_line + max(_line_count(answer.text), 1) - 1
    return f"lines {answer.first_line} to {last} of {answer.total_lines}"


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
    role = v1.Role.Name(hit.role).removeprefix("ROLE_").lower()
    named = f" {hit.tool}" if hit.tool else ""
    line = f", line {hit.line}" if hit.line else ""
    count = f", {hit.matches} matches" if hit.matches > 1 else ""
    snippet = " ".join(hit.snippet.split())
    return f"{reference(hit.index, hit.part, piece, session_id=hit.session_id)} {role}{named}{line}{count}: {snippet}"
