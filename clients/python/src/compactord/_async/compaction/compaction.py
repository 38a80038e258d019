"""A compaction that is running."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType

from typing_extensions import Self, override

from compactord import v1
from compactord._async.wire import runtime
from compactord._async.wire.calls import AsyncCalls
from compactord.connection import backoffs, explained, limit_of
from compactord.deadlines import Deadline
from compactord.errors import (
    CompactordError,
    DeadlineExceededError,
    UnavailableError,
    cancelled,
    internal,
)
from compactord.results import CompactionResult, result_of
from compactord.warned import fallback, warn

# How long to wait, in seconds, until the daemon reports the end of a cancelled compaction.
_CANCEL_TIMEOUT = 5.0


class AsyncCompaction:
    """A compaction: iterate over it for its events. It starts when the first event is requested.

    It is cancelled by :meth:`cancel` and :meth:`close`, by leaving the loop or the ``with`` block, and when the last
    reference to it is gone; but with ``detach`` it continues. A cancelled compaction only writes its attempt to the
    log. After the commit, cancelling has no effect.

    The daemon has ended it when :meth:`close` returns, after the ``with`` block, and when the iteration has raised
    because of :meth:`cancel`, an interrupt or the end of its task. It is waited for at most five seconds. Only where
    nothing can wait, after leaving a loop outside of a ``with`` block, and where its first event has not come, it ends
    a moment later. The client's next compaction of the session waits for it.

    Where the connection breaks, the compaction is requested again with the same request id. Its events then start
    again, or ``completed`` comes at once where it was committed.
    """

    def __init__(
        self,
        calls: AsyncCalls,
        request: v1.CompactRequest,
        timeout: float | None,
        left: set[str],
        abort_turn: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        """Make a compaction for ``AsyncSession.compacting``, which describes the arguments.

        ``left`` has the operation ids of the session's compactions that this client cancelled, "" for one whose id had
        not come.
        ``abort_turn`` aborts the running turn and returns whether that cancelled a compaction.
        """
        self._calls = calls
        self._abort_turn = abort_turn
        self._request = request
        self._timeout = timeout
        self._stream: runtime.Stream[v1.CompactResponse] | None = None
        self._waits = backoffs()
        self._deadline = Deadline(None)
        self._left = left
        # Those of them whose end was waited for.
        self._awaited: set[str] = set()
        self._operation_id = ""
        self._broken = False
        self._over = False
        self._cancelled = False
        self._ended_there = False
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
        """Cancel the compaction, without waiting for its end; :meth:`close` waits. Safe to call from any thread.

        An iteration over its events then raises an error with the reason ``CANCELLED``, once the daemon has ended it.
        """
        self._cancelled = True
        if self._stream is not None:
            self._leave()
            self._stream.cancel()

    async def close(self) -> None:
        """Cancel the compaction if it is still running, and wait until the daemon has ended it."""
        if not self._over:
            self.cancel()
            await self._end()

    async def _next_event(self) -> v1.CompactionEvent | None:
        """Wait for the next event; None at the end.

        Raises:
            CompactordError: The compaction failed, or was cancelled: ``reason`` says why.
        """
        await self._abort_running_turn()
        if self._stream is None and not self._over and not self._cancelled:
            await self._calls.find_daemon(limit_of(self._calls.compactions.Compact, self._timeout))
        while not self._over:
            try:
                response = await self._opened().read()
            except CompactordError as error:
                if self._result is not None:
                    break
                if await self._should_retry(self._deadline.classified(error)):
                    _drop_frames(error)
                    continue
                self._over = True
                if self._cancelled:
                    await self._end()
                raise self._failed(error) from None
            except BaseException:
                self.cancel()
                self._over = True
                await self._end()
                raise
            if response is None:
                break
            result = result_of(response.event)
            self._result = self._result if result is None else result
            self._broken = False
            self._operation_id = response.event.operation_id
            if response.event.HasField("started"):
                # One compaction of a session runs at a time: those before it have ended.
                self._left.clear()
            if result is not None:
                warn(fallback(result.fallback_cause))
            return response.event
        if not self._over and self._result is None:
            self._over = True
            raise internal("the stream of the compaction ended before its last event")
        self._over = True
        return None

    def __aiter__(self) -> AsyncIterator[v1.CompactionEvent]:
        return _AsyncEvents(self._next_event, self.cancel)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _abort_running_turn(self) -> None:
        """Abort the running turn before the compaction starts."""
        abort_turn, self._abort_turn = self._abort_turn, None
        if abort_turn is not None and not self._cancelled and await abort_turn():
            # The compaction of the turn may take a moment to end.
            self._request.preempt = True

    def _leave(self) -> None:
        """Note that the daemon may still be ending the compaction."""
        if self._result is None and not self._request.detach:
            self._left.add(self._operation_id)

    async def _end(self) -> None:
        """End the compaction in the daemon, so that the next call finds none running. Later calls do nothing.

        The end of the stream cancels it, too. Where the daemon does not know it any more, or does not answer, there is
        nothing to wait for.
        """
        if self._ended_there or not self._operation_id or self._result is not None or self._request.detach:
            return
        self._ended_there = True
        await self._await_end(self._operation_id)

    async def _await_end(self, operation_id: str) -> None:
        """Cancel a compaction and wait until the daemon has ended it, or does not answer."""
        request = v1.CancelCompactionRequest(session_id=self._request.session_id, operation_id=operation_id)
        try:
            await self._calls.unary(self._calls.compactions.CancelCompaction, request, _CANCEL_TIMEOUT)
        except CompactordError as error:
            _drop_frames(error)

    def _failed(self, error: CompactordError) -> CompactordError:
        """Return the error to raise at the end of the compaction."""
        failure = self._deadline.classified(error)
        if isinstance(failure, DeadlineExceededError):
            self._leave()
        return explained(failure, self._calls.settings)

    def _opened(self) -> runtime.Stream[v1.CompactResponse]:
        if self._cancelled:
            raise cancelled("the compaction was cancelled")
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

    async def _should_retry(self, error: CompactordError) -> bool:
        """Whether to request the compaction again. Waits before it returns True."""
        running = error.metadata.get("operation_id", "") if error.reason == "COMPACTION_RUNNING" else None
        if running and running in self._left - self._awaited and not self._cancelled:
            # One that was cancelled before, when nothing could wait.
            self._awaited.add(running)
            self._stream = None
            await self._await_end(running)
            return True
        # A compaction of the broken connection, or one cancelled before, may take a moment to end.
        lingers = running is not None and (self._broken or "" in self._left or running in self._left)
        if self._cancelled or not (lingers or isinstance(error, UnavailableError)) or not self._calls.settings.retry:
            return False
        wait = next(self._waits, None)
        if wait is None:
            return False
        self._broken = True
        self._stream = None
        await runtime.sleep(wait)
        return True


def _drop_frames(error: BaseException) -> None:
    """Let go of the frames of an error that was handled.

    gRPC's errors are in a circle with their frames, which hold the iteration. It must be gone when the caller's loop
    is left, and not at the next garbage collection.
    """
    handled: BaseException | None = error
    while handled is not None:
        handled.__traceback__ = None
        handled = handled.__context__


class _AsyncEvents(AsyncIterator[v1.CompactionEvent]):
    """An iteration over the events of a compaction. Abandoning it cancels the compaction."""

    def __init__(
        self, next_event: Callable[[], Awaitable[v1.CompactionEvent | None]], cancel: Callable[[], None]
    ) -> None:
        self._next_event = next_event
        self._cancel = cancel
        self._ended = False

    @override
    async def __anext__(self) -> v1.CompactionEvent:
        try:
            event = await self._next_event()
        except BaseException:
            self._ended = True
            raise
        if event is None:
            self._ended = True
            raise StopAsyncIteration
        return event

    def __del__(self) -> None:
        if not self._ended:
            self._cancel()
