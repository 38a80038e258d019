"""Appends that ended in no answer, so that the same content appended again is not doubled."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable

from compactord import v1
from compactord.errors import DeadlineExceededError, OperationCancelledError, UnavailableError

MEMORY = 600.0
"""Seconds after which the same content is taken for a new message."""


class Unanswered:
    """The appends of one session of which it is not known whether the daemon has them.

    What the daemon knows by its request id it refuses in other bytes. So what is sent again is the first request as it
    was, with the view's token of then, which is therefore left out of what makes two appends the same.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with none.

        Args:
            clock: Answers the time in seconds.
        """
        self._clock = clock
        self._mutex = threading.Lock()
        self._kept: dict[bytes, tuple[float, v1.AppendMessagesRequest]] = {}

    def first(self, request: v1.AppendMessagesRequest) -> v1.AppendMessagesRequest | None:
        """The request that the same content went out in, where there was no answer to it."""
        with self._mutex:
            since, first = self._kept.get(_digest(request), (0.0, None))
            return first if self._clock() - since < MEMORY else None

    def keep(self, request: v1.AppendMessagesRequest) -> None:
        """Remember a request that ended in no answer."""
        with self._mutex:
            self._kept.setdefault(_digest(request), (self._clock(), request))

    def drop(self, request: v1.AppendMessagesRequest) -> None:
        """Forget the request of this content, to which there was an answer."""
        with self._mutex:
            self._kept.pop(_digest(request), None)

    def clear(self) -> None:
        """Forget all: something else was appended since, so that they were given up."""
        with self._mutex:
            self._kept.clear()


def _digest(request: v1.AppendMessagesRequest) -> bytes:
    bare = v1.AppendMessagesRequest()
    bare.CopyFrom(request)
    bare.ClearField("request_id")
    bare.ClearField("view_token")
    return hashlib.sha256(bare.SerializeToString(deterministic=True)).digest()


def leaves_open(error: BaseException) -> bool:
    """Whether an error leaves open if the daemon did what it was asked for."""
    return isinstance(error, UnavailableError | DeadlineExceededError | OperationCancelledError)
