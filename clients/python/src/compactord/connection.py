"""The settings of a connection to the daemon: address, TLS, token, deadlines, retries and channel options."""

from __future__ import annotations

import json
import os
import random
import secrets
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import grpc
from google.protobuf.descriptor import ServiceDescriptor

from compactord import addresses, arguments, tokens
from compactord.binary import start_command, to_build
from compactord.errors import CompactordError, UnauthenticatedError, UnavailableError
from compactord.tokens import Token
from compactord.v1 import compaction_service_pb2, session_service_pb2

DEFAULT_ADDRESS = "127.0.0.1:7440"
ADDRESS_VARIABLE = "COMPACTORD_ADDR"

TIMEOUT = 30.0
"""The timeout of a unary call, in seconds."""
COMPACTION_TIMEOUT = 15 * 60.0
"""The timeout of a call that may write a summary, in seconds."""
MAX_MESSAGE_BYTES = 64 << 20
"""The size of the largest request and response, in bytes."""
MAX_PAGE_BYTES = 32 << 20
"""The most bytes of a view in one response. The daemon makes the whole view again for each of them."""
KEEPALIVE = 30.0
"""Seconds without data on a call before the client sends a keepalive ping."""
LEAST_KEEPALIVE = 10.0
"""The lowest value of keepalive: the daemon closes a connection that pings more often."""

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
    "ListContextBlocks",
    "RecallContent",
    "SearchMessages",
    "GetLLMView",
    "PlanCompaction",
    "CountTokens",
    "ClassifyError",
    "ListStrategies",
)
"""Calls that write nothing. They are sent again unchanged."""

WRITES = (
    "CreateSession",
    "ForkSession",
    "EndChild",
    "UpdateSession",
    "AppendMessages",
    "CreateCheckpoint",
    "ClearSession",
    "PinMessages",
    "UnpinMessages",
    "UpdateContextBlocks",
    "ReplaceInstructions",
    "CommitCompaction",
    "Prune",
)
"""Calls that write. Each gets a request_id here, so that it is safe to send again."""

RESUMED = ("Compact", "WatchSession", "SyncMessages", "RevertToCheckpoint")
"""Calls that this package resumes itself, since gRPC cannot. Three are streams. A revert with a summary also fails with
UNAVAILABLE where the summarizer cannot be reached; a retry within seconds does not help then."""

NEVER_RESENT = ("DeleteSession", "CancelCompaction")
"""Calls that are never sent again, since the second one would fail with NOT_FOUND."""

BUSY = ("MEMORY_EXHAUSTED", "TOO_MANY_WAITING", "SLOW_READER")
"""The reasons for which calls are sent again after the time that the daemon says, since it had too much to do."""

_SLOW = {"Compact", "CommitCompaction", "SyncMessages"}
_ENDLESS = {"WatchSession"}
_NEW_SESSION_IDS = {"CreateSessionRequest": "session_id", "ForkSessionRequest": "new_session_id"}

S = TypeVar("S")


@dataclass(frozen=True)
class TLS:
    """The TLS settings: which certificates to trust and to send.

    They are for a daemon with TLS, or for a proxy in front of it.

    Attributes:
        ca: The certificates to trust, in PEM: a path, or the content of such a file. Default: those of gRPC.
        cert: The client's own certificate chain, in PEM, for servers that ask for one. Needs ``key``.
        key: The private key of ``cert``, in PEM.
        server_name: The name in the server's certificate, where it is not the address.
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


@dataclass(frozen=True)
class Settings:
    """The settings of a client's connection. :class:`compactord.Client` explains the fields."""

    address: str
    tls: TLS | None
    token: Token | None = field(repr=False)
    timeout: float
    compaction_timeout: float
    max_message_bytes: int
    keepalive: float
    retry: bool
    token_given: bool = False

    @property
    def page_bytes(self) -> int:
        """The most bytes of a view in one response. Half of the message limit is left for the rest of the response."""
        return min(MAX_PAGE_BYTES, self.max_message_bytes // 2)

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """The metadata of a call."""
        if self.token is None:
            return ()
        token = self.token if isinstance(self.token, str) else self.token()
        return (("authorization", f"Bearer {token}"),) if token else ()

    def timeout_of(self, method: str) -> float | None:
        """The timeout of this method in seconds; None without a limit."""
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
            # Without it, clients of one process share connections: closing one, or its backoff, affects the others.
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
    """Check the settings of a client and fill in the defaults.

    Raises:
        ValueError: The address is not valid, a number is out of range, or a token would be sent without encryption.
    """
    address = addresses.checked(address or os.environ.get(ADDRESS_VARIABLE) or DEFAULT_ADDRESS)
    given = TLS() if tls is True else tls or None
    sent = tokens.chosen(token, address, encrypted=given is not None, allow_plaintext=allow_plaintext_token)
    arguments.numbers(
        timeout=timeout,
        compaction_timeout=compaction_timeout,
        keepalive=keepalive,
        max_message_bytes=max_message_bytes,
    )
    if timeout <= 0 or compaction_timeout <= 0 or keepalive <= 0 or max_message_bytes <= 0:
        raise ValueError("timeout, compaction_timeout, keepalive and max_message_bytes must be above 0")
    if keepalive < LEAST_KEEPALIVE:
        raise ValueError(f"keepalive: {keepalive:g} s is less than {LEAST_KEEPALIVE:g} s")
    return Settings(
        address,
        given,
        sent,
        timeout,
        compaction_timeout,
        max_message_bytes,
        keepalive,
        retry,
        token_given=token is not None,
    )


def service_config() -> str:
    """The gRPC service config: which calls gRPC sends again, how often, and after what time."""
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
    """Yield the seconds to wait before each further attempt, for calls that gRPC does not send again itself."""
    wait = FIRST_BACKOFF
    for _ in range(ATTEMPTS - 1):
        yield wait * random.uniform(0.8, 1.2)
        wait = min(wait * BACKOFF_FACTOR, MAX_BACKOFF)


def busy_for(error: CompactordError) -> float | None:
    """The seconds after which to send a call again that the daemon was too busy for; None where that was not why.

    The daemon did nothing of such a call, so each is safe to send again.
    """
    if error.reason not in BUSY or error.retry_after is None:
        return None
    # Not before the daemon's time, and not all clients at the same moment.
    return error.retry_after.total_seconds() * random.uniform(1.0, 1.5)


def new_request_id() -> str:
    """Make a request id, which makes a write safe to send again."""
    return str(uuid.uuid4())


def new_session_id() -> str:
    """Make a session id as the daemon does: a UUID of version 7."""
    value = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(uuid.UUID(int=value))


def identified(request: Any) -> Any:
    """Return the request with a request_id, where it has that field and the field is empty.

    The daemon accepts a request_id for a new session only together with the session's id, so this sets that too.
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
    """A method of a stub with the client's deadline, token and request ids."""

    def __init__(self, method: str, call: Any, settings: Settings) -> None:
        self._method = method
        self._call = call
        self._settings = settings

    @property
    def repeated(self) -> bool:
        """Whether gRPC sends a call again where no daemon answers."""
        return self._settings.retry and (self._method in READS or self._method in WRITES)

    @property
    def limit(self) -> float | None:
        """The timeout of a call that is made without one, in seconds; None without a limit."""
        return self._settings.timeout_of(self._method)

    def __call__(
        self,
        request: Any,
        timeout: float | None = None,
        metadata: Sequence[tuple[str, str | bytes]] | None = None,
        **options: Any,
    ) -> Any:
        """Call the method. The arguments are those of the stub's method."""
        given = tuple(metadata or ()) + self._settings.metadata()
        limit = self.limit if timeout is None else timeout
        return self._call(identified(request), timeout=limit, metadata=given or None, **options)


_ABSENT = {
    "connection refused": "nothing listens there",
    "no such file or directory": "there is no such socket",
    "domain name not found": "there is no host of this name",
    "name or service not known": "there is no host of this name",
}
"""What the texts of gRPC say where no daemon can be there, in short."""


def absence(why: str) -> str | None:
    """Return why no daemon can be at an address; None where one may be there. ``why`` is the text of gRPC."""
    text = why.lower()
    return next((short for said, short in _ABSENT.items() if said in text), None)


def unreachable(address: str, why: str) -> str:
    """The error text where no daemon answers. ``why`` is the text of gRPC."""
    start = start_command()
    if address != DEFAULT_ADDRESS and addresses.is_local(address):
        start = f"{start} --listen {address}"
    short = absence(why) or why
    return f"no daemon answers at {address}: start one with `{start}`{to_build()}, or set {ADDRESS_VARIABLE} ({short})"


def explained(error: CompactordError, settings: Settings) -> CompactordError:
    """Add to the text of an error what only the client knows: the address, and where its token comes from."""
    if isinstance(error, UnavailableError) and not error.from_daemon:
        error.message = unreachable(settings.address, error.message)
    elif isinstance(error, UnauthenticatedError):
        error.message = f"{error.message}: {tokens.origin(settings.token, given=settings.token_given)}"
    return error


def is_repeated(method: object) -> bool:
    """Whether gRPC repeats a call of the method by itself where no daemon answers."""
    return isinstance(method, DefaultedCall) and method.repeated


def limit_of(method: object, timeout: float | None) -> float | None:
    """The timeout of a call in seconds: the given one, else the default of the method; None without a limit."""
    return method.limit if timeout is None and isinstance(method, DefaultedCall) else timeout


def with_defaults(stub: S, service: ServiceDescriptor, settings: Settings) -> S:
    """Wrap each method of a stub in a :class:`DefaultedCall`."""
    for method in service.methods:
        setattr(stub, method.name, DefaultedCall(method.name, getattr(stub, method.name), settings))
    return stub


def _pem(given: str | Path | bytes | None) -> bytes | None:
    if isinstance(given, str) and "-----BEGIN " in given:
        return given.encode()
    return Path(given).read_bytes() if isinstance(given, str | Path) else given
