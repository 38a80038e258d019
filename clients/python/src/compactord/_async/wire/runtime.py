"""The parts of the calls that differ between asyncio and threads. The version in ``_sync`` is also handwritten."""

from __future__ import annotations

import asyncio
import inspect
from asyncio import Event as Event
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeAlias, TypeVar, cast

import grpc
import grpc.aio

from compactord.connection import Settings
from compactord.errors import cancelled, client_closed, from_rpc_error

Q = TypeVar("Q")
A = TypeVar("A")
T = TypeVar("T")

Result: TypeAlias = T | Awaitable[T]
"""The result of a function of the caller: a value or an awaitable."""
Channel: TypeAlias = grpc.aio.Channel
Unary: TypeAlias = "grpc.aio.UnaryUnaryMultiCallable[Q, A]"
Streaming: TypeAlias = "grpc.aio.UnaryStreamMultiCallable[Q, A]"
Home: TypeAlias = asyncio.AbstractEventLoop
sleep = asyncio.sleep


def home() -> Home:
    """Return the running event loop. A channel of grpc.aio only works in the loop that it was made in."""
    return asyncio.get_running_loop()


def open_channel(settings: Settings) -> Channel:
    """Make a channel. It connects at the first use."""
    if settings.tls is None:
        return grpc.aio.insecure_channel(settings.address, settings.options())
    return grpc.aio.secure_channel(settings.address, settings.tls.credentials(), settings.options())


async def in_thread(work: Callable[[], T]) -> T:
    """Run a blocking function in a thread."""
    return await asyncio.to_thread(work)


async def resolve(result: Result[T]) -> T:
    """Return the result of a caller's function. An awaitable is awaited."""
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
        raise from_rpc_error(error) from None
    except grpc.aio.UsageError:
        raise client_closed() from None
    except asyncio.CancelledError:
        if _task_runs_on():
            raise cancelled("the client was closed") from None
        raise


class Stream(Generic[A]):
    """A call with a stream of responses. It is cancelled when the last reference to it is gone."""

    def __init__(self, method: Streaming[Q, A], request: Q, timeout: float | None) -> None:
        self._cancelled = False
        self._loop = asyncio.get_running_loop()
        try:
            self._call = method(request, timeout=timeout)
        except grpc.aio.UsageError:
            raise client_closed() from None

    async def read(self) -> A | None:
        """Wait for the next response; None at the end.

        Raises:
            CompactordError: The call failed, or was cancelled.
        """
        try:
            answer = await self._call.read()
        except grpc.aio.AioRpcError as error:
            raise from_rpc_error(error) from None
        except asyncio.CancelledError:
            if (self._cancelled or _task_runs_on()) and not _task_is_cancelled():
                raise cancelled("the call was cancelled") from None
            raise
        return None if answer is grpc.aio.EOF else cast(A, answer)

    def cancel(self) -> None:
        """Cancel the call. Safe to call from any thread."""
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
    """Whether the task itself is cancelled, and not only its call. Always False on Python 3.10, which cannot tell."""
    cancelling = getattr(asyncio.current_task(), "cancelling", None)
    return cancelling is not None and cancelling() > 0


def _task_runs_on() -> bool:
    """Whether only the call is cancelled, and not the task. Always False on Python 3.10, which cannot tell."""
    cancelling = getattr(asyncio.current_task(), "cancelling", None)
    return cancelling is not None and cancelling() == 0
