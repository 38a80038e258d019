# Generated from src/compactord/_async/session/position.py by scripts/unasync.py. Do not edit.
"""Where a session object is in the log: the index that its next message gets unless others write."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager

from compactord._sync.wire.runtime import Event

_REMEMBERED = 1_000
"""How many of its appends an object knows to be its own, where messages of others lie between them."""


class Position:
    """The index up to which all messages of the log are known to a session object.

    Its own appends move the index on, from any thread or task. Those of others do not, so that the daemon refuses an
    append that expects this index after them.
    """

    def __init__(self) -> None:
        """Start without an index: nothing is known of the log."""
        self._next: int | None = None
        self._own: deque[tuple[int, int]] = deque(maxlen=_REMEMBERED)
        self._sending: set[Event] = set()
        # Never held while waiting for anything.
        self._mutex = threading.Lock()

    @property
    def next_index(self) -> int | None:
        """The index; None before the first :meth:`start`."""
        return self._next

    def start(self, next_index: int) -> None:
        """Take the log up to an index as known, whoever wrote it."""
        with self._mutex:
            self._next = max(self._next or 0, next_index)
            self._move_on()

    def forget(self) -> None:
        """Know nothing of the log any more."""
        with self._mutex:
            self._next = None
            self._own.clear()

    def wrote(self, first_index: int, next_index: int) -> None:
        """Note messages that this object has written."""
        with self._mutex:
            self._own.append((first_index, next_index))
            self._move_on()

    def is_own(self, index: int) -> bool:
        """Whether this object has written a message."""
        with self._mutex:
            return any(first <= index < after for first, after in self._own)

    @contextmanager
    def sending(self) -> Generator[None]:
        """Announce an append, so that :meth:`settled` waits until it is noted."""
        ended = Event()
        with self._mutex:
            self._sending.add(ended)
        try:
            yield
        finally:
            with self._mutex:
                self._sending.discard(ended)
            ended.set()

    def settled(self) -> None:
        """Wait for the appends that are under way now."""
        with self._mutex:
            under_way = tuple(self._sending)
        for ended in under_way:
            ended.wait()

    def _move_on(self) -> None:
        """Move the index to the end of the own messages that begin at it."""
        if self._next is None:
            return
        for first, after in sorted(self._own):
            if first <= self._next < after:
                self._next = after
        self._own = deque((one for one in self._own if one[1] > self._next), maxlen=_REMEMBERED)
