# Generated from src/compactord/_async/compaction/compaction.py by scripts/unasync.py. Do not edit.
"""A compaction that is running."""

from __future__ import annotations

from collections.abc import Iterator, Callable
from types import TracebackType

from typing_extensions import Self, override

from compactord import v1
from compactord._sync.wire import runtime
from compactord._sync.wire.calls import Calls
from compactord.connection import backoffs, limit_of
from compactord.deadlines import Deadline
from compactord.errors import (
    CompactionRunningError,
    CompactordError,
    InternalError,
    OperationCancelledError,
    UnavailableError,
)
from compactord.results import CompactionResult, result_of


class Compaction:
    """A compaction: iterate over it for its events. It starts when the first event is requested.

    It is cancelled by :meth:`cancel` and :meth:`close`, by leaving the loop or the ``with`` block, and when the last
    reference to it is gone; but with ``detach`` it continues. A cancelled compaction only writes its attempt to the
    log. After the commit, cancelling has no effect.

    Where the connection breaks, the compaction is requested again with the same request id. Its events then start
    again, or ``completed`` comes at once where it was committed.
    """

    def __init__(
        self,
        calls: Calls,
        request: v1.CompactRequest,
        timeout: float | None,
        left: set[str],
        abort_turn: Callable[[], bool] | None = None,
    ) -> None:
        """Make a compaction for ``Session.compaction_events``, which describes the arguments.

        ``left`` has the operation ids of the session's cancelled compactions. ``abort_turn`` aborts the running turn
        and returns whether that cancelled a compaction.
        """
        self._calls = calls
        self._abort_turn = abort_turn
        self._request = request
        self._timeout = timeout
        self._stream: runtime.Stream[v1.CompactResponse] | None = None
        self._waits = backoffs()
        self._deadline = Deadline(None)
        self._left = left
        self._operation_id = ""
        self._broken = False
        self._over = False
        self._cancelled = False
        self._result: CompactionResult | None = None

    @property
    def result(self) -> CompactionResult:
        """How the compaction ended.

        Raises:
            RuntimeError: The compaction is still running, failed or was cancelled.
        """
        if self._result is None:
            raise RuntimeError("the compaction has no result: iterate over its events to the end first")
        return self._result

    def cancel(self) -> None:
        """Cancel the compaction. An iteration over its events then raises an :class:`OperationCancelledError`."""
        self._cancelled = True
        if self._operation_id and not self._request.detach:
            self._left.add(self._operation_id)
        if self._stream is not None:
            self._stream.cancel()

    def close(self) -> None:
        """Cancel the compaction if it is still running."""
        if not self._over:
            self.cancel()

    def wait(self) -> CompactionResult:
        """Wait for the end of the compaction.

        Raises:
            CompactordError: The compaction failed. The class depends on the reason.
            OperationCancelledError: The compaction was cancelled.
        """
        while self.next_event() is not None:
            pass
        return self.result

    def next_event(self) -> v1.CompactionEvent | None:
        """Wait for the next event; None at the end.

        Raises:
            CompactordError: The compaction failed. The class depends on the reason.
            OperationCancelledError: The compaction was cancelled.
        """
        self._abort_running_turn()
        while not self._over:
            try:
                response = self._opened().read()
            except CompactordError as error:
                if self._result is not None:
                    break
                failure = self._deadline.classified(error)
                if not self._should_retry(failure):
                    self._over = True
                    raise failure from error.__cause__
                continue
            except BaseException:
                self.cancel()
                self._over = True
                raise
            if response is None:
                break
            result = result_of(response.event)
            self._result = self._result if result is None else result
            self._broken = False
            self._operation_id = response.event.operation_id
            return response.event
        if not self._over and self._result is None:
            self._over = True
            raise InternalError("the stream of the compaction ended before its last event")
        self._over = True
        return None

    def __iter__(self) -> Iterator[v1.CompactionEvent]:
        return _Events(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _abort_running_turn(self) -> None:
        """Abort the running turn before the compaction starts."""
        abort_turn, self._abort_turn = self._abort_turn, None
        if abort_turn is not None and not self._cancelled and abort_turn():
            # The compaction of the turn may take a moment to end.
            self._request.preempt = True

    def _opened(self) -> runtime.Stream[v1.CompactResponse]:
        if self._cancelled:
            raise OperationCancelledError("the compaction was cancelled")
        if self._stream is None:
            method = self._calls.compactions.Compact
            self._deadline = Deadline(limit_of(method, self._timeout))
            self._stream = runtime.Stream(method, self._request, self._timeout)
            self._end_if_cancelled()
        return self._stream

    def _end_if_cancelled(self) -> None:
        """Cancel the stream where another thread cancelled the compaction while the stream was opened."""
        if self._cancelled and self._stream is not None:
            self._stream.cancel()

    def _should_retry(self, error: CompactordError) -> bool:
        """Whether to request the compaction again. Waits before it returns True."""
        # A compaction of the broken connection, or one cancelled before, may take a moment to end.
        lingers = isinstance(error, CompactionRunningError) and (self._broken or error.operation_id in self._left)
        if self._cancelled or not (lingers or isinstance(error, UnavailableError)) or not self._calls.settings.retry:
            return False
        wait = next(self._waits, None)
        if wait is None:
            return False
        self._broken = True
        self._stream = None
        runtime.sleep(wait)
        return True


class _Events(Iterator[v1.CompactionEvent]):
    """An iteration over the events of a compaction. Abandoning it cancels the compaction."""

    def __init__(self, compaction: Compaction) -> None:
        self._compaction = compaction
        self._ended = False

    @override
    def __next__(self) -> v1.CompactionEvent:
        try:
            event = self._compaction.next_event()
        except BaseException:
            self._ended = True
            raise
        if event is None:
            self._ended = True
            raise StopIteration
        return event

    def __del__(self) -> None:
        if not self._ended:
            self._compaction.cancel()
