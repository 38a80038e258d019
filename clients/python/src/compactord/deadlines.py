"""How long a call may take, and what it means that it ended then."""

from __future__ import annotations

import time
from collections.abc import Callable

import grpc

from compactord.errors import CompactordError, DeadlineExceededError

# The daemon's clock for the same deadline can be a little ahead.
_EARLY = 0.1


class Deadline:
    """The end of the time that a call may take, from now on."""

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin to count.

        Args:
            seconds: How long; None for as long as it likes.
            clock: Answers the time in seconds.
        """
        self._seconds = seconds
        self._clock = clock
        self._begun = clock()

    def judged(self, error: CompactordError) -> CompactordError:
        """What an error of the call is.

        The daemon counts the same deadline. Where it is first, gRPC says that the call was cancelled.
        """
        seconds = self._seconds
        if seconds is None or error.reason:
            return error
        passed = self._clock() - self._begun >= seconds * (1 - _EARLY)
        late = error.code is grpc.StatusCode.DEADLINE_EXCEEDED
        if not late and not (passed and error.code is grpc.StatusCode.CANCELLED):
            return error
        return DeadlineExceededError(f"no answer in {seconds:g} s", code=grpc.StatusCode.DEADLINE_EXCEEDED)
