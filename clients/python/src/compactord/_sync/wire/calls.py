# Generated from src/compactord/_async/wire/calls.py by scripts/unasync.py. Do not edit.
"""The calls of a client: one channel, its stubs, and the conversion of gRPC's errors."""

from __future__ import annotations

import threading
import time
from typing import TypeVar

from compactord._sync.wire import runtime
from compactord._sync.wire.stubs import CompactionStub, SessionStub
from compactord.connection import (
    ATTEMPTS,
    SERVICES,
    Settings,
    absence,
    backoffs,
    busy_for,
    explained,
    is_repeated,
    limit_of,
    with_defaults,
)
from compactord.deadlines import Deadline
from compactord.errors import CompactordError, UnavailableError, client_closed
from compactord.v1.compaction_service_pb2_grpc import CompactionServiceStub
from compactord.v1.session_service_pb2_grpc import SessionServiceStub

Q = TypeVar("Q")
A = TypeVar("A")

_HEALTH = "/grpc.health.v1.Health/Check"
_SERVING = b"\x08\x01"


class Calls:
    """The calls of one client and all its sessions. The connection is made at the first use."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._mutex = threading.Lock()
        self._closed = False
        self._home: runtime.Home | None = None
        self._channel: runtime.Channel | None = None
        self._sessions: SessionStub | None = None
        self._compactions: CompactionStub | None = None
        self._left: dict[str, set[str]] = {}
        self._found = False

    def left(self, session_id: str) -> set[str]:
        """Return the operation ids of compactions of a session that this client cancelled, for the caller to change.

        The daemon may take a moment to end them. "" stands for one whose id had not come.
        """
        return self._left.setdefault(session_id, set())

    @property
    def sessions(self) -> SessionStub:
        """The stub of SessionService, with the client's deadlines, token and request ids."""
        channel = self._open()
        with self._mutex:
            if self._sessions is None:
                self._sessions = with_defaults(SessionServiceStub(channel), SERVICES[0], self.settings)
            return self._sessions

    @property
    def compactions(self) -> CompactionStub:
        """The stub of CompactionService, with the client's deadlines, token and request ids."""
        channel = self._open()
        with self._mutex:
            if self._compactions is None:
                self._compactions = with_defaults(CompactionServiceStub(channel), SERVICES[1], self.settings)
            return self._compactions

    def unary(self, method: runtime.Unary[Q, A], request: Q, timeout: float | None = None) -> A:
        """Call a method, and call it again where the daemon was busy and says when to.

        Raises:
            CompactordError: The call failed. Its ``request_id`` is the request's.
        """
        limit = limit_of(method, timeout)
        end = None if limit is None else time.monotonic() + limit
        attempts = ATTEMPTS if self.settings.retry else 1
        while True:
            attempts -= 1
            try:
                return self._once(method, request, timeout)
            except CompactordError as error:
                wait = busy_for(error)
                if wait is None or attempts == 0 or (end is not None and time.monotonic() + wait >= end):
                    raise
            runtime.sleep(wait)
            timeout = None if end is None else max(end - time.monotonic(), 0.0)

    def _once(self, method: runtime.Unary[Q, A], request: Q, timeout: float | None) -> A:
        limit = limit_of(method, timeout)
        deadline = Deadline(limit)
        if is_repeated(method):
            began = time.monotonic()
            self.find_daemon(limit)
            timeout = None if limit is None else max(limit - (time.monotonic() - began), 0.0)
        try:
            return runtime.call(method, request, timeout)
        except CompactordError as error:
            failure = deadline.classified(error)
            failure.request_id = getattr(request, "request_id", "")
            raise explained(failure, self.settings) from None

    def find_daemon(self, limit: float | None) -> None:
        """Ask once, before the first call, whether there can be a daemon: calls are repeated for seconds without one.

        A daemon that was there once is waited for, as while it restarts.

        Args:
            limit: The timeout of the call that follows, in seconds; None without a limit.

        Raises:
            UnavailableError: Nothing listens at the address.
        """
        if self._found:
            return
        try:
            self._health(self.settings.timeout if limit is None else limit)
        except UnavailableError as error:
            if not error.from_daemon and absence(error.message):
                explained(error, self.settings)
                raise
        except CompactordError:
            # The call itself tells what is wrong.
            pass
        self._found = True

    def resent(self, method: runtime.Unary[Q, A], request: Q, timeout: float) -> A:
        """Call a method that gRPC does not repeat itself, and repeat it where no daemon answers.

        Args:
            method: The method of a stub.
            request: The request.
            timeout: The timeout of all attempts together, in seconds.
        """
        end = time.monotonic() + timeout
        self.find_daemon(timeout)
        waits = backoffs()
        left = max(end - time.monotonic(), 0.0)
        while True:
            try:
                return self.unary(method, request, left)
            except UnavailableError:
                wait = next(waits, None) if self.settings.retry else None
                if wait is None or time.monotonic() + wait >= end:
                    raise
                runtime.sleep(wait)
                left = max(end - time.monotonic(), 0.0)

    def healthy(self, timeout: float) -> bool:
        """Ask the daemon whether it serves."""
        try:
            return self._health(timeout) == _SERVING
        except UnavailableError:
            return False

    def _health(self, timeout: float) -> bytes:
        check = self._open().unary_unary(_HEALTH, request_serializer=_unchanged, response_deserializer=_unchanged)
        return runtime.call(check, b"", timeout)

    def close(self) -> None:
        """End all calls and close the channel. Safe to call again."""
        with self._mutex:
            self._closed = True
            channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()

    def _open(self) -> runtime.Channel:
        home = runtime.home()
        with self._mutex:
            if self._closed:
                raise client_closed()
            if self._channel is None:
                self._channel, self._home = runtime.open_channel(self.settings), home
            elif home is not self._home:
                raise RuntimeError("the client belongs to another event loop: make one for each")
            return self._channel


def _unchanged(data: bytes) -> bytes:
    return data
