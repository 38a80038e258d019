# Generated from src/compactord/_async/session/watch.py by scripts/unasync.py. Do not edit.
"""Watching a session's log."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import TypeAlias

from typing_extensions import Self, override

from compactord import v1
from compactord._sync.wire import runtime
from compactord._sync.wire.calls import Calls
from compactord.connection import backoffs, explained
from compactord.errors import CompactordError, UnavailableError

Watched: TypeAlias = v1.LoggedMessage | v1.Record | v1.CompactionEvent


class Watch(Iterator[Watched]):
    """A watch: iterate over it for new messages, records and, where requested, events of compactions.

    It starts when its ``async with`` block is entered, or else when the first item is requested. From then on it
    delivers each message and record once, in the order of the log. It continues by itself after a broken connection
    and after it was too slow. It ends when it is closed or garbage collected. Where the session is deleted, it raises
    a ``SessionNotFoundError``.

    Attributes:
        uid: The session's uid; empty before the watch has started.
        next_sequence: The sequence of the next message or record.
    """

    def __init__(self, calls: Calls, request: v1.WatchSessionRequest) -> None:
        self._calls = calls
        self._request = request
        self._stream: runtime.Stream[v1.WatchSessionResponse] | None = None
        self._waits = backoffs()
        self._closed = False
        self.uid = ""
        self.next_sequence = request.from_sequence

    def close(self) -> None:
        """End the watch. An iteration over it ends too."""
        self._closed = True
        if self._stream is not None:
            self._stream.cancel()

    def __enter__(self) -> Self:
        self._begun()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @override
    def __iter__(self) -> Self:
        return self

    @override
    def __next__(self) -> Watched:
        while not self._closed:
            self._begun()
            response = self._read()
            match response.WhichOneof("kind") if response is not None else "":
                case "message" if response is not None:
                    self.next_sequence = response.message.sequence + 1
                    return response.message
                case "record" if response is not None:
                    self.next_sequence = response.record.sequence + 1
                    return response.record
                case "event" if response is not None:
                    return response.event
                case _:
                    continue
        raise StopIteration

    def _begun(self) -> None:
        """Open the stream where it is not open, and wait until the daemon has started the watch."""
        while self._stream is None and not self._closed:
            self._calls.find_daemon(None)
            if self.uid:
                self._request.uid = self.uid
                self._request.from_sequence = self.next_sequence
            self._stream = runtime.Stream(self._calls.sessions.WatchSession, self._request, None)
            self._end_if_closed()
            response = self._read()
            if response is not None:
                self.uid = response.started.uid
                self.next_sequence = response.started.from_sequence

    def _end_if_closed(self) -> None:
        """Cancel the stream where another thread closed the watch while the stream was opened."""
        if self._closed and self._stream is not None:
            self._stream.cancel()

    def _read(self) -> v1.WatchSessionResponse | None:
        """Wait for the next response; None where the stream broke and must be opened again, or was closed."""
        if self._stream is None:
            return None
        try:
            response = self._stream.read()
        except CompactordError as error:
            self._stream = None
            if self._closed and error.reason == "CANCELLED":
                return None
            self._pause(error)
            return None
        except BaseException:
            # The next call opens a new stream where this one was interrupted.
            self._stream.cancel()
            self._stream = None
            raise
        if response is None:
            self._stream = None
        elif response.WhichOneof("kind") != "started":
            self._waits = backoffs()
        return response

    def _pause(self, error: CompactordError) -> None:
        """Wait before the stream is opened again. Raise the error where a retry does not help."""
        goes_on = isinstance(error, UnavailableError) or error.reason == "WATCHER_TOO_SLOW"
        if not goes_on or not self._calls.settings.retry:
            raise explained(error, self._calls.settings)
        wait = next(self._waits, None)
        if wait is None:
            raise explained(error, self._calls.settings)
        runtime.sleep(wait)
