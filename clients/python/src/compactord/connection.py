"""How a client reaches its daemon: address, TLS, token, deadlines, retries and the channel's options."""

from __future__ import annotations

import json
import os
import random
import secrets
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import grpc
from google.protobuf.descriptor import ServiceDescriptor

from compactord import addresses
from compactord.v1 import compaction_service_pb2, session_service_pb2

DEFAULT_ADDRESS = "127.0.0.1:7440"
ADDRESS_VARIABLE = "COMPACTORD_ADDR"

TIMEOUT = 30.0
"""Seconds that a unary call may take."""
COMPACTION_TIMEOUT = 15 * 60.0
"""Seconds that a call may take in which a summary is written."""
MAX_MESSAGE_BYTES = 64 << 20
"""Bytes of the largest request and answer."""
MAX_PAGE_BYTES = 32 << 20
"""The most that one answer holds of a view. For each of them the daemon draws the view anew."""
KEEPALIVE = 30.0
"""Seconds of silence of a call after which the daemon is asked whether it is still there."""
LEAST_KEEPALIVE = 10.0
"""The least that this may be: the daemon answers questions that come faster by closing the connection."""

ATTEMPTS = 5
FIRST_BACKOFF = 0.2
BACKOFF_FACTOR = 2.5
MAX_BACKOFF = 5.0

SERVICES: tuple[ServiceDescriptor, ...] = (
    session_service_pb2.DESCRIPTOR.services_by_name["SessionService"],
    compaction_service_pb2.DESCRIPTOR.services_by_name["CompactionService"],
)

READS = (
    "GetSession",
    "ListSessions",
    "ListMessages",
    "ListRecords",
    "RecallContent",
    "SearchMessages",
    "GetLLMView",
    "PlanCompaction",
    "CountTokens",
    "ClassifyError",
    "ListStrategies",
)
"""Calls that write nothing, and are sent again as they are."""

WRITES = (
    "CreateSession",
    "ForkSession",
    "UpdateSession",
    "AppendMessages",
    "CreateCheckpoint",
    "ClearSession",
    "PinMessages",
    "UnpinMessages",
    "CommitCompaction",
    "Prune",
)
"""Calls that are sent again with the request_id that each of them gets here."""

RESUMED = ("Compact", "WatchSession", "RevertToCheckpoint")
"""Calls that this package takes up again itself. gRPC cannot: two are streams, and a revert that has a summary written
ends in UNAVAILABLE also where the summarizer is out of reach, which no second try in a second helps."""

NEVER_RESENT = ("DeleteSession", "CancelCompaction")
"""Calls that answer NOT_FOUND the second time."""

_SLOW = {"Compact", "CommitCompaction"}
_ENDLESS = {"WatchSession"}
_NEW_SESSION_IDS = {"CreateSessionRequest": "session_id", "ForkSessionRequest": "new_session_id"}

S = TypeVar("S")


@dataclass(frozen=True)
class TLS:
    """How to encrypt, and whom to trust.

    The daemon itself has no TLS yet: this is for a proxy before it.

    Attributes:
        ca: The certificates to trust, in PEM: a path, or what such a file holds. Default: those of gRPC.
        cert: The client's own certificate chain, in PEM, for servers that ask for one. Goes with ``key``.
        key: Its private key, in PEM.
        server_name: The name that the server's certificate has, where that is not the address.
    """

    ca: str | Path | bytes | None = None
    cert: str | Path | bytes | None = None
    key: str | Path | bytes | None = field(default=None, repr=False)
    server_name: str | None = None

    def __post_init__(self) -> None:
        if (self.cert is None) != (self.key is None):
            raise ValueError("TLS: cert and key go together")

    def credentials(self) -> grpc.ChannelCredentials:
        """Read the files.

        Raises:
            OSError: A file cannot be read.
        """
        return grpc.ssl_channel_credentials(_pem(self.ca), _pem(self.key), _pem(self.cert))


Token: TypeAlias = str | Callable[[], str]
"""A token, or what answers it: it is asked before each call, and must not block."""


@dataclass(frozen=True)
class Settings:
    """All that a client is told about its connection. :class:`compactord.Client` explains the fields."""

    address: str
    tls: TLS | None
    token: Token | None = field(repr=False)
    timeout: float
    compaction_timeout: float
    max_message_bytes: int
    keepalive: float
    retry: bool

    @property
    def page_bytes(self) -> int:
        """Bytes of an answer that holds a page of a view. What the page is wrapped in must fit beside it."""
        return min(MAX_PAGE_BYTES, self.max_message_bytes // 2)

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """The metadata of a call."""
        if self.token is None:
            return ()
        token = self.token if isinstance(self.token, str) else self.token()
        return (("authorization", f"Bearer {token}"),)

    def timeout_of(self, method: str) -> float | None:
        """Seconds that a call of this method may take; None for as long as it likes."""
        if method in _ENDLESS:
            return None
        return self.compaction_timeout if method in _SLOW else self.timeout

    def options(self) -> list[tuple[str, str | int]]:
        """The options of the channel."""
        options: list[tuple[str, str | int]] = [
            ("grpc.max_receive_message_length", self.max_message_bytes),
            ("grpc.max_send_message_length", self.max_message_bytes),
            # Errors can name many calls and fields.
            ("grpc.max_metadata_size", 1 << 20),
            ("grpc.absolute_max_metadata_size", 1 << 20),
            ("grpc.keepalive_time_ms", round(self.keepalive * 1000)),
            ("grpc.keepalive_timeout_ms", 10_000),
            ("grpc.http2.max_pings_without_data", 0),
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.min_reconnect_backoff_ms", 100),
            ("grpc.max_reconnect_backoff_ms", 2_000),
            # Else closing one client, or its back-off, would touch the others of this process.
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.enable_retries", int(self.retry)),
        ]
        if self.retry:
            options.append(("grpc.service_config", service_config()))
        if self.tls is not None and self.tls.server_name is not None:
            options.append(("grpc.ssl_target_name_override", self.tls.server_name))
            options.append(("grpc.default_authority", self.tls.server_name))
        return options


def settings(
    address: str | None,
    *,
    tls: TLS | bool | None,
    token: Token | None,
    allow_plaintext_token: bool,
    timeout: float,
    compaction_timeout: float,
    max_message_bytes: int,
    keepalive: float,
    retry: bool,
) -> Settings:
    """Check what a client is told, and fill in what it is not.

    Raises:
        ValueError: The address is none, a figure is out of range, or a token would be sent in the clear.
    """
    address = addresses.checked(address or os.environ.get(ADDRESS_VARIABLE) or DEFAULT_ADDRESS)
    given = TLS() if tls is True else tls or None
    if token is not None and given is None and not addresses.is_unix(address) and not allow_plaintext_token:
        raise ValueError(
            "a token needs TLS or a Unix socket, since anyone on the way could read it; "
            "allow_plaintext_token=True sends it all the same"
        )
    if timeout <= 0 or compaction_timeout <= 0 or keepalive <= 0 or max_message_bytes <= 0:
        raise ValueError("timeout, compaction_timeout, keepalive and max_message_bytes are above 0")
    if keepalive < LEAST_KEEPALIVE:
        raise ValueError(f"keepalive: {keepalive:g} s is less than {LEAST_KEEPALIVE:g} s")
    return Settings(address, given, token, timeout, compaction_timeout, max_message_bytes, keepalive, retry)


def service_config() -> str:
    """The gRPC service config: which calls are sent again, how often, and after how long."""
    names = [
        {"service": service.full_name, "method": method.name}
        for service in SERVICES
        for method in service.methods
        if method.name in READS or method.name in WRITES
    ]
    policy = {
        "maxAttempts": ATTEMPTS,
        "initialBackoff": f"{FIRST_BACKOFF}s",
        "maxBackoff": f"{MAX_BACKOFF}s",
        "backoffMultiplier": BACKOFF_FACTOR,
        "retryableStatusCodes": ["UNAVAILABLE"],
    }
    return json.dumps({"methodConfig": [{"name": names, "retryPolicy": policy}]})


def backoffs() -> Iterator[float]:
    """Seconds to wait before each further attempt, for calls that gRPC does not send again itself."""
    wait = FIRST_BACKOFF
    for _ in range(ATTEMPTS - 1):
        yield wait * random.uniform(0.8, 1.2)
        wait = min(wait * BACKOFF_FACTOR, MAX_BACKOFF)


def new_request_id() -> str:
    """An id that makes a write safe to send again."""
    return str(uuid.uuid4())


def new_session_id() -> str:
    """An id as the daemon gives sessions that have none: a UUID, version 7."""
    value = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(uuid.UUID(int=value))


def identified(request: Any) -> Any:
    """Give a write a request_id, where it takes one and has none.

    A session that is made without an id cannot have a request_id: it gets an id, as the daemon would have given it one.
    """
    fields = request.DESCRIPTOR.fields_by_name
    if "request_id" not in fields or request.request_id or ("history" in fields and request.HasField("history")):
        return request
    copy = type(request)()
    copy.CopyFrom(request)
    copy.request_id = new_request_id()
    id_field = _NEW_SESSION_IDS.get(request.DESCRIPTOR.name)
    if id_field is not None and not getattr(copy, id_field):
        setattr(copy, id_field, new_session_id())
    return copy


class DefaultedCall:
    """A method of a stub, with the client's deadline, token and request ids."""

    def __init__(self, method: str, call: Any, settings: Settings) -> None:
        self._method = method
        self._call = call
        self._settings = settings

    @property
    def limit(self) -> float | None:
        """Seconds that a call may take which has no timeout of its own."""
        return self._settings.timeout_of(self._method)

    def __call__(
        self,
        request: Any,
        timeout: float | None = None,
        metadata: Sequence[tuple[str, str | bytes]] | None = None,
        **options: Any,
    ) -> Any:
        """Call the method, as the stub's own takes it."""
        given = tuple(metadata or ()) + self._settings.metadata()
        limit = self.limit if timeout is None else timeout
        return self._call(identified(request), timeout=limit, metadata=given or None, **options)


def unreachable(address: str, why: str) -> str:
    """What to say where no daemon answers, which gRPC tells in words of its own."""
    return f"no daemon answers at {address}: start one with `compactord serve`, or set {ADDRESS_VARIABLE} ({why})"


def limit_of(method: object, timeout: float | None) -> float | None:
    """Seconds that a call of a method with defaults may take; None for as long as it likes."""
    return method.limit if timeout is None and isinstance(method, DefaultedCall) else timeout


def with_defaults(stub: S, service: ServiceDescriptor, settings: Settings) -> S:
    """Give each method of a stub the client's defaults."""
    for method in service.methods:
        setattr(stub, method.name, DefaultedCall(method.name, getattr(stub, method.name), settings))
    return stub


def _pem(given: str | Path | bytes | None) -> bytes | None:
    if isinstance(given, str) and "-----BEGIN " in given:
        return given.encode()
    return Path(given).read_bytes() if isinstance(given, str | Path) else given
