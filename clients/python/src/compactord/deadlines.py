"""The deadline of a call, and whether an error means that it passed."""

from __future__ import annotations

import time
from collections.abc import Callable

import grpc

from compactord.errors import CompactordError, DeadlineExceededError

# The daemon's clock for the same deadline can be a little ahead.
_EARLY = 0.1


class Deadline:
    """The deadline of a call. Its time starts now."""

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        """Start the time.

        Args:
            seconds: The time limit; None without a limit.
            clock: Returns the time in seconds.
        """
        self._seconds = seconds
        self._clock = clock
        self._begun = clock()

    def classified(self, error: CompactordError) -> CompactordError:
        """Return a DeadlineExceededError where the error means that the deadline passed, else the error itself.

        The daemon has the same deadline. If it acts on it first, gRPC reports that the call was cancelled.
        """
        seconds = self._seconds
        if seconds is None or error.from_daemon:
            return error
        passed = self._clock() - self._begun >= seconds * (1 - _EARLY)
        late = error.code is grpc.StatusCode.DEADLINE_EXCEEDED
        if not late and not (passed and error.code is grpc.StatusCode.CANCELLED):
            return error
        return DeadlineExceededError(f"no answer within {seconds:g} s", code=grpc.StatusCode.DEADLINE_EXCEEDED)
