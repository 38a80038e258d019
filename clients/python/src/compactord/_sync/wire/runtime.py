"""What threads do otherwise than asyncio does. Its twin in ``_async`` is written by hand, too."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Generic, TypeAlias, TypeVar, cast

import grpc

from compactord.connection import Settings
from compactord.errors import ClientClosedError, RpcFailure, from_rpc_error

Q = TypeVar("Q")
A = TypeVar("A")
T = TypeVar("T")

Result: TypeAlias = Annotated[T, "what a function of the caller returns"]
Channel: TypeAlias = grpc.Channel
Unary: TypeAlias = "grpc.UnaryUnaryMultiCallable[Q, A]"
Streaming: TypeAlias = "grpc.UnaryStreamMultiCallable[Q, A]"
Home: TypeAlias = str
sleep = time.sleep


def home() -> Home:
    """Always the same: any thread may use a channel."""
    return "anywhere"


def open_channel(settings: Settings) -> Channel:
    """Make a channel. It connects when it is first used."""
    if settings.tls is None:
        return grpc.insecure_channel(settings.address, settings.options())
    return grpc.secure_channel(settings.address, settings.tls.credentials(), settings.options())


def in_thread(work: Callable[[], T]) -> T:
    """Do what blocks."""
    return work()


def resolve(result: T) -> T:
    """Return what a caller's function returned: here there is nothing to wait for."""
    return result


def call(method: Unary[Q, A], request: Q, timeout: float | None) -> A:
    """Call a unary method.

    Raises:
        CompactordError: The call failed.
    """
    try:
        return method(request, timeout=timeout)
    except grpc.RpcError as error:
        raise from_rpc_error(cast(RpcFailure, error)) from error
    except ValueError as error:
        raise _closed(error) from error


class Stream(Generic[A]):
    """A call whose answers stream. It ends, and is cancelled, when the last reference to it is lost."""

    def __init__(self, method: Streaming[Q, A], request: Q, timeout: float | None) -> None:
        try:
            self._call = method(request, timeout=timeout)
        except ValueError as error:
            raise _closed(error) from error

    def read(self) -> A | None:
        """Wait for the next answer; None is the end.

        Raises:
            CompactordError: The call failed, or was cancelled.
        """
        try:
            return next(self._call)
        except StopIteration:
            return None
        except grpc.RpcError as error:
            raise from_rpc_error(cast(RpcFailure, error)) from error

    def cancel(self) -> None:
        """End the call. Any thread may do it."""
        self._call.cancel()

    def __del__(self) -> None:
        if hasattr(self, "_call"):
            self.cancel()


def _closed(error: ValueError) -> Exception:
    """What gRPC means with a ValueError: that the channel was closed, or else what it says."""
    return ClientClosedError("the client is closed") if "closed channel" in str(error) else error
