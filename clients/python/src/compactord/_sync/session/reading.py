# Generated from src/compactord/_async/session/reading.py by scripts/unasync.py. Do not edit.
"""Reading a session's log: messages, records, checkpoints, compactions, recall and search."""

from __future__ import annotations

from collections.abc import Iterator, Callable, Iterable
from typing import Protocol, TypeVar

import grpc

from compactord import v1, words
from compactord._sync.view import SessionView
from compactord._sync.wire import runtime
from compactord.arguments import checked_arguments
from compactord.errors import NotFoundError
from compactord.recall import has_rest, joined, recall_request, rest_request

Q = TypeVar("Q", bound="Paged")
A = TypeVar("A", bound="Page")
T = TypeVar("T")


class Paged(Protocol):
    """A request for a page."""

    page_token: str


class Page(Protocol):
    """A response with a page."""

    next_page_token: str


@checked_arguments
class LogReading(SessionView):
    """The part of a session that reads its log, including content that views hide."""

    def messages(
        self,
        listing: words.Listing = "transcript",
        *,
        from_index: int = 0,
        page_size: int = 0,
        timeout: float | None = None,
    ) -> Iterator[v1.LoggedMessage]:
        """Iterate over the messages in the order of the log.

        Args:
            listing: ``"transcript"`` for all messages, ``"dialogue"`` for the active text of user and assistant.
            from_index: The index where to begin.
            page_size: Messages per response, up to 1,000. Default 100.
            timeout: The timeout of each response in seconds. Default: the client's.
        """
        request = v1.ListMessagesRequest(
            session_id=self._id, listing=words.listing(listing), from_index=from_index, page_size=page_size
        )
        return self._pages(self._calls.sessions.ListMessages, request, lambda page: page.messages, timeout)

    def records(
        self,
        *,
        kinds: Iterable[words.RecordKind] = (),
        compaction_id: str = "",
        newest_first: bool = False,
        from_sequence: int | None = None,
        page_size: int = 0,
        timeout: float | None = None,
    ) -> Iterator[v1.Record]:
        """Iterate over the records, the audit trail of the session, in the order of the log.

        Records that a revert put aside are included.

        Args:
            kinds: Only records of these kinds. Default: all.
            compaction_id: Only the compaction with this id.
            newest_first: Whether the newest record comes first.
            from_sequence: The sequence where to begin. Default: the start of the log; with ``newest_first``, its end.
            page_size: Records per response, up to 1,000. Default 100.
            timeout: The timeout of each response in seconds. Default: the client's.

        Raises:
            ValueError: One of ``kinds`` is unknown.
        """
        request = v1.ListRecordsRequest(
            session_id=self._id,
            kinds=words.record_kinds(kinds),
            compaction_id=compaction_id,
            newest_first=newest_first,
            from_sequence=from_sequence,
            page_size=page_size,
        )
        return self._pages(self._calls.sessions.ListRecords, request, lambda page: page.records, timeout)

    def checkpoints(self, *, page_size: int = 0, timeout: float | None = None) -> Iterator[v1.Record]:
        """Iterate over the records of the checkpoints by ascending id, including those that a revert put aside.

        Each record holds its ``checkpoint``; ``put_aside`` tells whether a revert put it aside.
        """
        return self.records(kinds=["checkpoint"], page_size=page_size, timeout=timeout)

    def compactions(self, *, page_size: int = 0, timeout: float | None = None) -> Iterator[v1.CompactionEntry]:
        """Iterate over the compactions, newest first, including those that a revert put aside."""
        request = v1.ListRecordsRequest(
            session_id=self._id, kinds=words.record_kinds(["compaction"]), newest_first=True, page_size=page_size
        )
        return self._pages(self._calls.sessions.ListRecords, request, _compactions, timeout)

    def compaction(self, compaction_id: str, *, timeout: float | None = None) -> v1.CompactionEntry:
        """Get one compaction.

        Raises:
            ValueError: The id is empty.
            NotFoundError: ``COMPACTION_NOT_FOUND``: The session has no compaction with this id.
        """
        if not compaction_id:
            raise ValueError("compaction_id: must not be empty")
        for record in self.records(kinds=["compaction"], compaction_id=compaction_id, timeout=timeout):
            return record.compaction
        raise NotFoundError(
            f"session {self._id!r} has no compaction {compaction_id!r}",
            code=grpc.StatusCode.NOT_FOUND,
            reason="COMPACTION_NOT_FOUND",
        )

    def recall(
        self,
        what: int | str,
        *,
        part: int | None = None,
        result_part: int | None = None,
        offset: int | None = None,
        length: int | None = None,
        first_line: int | None = None,
        line_count: int | None = None,
        match: str | None = None,
        ignore_case: bool = False,
        context_lines: int = 0,
        max_bytes: int | None = None,
        timeout: float | None = None,
    ) -> v1.RecallContentResponse:
        """Get content of the log word for word, also where views hide or edit it.

        Without ``max_bytes`` the whole range is fetched, in several requests where it is large. With ``max_bytes``
        there is one request; ``has_more``, ``next_offset`` and ``next_line`` say where to continue.

        Args:
            what: The index of a message, a reference such as ``#12.0``, or the placeholder that contains it.
                ``SESSION_ID#12`` reads the log of a child, or of a child of a child.
            part: The part of the message, from 0. Default: all its text, or its only part.
            result_part: The part of a tool result, from 0. Default: all its text, or its only part.
            offset: For a range of bytes: the first byte.
            length: For a range of bytes: the number of bytes. Default: all that follow.
            first_line: For a range of lines: the first line, from 1. For a match: the line where the search begins.
            line_count: For a range of lines: the number of lines. Default: all that follow.
            match: A regular expression in RE2 syntax. The matching lines are in ``blocks``.
            ignore_case: For a match: whether upper and lower case are the same.
            context_lines: For a match: the number of lines before and after each match, up to 100.
            max_bytes: The most bytes of the response, up to 3 MiB.
            timeout: The timeout of each response in seconds. Default: the client's.

        Raises:
            NotFoundError: ``CONTENT_NOT_FOUND``: The log does not have the message, or the message has no such part.
            InvalidRequestError: The reference, the range or the expression is not valid.
            ValueError: More than one kind of range was given.
        """
        request = recall_request(
            self._id,
            what,
            part=part,
            result_part=result_part,
            offset=offset,
            length=length,
            first_line=first_line,
            line_count=line_count,
            match=match,
            ignore_case=ignore_case,
            context_lines=context_lines,
            max_bytes=max_bytes,
        )
        answer = self._calls.unary(self._calls.sessions.RecallContent, request, timeout)
        while max_bytes is None and has_rest(request, answer):
            more = self._calls.unary(self._calls.sessions.RecallContent, rest_request(request, answer), timeout)
            answer = joined(answer, more)
        return answer

    def search(
        self,
        text: str | None = None,
        *,
        pattern: str | None = None,
        roles: Iterable[words.Role] = (),
        states: Iterable[words.State] = (),
        newest_first: bool = False,
        snippet_chars: int = 0,
        include_children: bool = False,
        page_size: int = 0,
        timeout: float | None = None,
    ) -> Iterator[v1.SearchHit]:
        """Iterate over the messages that match, including hidden, covered and put aside ones.

        Args:
            text: Words. A message matches where it contains all of them; upper and lower case are the same.
            pattern: In place of ``text``, a regular expression in RE2 syntax. It is matched with each line.
            roles: Only messages of these roles. Default: all.
            states: Only messages in these states. Default: all.
            newest_first: Whether the newest message comes first.
            snippet_chars: Characters of a snippet, up to 4,000. Default 200.
            include_children: Whether to search the logs of its children too, and of theirs. Their hits have a
                ``session_id``, and come after those of the session itself.
            page_size: Hits per response, up to 1,000. Default 20.
            timeout: The timeout of each response in seconds. Default: the client's.

        Raises:
            ValueError: Neither or both of ``text`` and ``pattern`` were given.
        """
        if (text is None) == (pattern is None):
            raise ValueError("search: give either a text or a pattern")
        request = v1.SearchMessagesRequest(
            session_id=self._id,
            roles=words.roles(roles),
            states=words.states(states),
            newest_first=newest_first,
            snippet_chars=snippet_chars,
            include_children=include_children,
            page_size=page_size,
        )
        if text is not None:
            request.words = text
        elif pattern is not None:
            request.pattern = pattern
        return self._pages(self._calls.sessions.SearchMessages, request, lambda page: page.hits, timeout)

    def _pages(
        self,
        method: runtime.Unary[Q, A],
        request: Q,
        items: Callable[[A], Iterable[T]],
        timeout: float | None,
    ) -> Iterator[T]:
        while True:
            page = self._calls.unary(method, request, timeout)
            for item in items(page):
                yield item
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token


def _compactions(page: v1.ListRecordsResponse) -> list[v1.CompactionEntry]:
    return [record.compaction for record in page.records]
