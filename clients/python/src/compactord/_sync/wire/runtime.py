"""The parts of the calls that differ between threads and asyncio. The version in ``_async`` is also handwritten."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator
from threading import Event as Event
from typing import Annotated, Generic, TypeAlias, TypeVar, cast

import grpc

from compactord.connection import Settings
from compactord.errors import RpcFailure, cancelled, client_closed, from_rpc_error

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
    """Return None: a channel works in every thread."""
    return "anywhere"


def open_channel(settings: Settings) -> Channel:
    """Make a channel. It connects at the first use."""
    if settings.tls is None:
        return grpc.insecure_channel(settings.address, settings.options())
    return grpc.secure_channel(settings.address, settings.tls.credentials(), settings.options())


def in_thread(work: Callable[[], T]) -> T:
    """Run a blocking function."""
    return work()


def resolve(result: T) -> T:
    """Return the result of a caller's function unchanged: without asyncio there is nothing to await."""
    return result


def call(method: Unary[Q, A], request: Q, timeout: float | None) -> A:
    """Call a unary method.

    Raises:
        CompactordError: The call failed.
    """
    try:
        return method(request, timeout=timeout)
    except grpc.RpcError as error:
        raise from_rpc_error(cast(RpcFailure, error)) from None
    except ValueError as error:
        raise _closed(error) from None


class Stream(Generic[A]):
    """A call with a stream of responses. It is cancelled when the last reference to it is gone.

    An interceptor, such as OpenTelemetry's, can put a generator around the call, which can only be closed, and not while a
    thread waits in it: that thread then closes it after the next response.
    """

    def __init__(self, method: Streaming[Q, A], request: Q, timeout: float | None) -> None:
        self._cancelled = False
        try:
            self._call = method(request, timeout=timeout)
        except ValueError as error:
            raise _closed(error) from None
        generated = isinstance(cast(object, self._call), Generator)
        self._generator = cast("Generator[A, None, None]", self._call) if generated else None

    def read(self) -> A | None:
        """Wait for the next response; None at the end.

        Raises:
            CompactordError: The call failed, or was cancelled.
        """
        response = None
        try:
            response = next(self._call)
        except StopIteration:
            pass
        except grpc.RpcError as error:
            raise from_rpc_error(cast(RpcFailure, error)) from None
        if self._cancelled and self._generator is not None:
            self._generator.close()
            raise cancelled("the call was cancelled")
        return response

    def cancel(self) -> None:
        """Cancel the call. Safe to call from any thread."""
        self._cancelled = True
        if self._generator is None:
            self._call.cancel()
            return
        with contextlib.suppress(ValueError):
            self._generator.close()

    def __del__(self) -> None:
        if hasattr(self, "_call"):
            self.cancel()


def _closed(error: ValueError) -> Exception:
    """Convert a ValueError of gRPC: the error of a closed client where the channel is closed, else the error itself."""
    return client_closed() if "closed channel" in str(error) else error
