"""What asyncio does otherwise than threads do. Its twin in ``_sync`` is written by hand, too."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeAlias, TypeVar, cast

import grpc
import grpc.aio

from compactord.connection import Settings
from compactord.errors import ClientClosedError, OperationCancelledError, from_rpc_error

Q = TypeVar("Q")
A = TypeVar("A")
T = TypeVar("T")

Result: TypeAlias = T | Awaitable[T]
"""What a function of the caller's returns, which may be something to wait for."""
Channel: TypeAlias = grpc.aio.Channel
Unary: TypeAlias = "grpc.aio.UnaryUnaryMultiCallable[Q, A]"
Streaming: TypeAlias = "grpc.aio.UnaryStreamMultiCallable[Q, A]"
Home: TypeAlias = asyncio.AbstractEventLoop
sleep = asyncio.sleep


def home() -> Home:
    """The event loop that runs: a channel of grpc.aio belongs to the one that it was made in."""
    return asyncio.get_running_loop()


def open_channel(settings: Settings) -> Channel:
    """Make a channel. It connects when it is first used."""
    if settings.tls is None:
        return grpc.aio.insecure_channel(settings.address, settings.options())
    return grpc.aio.secure_channel(settings.address, settings.tls.credentials(), settings.options())


async def in_thread(work: Callable[[], T]) -> T:
    """Do what blocks without holding up others."""
    return await asyncio.to_thread(work)


async def resolve(result: Result[T]) -> T:
    """Wait for what a caller's function returned, where it is something to wait for."""
    given = cast("Any", result)
    value: T = await given if inspect.isawaitable(result) else given
    return value


async def call(method: Unary[Q, A], request: Q, timeout: float | None) -> A:
    """Call a unary method.

    Raises:
        CompactordError: The call failed.
    """
    try:
        return await method(request, timeout=timeout)
    except grpc.aio.AioRpcError as error:
        raise from_rpc_error(error) from error
    except grpc.aio.UsageError as error:
        raise ClientClosedError("the client is closed") from error
    except asyncio.CancelledError as error:
        if _task_runs_on():
            raise OperationCancelledError("the client was closed", code=grpc.StatusCode.CANCELLED) from error
        raise


class Stream(Generic[A]):
    """A call whose answers stream. It ends, and is cancelled, when the last reference to it is lost."""

    def __init__(self, method: Streaming[Q, A], request: Q, timeout: float | None) -> None:
        self._cancelled = False
        self._loop = asyncio.get_running_loop()
        try:
            self._call = method(request, timeout=timeout)
        except grpc.aio.UsageError as error:
            raise ClientClosedError("the client is closed") from error

    async def read(self) -> A | None:
        """Wait for the next answer; None is the end.

        Raises:
            CompactordError: The call failed, or was cancelled.
        """
        try:
            answer = await self._call.read()
        except grpc.aio.AioRpcError as error:
            raise from_rpc_error(error) from error
        except asyncio.CancelledError as error:
            if (self._cancelled or _task_runs_on()) and not _task_is_cancelled():
                raise OperationCancelledError("the call was cancelled", code=grpc.StatusCode.CANCELLED) from error
            raise
        return None if answer is grpc.aio.EOF else cast(A, answer)

    def cancel(self) -> None:
        """End the call. Any thread may do it."""
        self._cancelled = True
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            running = None
        if running is self._loop:
            self._call.cancel()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._call.cancel)

    def __del__(self) -> None:
        if hasattr(self, "_call"):
            self.cancel()


def _task_is_cancelled() -> bool:
    """Whether it is the task that is cancelled, and not only its call. Python 3.10 does not tell: False."""
    cancelling = getattr(asyncio.current_task(), "cancelling", None)
    return cancelling is not None and cancelling() > 0


def _task_runs_on() -> bool:
    """Whether it is only the call that is cancelled, and not its task. Python 3.10 does not tell: False."""
    cancelling = getattr(asyncio.current_task(), "cancelling", None)
    return cancelling is not None and cancelling() == 0
