# Generated from src/compactord/_async/session/reading.py by scripts/unasync.py. Do not edit.
"""Reading a session's log: messages, records, checkpoints, compactions; recall and search."""

from __future__ import annotations

from collections.abc import Iterator, Callable, Iterable
from typing import Protocol, TypeVar

from compactord import v1, words
from compactord._sync.view import SessionView
from compactord._sync.wire import runtime
from compactord.errors import CompactionNotFoundError
from compactord.recall import followed, goes_on, joined, recall_request

Q = TypeVar("Q", bound="Paged")
A = TypeVar("A", bound="Page")
T = TypeVar("T")


class Paged(Protocol):
    """A request for pages."""

    page_token: str


class Page(Protocol):
    """A page."""

    next_page_token: str


class LogReading(SessionView):
    """The part of a session that reads its log. All of it sees what views hide, too."""

    def messages(
        self,
        listing: words.Listing = "transcript",
        *,
        from_index: int = 0,
        page_size: int = 0,
        timeout: float | None = None,
    ) -> Iterator[v1.LoggedMessage]:
        """Go through the messages, in the order of the log.

        Args:
            listing: ``"transcript"`` is all of them, ``"dialogue"`` the text of user and assistant on the active path.
            from_index: The first message.
            page_size: Messages that one answer holds, up to 1,000. Default 100.
            timeout: Seconds that each answer may take. Default: the client's.
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
            timeout: Seconds for each response. Default: the client's.

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
            CompactionNotFoundError: The session has no compaction with this id.
        """
        for record in self.records(kinds=["compaction"], compaction_id=compaction_id, timeout=timeout):
            return record.compaction
        raise CompactionNotFoundError(f"session {self._id!r} has no compaction {compaction_id!r}")

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
        """Get content of the log word for word, whatever views show of it.

        Without ``max_bytes`` all that was asked for comes, in as many answers of the daemon as it takes. With it one
        answer comes, and ``has_more``, ``next_offset`` and ``next_line`` say where to go on.

        Args:
            what: The message's index, or the reference that a placeholder shows, such as ``#12.0``, or the placeholder.
            part: The part of the message, from 0. Default: all its text, or the only part.
            result_part: Of a tool result, the piece, from 0. Default: all its text, or the only piece.
            offset: Of a range of bytes, the first.
            length: Of a range of bytes, how many. Default: all that follow.
            first_line: Of a range of lines, the first, from 1; of a match, where the search begins.
            line_count: Of a range of lines, how many. Default: all that follow.
            match: An expression in the syntax of RE2: lines that match it come in ``blocks``.
            ignore_case: Of a match: whether upper and lower case are the same.
            context_lines: Of a match: lines around each, up to 100.
            max_bytes: The most that the answer holds, up to 3 MiB.
            timeout: Seconds that each answer of the daemon may take. Default: the client's.

        Raises:
            ContentNotFoundError: The log has no such message, or the message no such part.
            InvalidRequestError: The reference, the range or the expression makes no sense.
            ValueError: Several kinds of range were given.
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
        while max_bytes is None and goes_on(request, answer):
            more = self._calls.unary(self._calls.sessions.RecallContent, followed(request, answer), timeout)
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
        page_size: int = 0,
        timeout: float | None = None,
    ) -> Iterator[v1.SearchHit]:
        """Go through the messages that match, hidden, covered or put aside as they may be.

        Args:
            text: Words: messages that hold all of them match, whatever the case.
            pattern: In place of words, an expression in the syntax of RE2, for each line by itself.
            roles: Only messages of these roles. Default: all.
            states: Only messages that stand so. Default: all.
            newest_first: Whether the newest comes first.
            snippet_chars: Characters of a snippet, up to 4,000. Default 200.
            page_size: Hits that one answer holds, up to 1,000. Default 20.
            timeout: Seconds that each answer may take. Default: the client's.

        Raises:
            ValueError: Neither or both of words and pattern were given.
        """
        if (text is None) == (pattern is None):
            raise ValueError("search: give a text or a pattern")
        request = v1.SearchMessagesRequest(
            session_id=self._id,
            roles=words.roles(roles),
            states=words.states(states),
            newest_first=newest_first,
            snippet_chars=snippet_chars,
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
