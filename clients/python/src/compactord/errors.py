"""The exceptions of this package.

All classes derive from :class:`CompactordError`. What most programs catch has a class of its own; all other errors are
told apart by ``reason``, whose words :data:`ReasonName` lists. The text is for people. No error contains content of a
conversation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, Protocol, TypeAlias, cast

import grpc
from typing_extensions import override

from compactord import details

_DETAILS = "grpc-status-details-bin"
_PREFIX = "ERROR_REASON_"

Metadata: TypeAlias = Iterable[tuple[str, str | bytes]]
"""Metadata of an RPC: pairs of key and value."""

ReasonName: TypeAlias = Literal[
    # Reasons of the daemon, whose metadata the contract's `error.proto` says.
    "BREAKER_OPEN",
    "CANCELLED",
    "CHECKPOINT_NOT_FOUND",
    "CHECKPOINT_PUT_ASIDE",
    "CHILD_ENDED",
    "COMPACTION_RUNNING",
    "CONTENT_NOT_FOUND",
    "DEADLINE_EXCEEDED",
    "HAS_CHILDREN",
    "HISTORY_REVERTED",
    "INPUT_MALFORMED",
    "INTERNAL",
    "INTERRUPTED",
    "INVALID_FIELD",
    "INVALID_POLICY",
    "INVALID_TOKEN",
    "LIMIT_EXCEEDED",
    "MEMORY_EXHAUSTED",
    "MESSAGE_PUT_ASIDE",
    "NOTHING_TO_REVERT",
    "NOT_IMPLEMENTED",
    "NO_PARENT",
    "OPERATION_NOT_FOUND",
    "PERMISSION_DENIED",
    "PLAN_INVALID",
    "POINT_OUT_OF_RANGE",
    "REQUEST_ID_REUSED",
    "SESSION_EXISTS",
    "SESSION_NOT_FOUND",
    "SHUTTING_DOWN",
    "SLOW_READER",
    "STATE_CHANGED",
    "STORE_CORRUPT",
    "STORE_UNAVAILABLE",
    "SUMMARIZER_REFUSED",
    "SUMMARIZER_UNAVAILABLE",
    "SUMMARY_REJECTED",
    "SYNC_CONFLICT",
    "TARGET_UNREACHABLE",
    "TOOL_CALLS_OPEN",
    "TOO_MANY_WAITING",
    "UNAUTHENTICATED",
    "UNKNOWN_NAME",
    "VIEW_INVALID",
    "WATCHER_TOO_SLOW",
    "WRONG_NEXT_INDEX",
    # Errors of gRPC itself: the name of the status.
    "ABORTED",
    "ALREADY_EXISTS",
    "DATA_LOSS",
    "FAILED_PRECONDITION",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "OUT_OF_RANGE",
    "RESOURCE_EXHAUSTED",
    "UNAVAILABLE",
    "UNIMPLEMENTED",
    "UNKNOWN",
    # Errors of this package.
    "BINARY_NOT_FOUND",
    "CLIENT_CLOSED",
    "COMPACTION_NOT_FOUND",
    "CONTEXT_OVERFLOW",
    "DAEMON_START",
    "TURN_ABORTED",
    "TURN_RUNNING",
]
"""The words of ``reason``. A newer daemon may have others."""


@dataclass(frozen=True)
class FieldViolation:
    """A field of a request that breaks its rule.

    Attributes:
        field: The field's path, such as ``messages[3].parts[0].text``.
        description: What is wrong with it.
    """

    field: str
    description: str


class CompactordError(Exception):
    """An error in the daemon, or between this program and the daemon.

    Where it stands for an error of gRPC, tracebacks leave that out; it is in the chain of ``__context__``.

    Attributes:
        code: The gRPC status.
        reason: The stable reason, such as ``"COMPACTION_RUNNING"``. For errors of gRPC itself: the name of the status.
        from_daemon: Whether the daemon gave the reason. If not, gRPC or this package did.
        message: What happened, in a sentence for people.
        metadata: The values that belong to the reason, by key, as text, such as ``"operation_id"``.
        field_violations: For an invalid request: the wrong fields, at most 20.
        retry_after: How long to wait before a retry, where the daemon says so.
        request_id: For a write: the request's id. The same call with this ``request_id`` is not executed twice.
    """

    def __init__(
        self,
        message: str,
        *,
        code: grpc.StatusCode = grpc.StatusCode.UNKNOWN,
        reason: ReasonName | None = None,
        metadata: Mapping[str, str] | None = None,
        field_violations: tuple[FieldViolation, ...] = (),
        retry_after: timedelta | None = None,
        from_daemon: bool = False,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason: ReasonName = reason or cast("ReasonName", code.name)
        self.from_daemon = from_daemon
        self.message = message
        self.metadata: dict[str, str] = dict(metadata or {})
        self.field_violations = field_violations
        self.retry_after = retry_after
        self.request_id = ""

    @override
    def __str__(self) -> str:
        return self.message if self.reason == "UNKNOWN" else f"{self.message} ({self.reason})"


class InvalidRequestError(CompactordError):
    """The request is not valid: ``field_violations`` and ``metadata`` say where."""


class NotFoundError(CompactordError):
    """Something that the request names does not exist."""


class SessionNotFoundError(NotFoundError):
    """No session has this id."""


class SessionExistsError(CompactordError):
    """The session id is in use."""


class ConflictError(CompactordError):
    """The session changed in the meantime: read it again, then decide."""


class WrongNextIndexError(ConflictError):
    """The next message gets another index than expected: another client has appended.

    ``append`` raises it where ``expected_next_index`` was given, and ``run_turn`` where another process has written to
    the session during the turn.
    """

    @property
    def next_index(self) -> int | None:
        """The index that the next message will get."""
        return _int(self.metadata, "next_index")


class SyncConflictError(ConflictError):
    """Another client has written to the session what the list of a sync lacks.

    Call ``session.refresh()``, take what you need of ``session.view()`` into the list, and sync again. What the list
    leaves out then is put aside.
    """

    @property
    def index(self) -> int | None:
        """The index of the first message that the list lacks; None where another client has gone back."""
        return _int(self.metadata, "index")

    @property
    def next_index(self) -> int | None:
        """The index that the next message will get."""
        return _int(self.metadata, "next_index")


class ToolCallsOpenError(CompactordError):
    """Tool calls are open. A rendered view and the announcement of a checkpoint need their results first."""

    @property
    def call_ids(self) -> tuple[str, ...]:
        """The ids of the open calls, as far as the daemon lists them."""
        given = self.metadata.get("call_ids", "")
        return tuple(part.strip() for part in given.split(",") if part.strip())


class UnavailableError(CompactordError):
    """No daemon answers at the address, it is shutting down, or its store cannot be read or written.

    A write may have been executed or not: call again with the ``request_id`` of the error.
    """


class DeadlineExceededError(CompactordError):
    """The call's ``timeout`` has passed, or the policy's time limit for summaries.

    A write may have been executed or not: call again with the ``request_id`` of the error.
    """


class UnauthenticatedError(CompactordError):
    """The token is missing or wrong."""


class TurnAbortedError(CompactordError):
    """The turn was aborted, by ``abort_turn`` or by a compaction."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code=grpc.StatusCode.ABORTED, reason="TURN_ABORTED")


class ContextOverflowError(CompactordError):
    """The conversation does not fit into the model's context window, and compacting does not help.

    Its ``__cause__`` is the exception of the provider's package, where there was one.

    Attributes:
        why: The rule that found the overflow, in a sentence with the figures.
        tokens: Tokens of the context at the overflow, as the daemon reports them; None where there is no report.
        context_window: The context window; None where it is unknown.
        limit_tokens: How many tokens the model accepts, where the error of its provider says so; else None.
    """

    def __init__(
        self,
        message: str,
        *,
        why: str = "",
        tokens: int | None = None,
        context_window: int | None = None,
        limit_tokens: int | None = None,
    ) -> None:
        super().__init__(message, code=grpc.StatusCode.FAILED_PRECONDITION, reason="CONTEXT_OVERFLOW")
        self.why = why
        self.tokens = tokens
        self.context_window = context_window
        self.limit_tokens = limit_tokens


def cancelled(message: str) -> CompactordError:
    """Make the error of a call that this program cancelled."""
    return CompactordError(message, code=grpc.StatusCode.CANCELLED, reason="CANCELLED")


def client_closed() -> CompactordError:
    """Make the error of a call with a closed client."""
    return CompactordError("the client is closed", code=grpc.StatusCode.CANCELLED, reason="CLIENT_CLOSED")


def internal(message: str) -> CompactordError:
    """Make the error of an answer that a daemon without a bug does not give."""
    return CompactordError(message, code=grpc.StatusCode.INTERNAL, reason="INTERNAL")


def is_outage(error: CompactordError) -> bool:
    """Whether an error has another cause than the request: a changed request does not mend it."""
    return isinstance(error, DeadlineExceededError | UnauthenticatedError | UnavailableError) or error.reason in (
        "CANCELLED",
        "CLIENT_CLOSED",
        "DATA_LOSS",
        "INTERNAL",
        "PERMISSION_DENIED",
        "STORE_CORRUPT",
    )


REASONS: dict[str, type[CompactordError]] = {
    "INVALID_FIELD": InvalidRequestError,
    "SESSION_NOT_FOUND": SessionNotFoundError,
    "SESSION_EXISTS": SessionExistsError,
    "CHECKPOINT_NOT_FOUND": NotFoundError,
    "POINT_OUT_OF_RANGE": InvalidRequestError,
    "WRONG_NEXT_INDEX": WrongNextIndexError,
    "HISTORY_REVERTED": ConflictError,
    "STATE_CHANGED": ConflictError,
    "SYNC_CONFLICT": SyncConflictError,
    "COMPACTION_RUNNING": CompactordError,
    "TARGET_UNREACHABLE": CompactordError,
    "BREAKER_OPEN": CompactordError,
    "TOOL_CALLS_OPEN": ToolCallsOpenError,
    "VIEW_INVALID": CompactordError,
    "LIMIT_EXCEEDED": CompactordError,
    "SUMMARIZER_UNAVAILABLE": CompactordError,
    "SUMMARIZER_REFUSED": CompactordError,
    "SUMMARY_REJECTED": CompactordError,
    "CANCELLED": CompactordError,
    "DEADLINE_EXCEEDED": DeadlineExceededError,
    "REQUEST_ID_REUSED": InvalidRequestError,
    "INVALID_POLICY": InvalidRequestError,
    "NOT_IMPLEMENTED": CompactordError,
    "INTERNAL": CompactordError,
    "SHUTTING_DOWN": UnavailableError,
    "STORE_UNAVAILABLE": UnavailableError,
    "INTERRUPTED": UnavailableError,
    "UNAUTHENTICATED": UnauthenticatedError,
    "PERMISSION_DENIED": CompactordError,
    "STORE_CORRUPT": CompactordError,
    "INVALID_TOKEN": InvalidRequestError,
    "UNKNOWN_NAME": InvalidRequestError,
    "PLAN_INVALID": ConflictError,
    "OPERATION_NOT_FOUND": NotFoundError,
    "INPUT_MALFORMED": InvalidRequestError,
    "CHECKPOINT_PUT_ASIDE": CompactordError,
    "NOTHING_TO_REVERT": CompactordError,
    "CONTENT_NOT_FOUND": NotFoundError,
    "MESSAGE_PUT_ASIDE": CompactordError,
    "SLOW_READER": CompactordError,
    "WATCHER_TOO_SLOW": CompactordError,
    "MEMORY_EXHAUSTED": CompactordError,
    "TOO_MANY_WAITING": CompactordError,
    "CHILD_ENDED": CompactordError,
    "NO_PARENT": CompactordError,
    "HAS_CHILDREN": CompactordError,
}
"""The class of each reason. A reason that is not listed, from a newer daemon, gets the class of its status."""

_STATUSES: dict[grpc.StatusCode, type[CompactordError]] = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidRequestError,
    grpc.StatusCode.OUT_OF_RANGE: InvalidRequestError,
    grpc.StatusCode.NOT_FOUND: NotFoundError,
    grpc.StatusCode.ABORTED: ConflictError,
    grpc.StatusCode.UNAVAILABLE: UnavailableError,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineExceededError,
    grpc.StatusCode.UNAUTHENTICATED: UnauthenticatedError,
}


class RpcFailure(Protocol):
    """The exceptions of gRPC, both blocking and asyncio."""

    def code(self) -> grpc.StatusCode:
        """Return the status."""
        ...

    def details(self) -> str | None:
        """Return the text."""
        ...

    def trailing_metadata(self) -> Metadata | None:
        """Return the metadata that came with the status."""
        ...


def from_rpc_error(error: RpcFailure) -> CompactordError:
    """Convert an error of gRPC to an exception of this package. For use with raw stubs.

    Args:
        error: A ``grpc.RpcError`` of a call, or a ``grpc.aio.AioRpcError``.

    Returns:
        An exception of the class for the error's reason, or else for its status.
    """
    return from_status(error.code(), error.details() or "", error.trailing_metadata() or ())


def from_status(code: grpc.StatusCode, message: str, metadata: Metadata = ()) -> CompactordError:
    """Convert a gRPC status to an exception of this package.

    Args:
        code: The gRPC status.
        message: Its text.
        metadata: The trailing metadata, which contain the details.

    Returns:
        An exception of the class for the reason in the details, or else for the status.
    """
    serialized = next((value for key, value in metadata if key == _DETAILS and isinstance(value, bytes)), b"")
    found = details.read(serialized)
    reason = found.reason.removeprefix(_PREFIX)
    kind = REASONS.get(reason) or _STATUSES.get(code, CompactordError)
    return kind(
        message,
        code=code,
        reason=cast("ReasonName | None", reason or None),
        metadata=found.metadata,
        field_violations=tuple(FieldViolation(field, wrong) for field, wrong in found.violations),
        retry_after=found.retry_after,
        from_daemon=bool(reason),
    )


def _int(metadata: Mapping[str, str], key: str) -> int | None:
    try:
        return int(metadata[key])
    except (KeyError, ValueError):
        return None
