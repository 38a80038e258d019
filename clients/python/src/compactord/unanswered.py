"""Appends without a response, remembered so that appending the same content again does not duplicate it."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable

from compactord import v1
from compactord.errors import CompactordError, DeadlineExceededError, UnavailableError

MEMORY = 600.0
"""Seconds after which the same content counts as a new message."""


class Unanswered:
    """The appends of one session that the daemon may or may not have executed.

    The daemon refuses a known request id with different bytes. So the first request is sent again unchanged, with its
    old view token. Two appends are the same where all but their request id and view token is equal.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start without appends.

        Args:
            clock: Returns the time in seconds.
        """
        self._clock = clock
        self._mutex = threading.Lock()
        self._kept: dict[bytes, tuple[float, v1.AppendMessagesRequest]] = {}

    def first(self, request: v1.AppendMessagesRequest) -> v1.AppendMessagesRequest | None:
        """Return the request that was sent with the same content and got no response; else None."""
        with self._mutex:
            since, first = self._kept.get(_digest(request), (0.0, None))
            return first if self._clock() - since < MEMORY else None

    def keep(self, request: v1.AppendMessagesRequest) -> None:
        """Remember a request that got no response."""
        with self._mutex:
            self._kept.setdefault(_digest(request), (self._clock(), request))

    def drop(self, request: v1.AppendMessagesRequest) -> None:
        """Forget the request with this content, since there is a response now."""
        with self._mutex:
            self._kept.pop(_digest(request), None)

    def clear(self) -> None:
        """Forget all requests: the caller has appended something else since, and so given them up."""
        with self._mutex:
            self._kept.clear()


def _digest(request: v1.AppendMessagesRequest) -> bytes:
    bare = v1.AppendMessagesRequest()
    bare.CopyFrom(request)
    bare.ClearField("request_id")
    bare.ClearField("view_token")
    return hashlib.sha256(bare.SerializeToString(deterministic=True)).digest()


def leaves_open(error: BaseException) -> bool:
    """Whether it is unknown after this error if the daemon executed the request."""
    return isinstance(error, UnavailableError | DeadlineExceededError) or (
        isinstance(error, CompactordError) and error.reason == "CANCELLED"
    )
