"""Recalling content: the first request, the requests for the rest, and joining the responses."""

from __future__ import annotations

from compactord import v1


def recall_request(
    session_id: str,
    what: int | str,
    *,
    part: int | None,
    result_part: int | None,
    offset: int | None,
    length: int | None,
    first_line: int | None,
    line_count: int | None,
    match: str | None,
    ignore_case: bool,
    context_lines: int,
    max_bytes: int | None,
) -> v1.RecallContentRequest:
    """Make the first request.

    Raises:
        ValueError: More than one kind of range was given.
    """
    by_bytes = offset is not None or length is not None
    by_lines = first_line is not None or line_count is not None
    if (by_bytes and (by_lines or match is not None)) or (match is not None and line_count is not None):
        raise ValueError("recall: give only one of a range of bytes, a range of lines and a match")
    request = v1.RecallContentRequest(
        session_id=session_id, part=part, result_part=result_part, max_bytes=max_bytes or 0
    )
    if isinstance(what, int):
        request.index = what
    else:
        request.reference = what
    if match is not None:
        request.match.CopyFrom(
            v1.LineMatch(
                pattern=match, ignore_case=ignore_case, context_lines=context_lines, first_line=first_line or 0
            )
        )
    elif by_lines:
        request.lines.CopyFrom(v1.LineRange(first=1 if first_line is None else first_line, count=line_count or 0))
    elif by_bytes:
        request.bytes.CopyFrom(v1.ByteRange(offset=offset or 0, length=length or 0))
    return request


def has_rest(request: v1.RecallContentRequest, answer: v1.RecallContentResponse) -> bool:
    """Whether there is more content that another request of the same kind can get.

    A response can end within a line. A request for lines cannot get the rest of that line; only one for bytes can.
    """
    by_lines = request.WhichOneof("range") in ("lines", "match")
    return answer.has_more and (not by_lines or answer.next_line != 0)


def rest_request(request: v1.RecallContentRequest, answer: v1.RecallContentResponse) -> v1.RecallContentRequest:
    """Make the request for the content after the response."""
    more = v1.RecallContentRequest()
    more.CopyFrom(request)
    match request.WhichOneof("range"):
        case "match":
            more.match.first_line = answer.next_line
        case "lines":
            if request.lines.count:
                more.lines.count = request.lines.first + request.lines.count - answer.next_line
            more.lines.first = answer.next_line
        case _:
            if request.bytes.length:
                more.bytes.length = request.bytes.offset + request.bytes.length - answer.next_offset
            more.bytes.offset = answer.next_offset
    return more


def joined(answer: v1.RecallContentResponse, more: v1.RecallContentResponse) -> v1.RecallContentResponse:
    """Join two responses that follow each other."""
    whole = v1.RecallContentResponse()
    whole.CopyFrom(answer)
    whole.text += more.text
    whole.data += more.data
    whole.blocks.extend(more.blocks)
    whole.has_more = more.has_more
    whole.next_offset, whole.next_line = more.next_offset, more.next_line
    return whole
