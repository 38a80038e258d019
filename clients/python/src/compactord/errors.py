"""The exceptions of this package.

Every error of the daemon has a stable reason (`docs/api.md` lists them). Each reason that a program may want to catch
has a class. All classes derive from :class:`CompactordError`. Decide by class or ``reason``; the text is for people.
No error contains content of a conversation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol, TypeAlias

import grpc
from typing_extensions import override

from compactord import details

_DETAILS = "grpc-status-details-bin"
_PREFIX = "ERROR_REASON_"

Metadata: TypeAlias = Iterable[tuple[str, str | bytes]]
"""Metadata of an RPC: pairs of key and value."""


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

    Attributes:
        code: The gRPC status.
        reason: The stable reason, such as ``"WRONG_NEXT_INDEX"``. Empty where gRPC failed and not compactord.
        message: What happened, in a sentence for people.
        metadata: The values that belong to the reason, as `docs/api.md` lists them.
        field_violations: For an invalid request: the wrong fields, at most 20.
        retry_after: How long to wait before a retry, where the daemon says so.
        request_id: For a write: the request's id. The same call with this ``request_id`` is not executed twice.
    """

    def __init__(
        self,
        message: str,
        *,
        code: grpc.StatusCode = grpc.StatusCode.UNKNOWN,
        reason: str = "",
        metadata: Mapping[str, str] | None = None,
        field_violations: tuple[FieldViolation, ...] = (),
        retry_after: timedelta | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.metadata: dict[str, str] = dict(metadata or {})
        self.field_violations = field_violations
        self.retry_after = retry_after
        self.request_id = ""

    @override
    def __str__(self) -> str:
        name = self.reason or (self.code.name if self.code is not grpc.StatusCode.UNKNOWN else "")
        return f"{self.message} ({name})" if name else self.message


class InvalidRequestError(CompactordError):
    """The request is not valid: ``field_violations`` and ``metadata`` say where."""


class NotFoundError(CompactordError):
    """Something that the request names does not exist."""


class SessionNotFoundError(NotFoundError):
    """No session has this id."""


class SessionExistsError(CompactordError):
    """The session id is in use."""


class CheckpointNotFoundError(NotFoundError):
    """No checkpoint has this id."""

    @property
    def last_checkpoint(self) -> int | None:
        """The highest checkpoint id of the session."""
        return _int(self.metadata, "last_checkpoint")


class CheckpointPutAsideError(CompactordError):
    """A revert to an earlier point put the checkpoint aside."""

    @property
    def point(self) -> int | None:
        """The checkpoint's point. A revert to the point is still possible."""
        return _int(self.metadata, "point")


class CompactionNotFoundError(NotFoundError):
    """The session has no compaction with this id."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code=grpc.StatusCode.NOT_FOUND, reason="COMPACTION_NOT_FOUND")


class OperationNotFoundError(NotFoundError):
    """The session has no running compaction, or none with this operation id."""


class ContentNotFoundError(NotFoundError):
    """The log does not have the message, or the message does not have the part."""


class MessagePutAsideError(CompactordError):
    """A revert put the message aside."""


class NothingToRevertError(CompactordError):
    """There are not enough turns to revert, or there is no change to undo."""


class ConflictError(CompactordError):
    """The session changed in the meantime: read it again, then decide."""


class WrongNextIndexError(ConflictError):
    """``expected_next_index`` is not the index that the next message gets."""

    @property
    def next_index(self) -> int | None:
        """The index that the next message will get."""
        return _int(self.metadata, "next_index")


class HistoryRevertedError(ConflictError):
    """A revert came after the view that the answer was made from: fetch a new view and repeat the turn."""


class StateChangedError(ConflictError):
    """The session was reverted or compacted in the meantime."""


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


class PlanInvalidError(ConflictError):
    """A plan would make the view invalid. The text names the rule that it breaks."""


class CompactionRunningError(CompactordError):
    """A compaction of this session is already running."""

    @property
    def operation_id(self) -> str:
        """The operation id of the running compaction."""
        return self.metadata.get("operation_id", "")


class TargetUnreachableError(CompactordError):
    """The fixed tokens, which no compaction can remove, are at or above the trigger."""

    @property
    def fixed_tokens(self) -> int | None:
        """Tokens that no compaction can remove."""
        return _int(self.metadata, "fixed_tokens")

    @property
    def trigger_tokens(self) -> int | None:
        """Tokens at which compaction is due."""
        return _int(self.metadata, "trigger_tokens")


class BreakerOpenError(CompactordError):
    """Three automatic compactions in a row did not help."""

    @property
    def closes_after_tokens(self) -> int | None:
        """Tokens that must be appended before automatic compactions run again."""
        return _int(self.metadata, "closes_after_tokens")


class ToolCallsOpenError(CompactordError):
    """Tool calls are open. A rendered view and the announcement of a checkpoint need their results first."""

    @property
    def call_ids(self) -> tuple[str, ...]:
        """The ids of the open calls, as far as the daemon lists them."""
        given = self.metadata.get("call_ids", "")
        return tuple(part.strip() for part in given.split(",") if part.strip())


class ChildEndedError(CompactordError):
    """The child has ended: its log takes nothing more, and it has its result."""


class NoParentError(CompactordError):
    """The session is no child, or its parent was deleted."""


class HasChildrenError(CompactordError):
    """The session has children, and was not to be deleted then."""


class ViewInvalidError(CompactordError):
    """The view would break a rule of the provider, and there is no repair for it."""

    @property
    def rule(self) -> str:
        """The id of the rule."""
        return self.metadata.get("rule", "")

    @property
    def message_index(self) -> int | None:
        """The position in the view of the message that breaks the rule."""
        return _int(self.metadata, "message")


class LimitExceededError(CompactordError):
    """The request or the response exceeds a limit, or the daemon's disk is full."""

    @property
    def limit(self) -> str:
        """The name of the limit."""
        return self.metadata.get("limit", "")

    @property
    def value(self) -> int | None:
        """The value of the limit."""
        return _int(self.metadata, "value")


class SlowReaderError(CompactordError):
    """Earlier answers on this connection have not been read, and there is no room for this one."""


class MemoryExhaustedError(CompactordError):
    """The daemon's running requests leave too little memory for this one; ``retry_after`` says when to try again."""


class WatcherTooSlowError(CompactordError):
    """A watch reads too slowly for the changes of its session."""

    @property
    def next_sequence(self) -> int | None:
        """The sequence where to continue."""
        return _int(self.metadata, "next_sequence")


class TooManyWaitingError(CompactordError):
    """Too many calls wait for work of this kind; ``retry_after`` says when to try again."""

    @property
    def pool(self) -> str:
        """The kind of work: ``compactions``, ``searches``, ``imports`` or ``views``."""
        return self.metadata.get("pool", "")


class SummarizerUnavailableError(CompactordError):
    """The summarizer cannot be reached; ``retry_after`` says when to try again."""


class SummarizerRefusedError(CompactordError):
    """The summarizer's provider refuses the request, and a retry does not help: a wrong key, an unknown model."""


class SummaryRejectedError(CompactordError):
    """No summary passed the checks, and the policy has no fallback."""

    @property
    def check(self) -> str:
        """The check that failed."""
        return self.metadata.get("check", "")

    @property
    def complaint(self) -> str:
        """What is wrong with the summary, as a sentence for the model that wrote it."""
        return self.message.partition("passed the checks: ")[2]


class UnavailableError(CompactordError):
    """No daemon answers at the address, it is shutting down, or its store cannot be read or written.

    A write may have been executed or not: call again with the ``request_id`` of the error.
    """


class DeadlineExceededError(CompactordError):
    """The call's ``timeout`` has passed, or the policy's time limit for summaries.

    A write may have been executed or not: call again with the ``request_id`` of the error.
    """


class OperationCancelledError(CompactordError):
    """The call was cancelled: by this program, by another client, or because the client or the session ended."""


class UnauthenticatedError(CompactordError):
    """The token is missing or wrong."""


class PermissionDeniedError(CompactordError):
    """The token does not permit this call."""


class UnsupportedError(CompactordError):
    """The daemon does not support the request: it is older than this package, or was built without the feature."""


class InternalError(CompactordError):
    """A bug in the daemon, or a corrupt store. The text contains an id that is also in the daemon's log."""


class ClientClosedError(CompactordError):
    """The client is closed."""


OUTAGES = (
    ClientClosedError,
    DeadlineExceededError,
    InternalError,
    OperationCancelledError,
    PermissionDeniedError,
    UnauthenticatedError,
    UnavailableError,
)
"""Errors with another cause than the request: a changed request does not mend them."""


class TurnRunningError(CompactordError):
    """A turn of this session is already running."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code=grpc.StatusCode.FAILED_PRECONDITION, reason="TURN_RUNNING")


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
    """

    def __init__(
        self, message: str, *, why: str = "", tokens: int | None = None, context_window: int | None = None
    ) -> None:
        super().__init__(message, code=grpc.StatusCode.FAILED_PRECONDITION, reason="CONTEXT_OVERFLOW")
        self.why = why
        self.tokens = tokens
        self.context_window = context_window


class BinaryNotFoundError(CompactordError):
    """The ``compactord`` program was not found."""


class DaemonStartError(CompactordError):
    """The daemon did not start. The text ends with the end of its output."""


REASONS: dict[str, type[CompactordError]] = {
    "INVALID_FIELD": InvalidRequestError,
    "SESSION_NOT_FOUND": SessionNotFoundError,
    "SESSION_EXISTS": SessionExistsError,
    "CHECKPOINT_NOT_FOUND": CheckpointNotFoundError,
    "POINT_OUT_OF_RANGE": InvalidRequestError,
    "WRONG_NEXT_INDEX": WrongNextIndexError,
    "HISTORY_REVERTED": HistoryRevertedError,
    "STATE_CHANGED": StateChangedError,
    "SYNC_CONFLICT": SyncConflictError,
    "COMPACTION_RUNNING": CompactionRunningError,
    "TARGET_UNREACHABLE": TargetUnreachableError,
    "BREAKER_OPEN": BreakerOpenError,
    "TOOL_CALLS_OPEN": ToolCallsOpenError,
    "VIEW_INVALID": ViewInvalidError,
    "LIMIT_EXCEEDED": LimitExceededError,
    "SUMMARIZER_UNAVAILABLE": SummarizerUnavailableError,
    "SUMMARIZER_REFUSED": SummarizerRefusedError,
    "SUMMARY_REJECTED": SummaryRejectedError,
    "CANCELLED": OperationCancelledError,
    "DEADLINE_EXCEEDED": DeadlineExceededError,
    "REQUEST_ID_REUSED": InvalidRequestError,
    "INVALID_POLICY": InvalidRequestError,
    "NOT_IMPLEMENTED": UnsupportedError,
    "INTERNAL": InternalError,
    "SHUTTING_DOWN": UnavailableError,
    "STORE_UNAVAILABLE": UnavailableError,
    "INTERRUPTED": UnavailableError,
    "UNAUTHENTICATED": UnauthenticatedError,
    "PERMISSION_DENIED": PermissionDeniedError,
    "STORE_CORRUPT": InternalError,
    "INVALID_TOKEN": InvalidRequestError,
    "UNKNOWN_NAME": InvalidRequestError,
    "PLAN_INVALID": PlanInvalidError,
    "OPERATION_NOT_FOUND": OperationNotFoundError,
    "INPUT_MALFORMED": InvalidRequestError,
    "CHECKPOINT_PUT_ASIDE": CheckpointPutAsideError,
    "NOTHING_TO_REVERT": NothingToRevertError,
    "CONTENT_NOT_FOUND": ContentNotFoundError,
    "MESSAGE_PUT_ASIDE": MessagePutAsideError,
    "SLOW_READER": SlowReaderError,
    "WATCHER_TOO_SLOW": WatcherTooSlowError,
    "MEMORY_EXHAUSTED": MemoryExhaustedError,
    "TOO_MANY_WAITING": TooManyWaitingError,
    "CHILD_ENDED": ChildEndedError,
    "NO_PARENT": NoParentError,
    "HAS_CHILDREN": HasChildrenError,
}
"""The class of each reason. A reason that is not listed, from a newer daemon, gets the class of its status."""

_STATUSES: dict[grpc.StatusCode, type[CompactordError]] = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidRequestError,
    grpc.StatusCode.OUT_OF_RANGE: InvalidRequestError,
    grpc.StatusCode.NOT_FOUND: NotFoundError,
    grpc.StatusCode.ABORTED: ConflictError,
    grpc.StatusCode.RESOURCE_EXHAUSTED: LimitExceededError,
    grpc.StatusCode.UNAVAILABLE: UnavailableError,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineExceededError,
    grpc.StatusCode.CANCELLED: OperationCancelledError,
    grpc.StatusCode.UNAUTHENTICATED: UnauthenticatedError,
    grpc.StatusCode.PERMISSION_DENIED: PermissionDeniedError,
    grpc.StatusCode.UNIMPLEMENTED: UnsupportedError,
    grpc.StatusCode.INTERNAL: InternalError,
    grpc.StatusCode.DATA_LOSS: InternalError,
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
        reason=reason,
        metadata=found.metadata,
        field_violations=tuple(FieldViolation(field, wrong) for field, wrong in found.violations),
        retry_after=found.retry_after,
    )


def _int(metadata: Mapping[str, str], key: str) -> int | None:
    try:
        return int(metadata[key])
    except (KeyError, ValueError):
        return None
