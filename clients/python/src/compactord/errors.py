"""The exceptions of this package.

Every error of the daemon has a stable reason (`docs/api.md` lists them), and each reason that a program would want to
catch has a class. Catch :class:`CompactordError` for all of them. Decide by class or ``reason``; the text is for
people. No error holds anything of a conversation.
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
    """Something went wrong between this program and the daemon, or in the daemon.

    Attributes:
        code: The gRPC status.
        reason: The stable reason, such as ``"WRONG_NEXT_INDEX"``. Empty where gRPC itself, and not compactord, failed.
        message: What happened, in a sentence for people.
        metadata: Figures and names that belong to the reason, as `docs/api.md` lists them.
        field_violations: Of an invalid request: the fields that are wrong, at most 20.
        retry_after: When it makes sense to try again, where the daemon says so.
        request_id: Of a write: the id that it was sent with. The same call with this ``request_id`` does nothing twice.
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
    """The request makes no sense to the daemon: ``field_violations`` and ``metadata`` say where."""


class NotFoundError(CompactordError):
    """What the request names is not there."""


class SessionNotFoundError(NotFoundError):
    """No session has this id."""


class SessionExistsError(CompactordError):
    """The session id is in use."""


class CheckpointNotFoundError(NotFoundError):
    """No checkpoint has this id."""

    @property
    def last_checkpoint(self) -> int | None:
        """The highest checkpoint id that there is."""
        return _figure(self.metadata, "last_checkpoint")


class CheckpointPutAsideError(CompactordError):
    """A revert went back to before the checkpoint."""

    @property
    def point(self) -> int | None:
        """The checkpoint's point, which can still be gone to."""
        return _figure(self.metadata, "point")


class CompactionNotFoundError(NotFoundError):
    """The session has no compaction with this id."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code=grpc.StatusCode.NOT_FOUND, reason="COMPACTION_NOT_FOUND")


class OperationNotFoundError(NotFoundError):
    """No compaction runs here, or none with this operation id."""


class ContentNotFoundError(NotFoundError):
    """The log has no such message, or the message no such part."""


class MessagePutAsideError(CompactordError):
    """A revert put the message aside."""


class NothingToRevertError(CompactordError):
    """There is no such turn to take back, or no change to undo."""


class ConflictError(CompactordError):
    """Somebody else was first: look at the session again, and decide anew."""


class WrongNextIndexError(ConflictError):
    """``expected_next_index`` is not the log's."""

    @property
    def next_index(self) -> int | None:
        """The index that the next message will get."""
        return _figure(self.metadata, "next_index")


class HistoryRevertedError(ConflictError):
    """The view that the answer was made from was reverted: fetch a new one and take the turn again."""


class StateChangedError(ConflictError):
    """The session was reverted or compacted meanwhile."""


class PlanInvalidError(ConflictError):
    """A plan would break the view. The text names the invariant."""


class CompactionRunningError(CompactordError):
    """A compaction of this session runs."""

    @property
    def operation_id(self) -> str:
        """The id of the compaction that runs."""
        return self.metadata.get("operation_id", "")


class TargetUnreachableError(CompactordError):
    """What no compaction can remove is at or above the trigger."""

    @property
    def fixed_tokens(self) -> int | None:
        """Tokens that no compaction can remove."""
        return _figure(self.metadata, "fixed_tokens")

    @property
    def trigger_tokens(self) -> int | None:
        """Tokens at which compaction is due."""
        return _figure(self.metadata, "trigger_tokens")


class BreakerOpenError(CompactordError):
    """Three automatic compactions in a row did not help."""

    @property
    def closes_after_tokens(self) -> int | None:
        """Tokens that must be appended before the next may run by itself."""
        return _figure(self.metadata, "closes_after_tokens")


class ToolCallsOpenError(CompactordError):
    """A view in a dialect, or the announcement of a checkpoint, needs the results of open calls first."""

    @property
    def call_ids(self) -> tuple[str, ...]:
        """The ids of the calls, as far as they are told."""
        given = self.metadata.get("call_ids", "")
        return tuple(part.strip() for part in given.split(",") if part.strip())


class ViewInvalidError(CompactordError):
    """A view would break a rule of the provider, and no repair is known."""

    @property
    def rule(self) -> str:
        """The rule's id."""
        return self.metadata.get("rule", "")

    @property
    def message_index(self) -> int | None:
        """The message that breaks it, by its position in the view."""
        return _figure(self.metadata, "message")


class LimitExceededError(CompactordError):
    """The request or the answer is over a limit, or the daemon's disk is full."""

    @property
    def limit(self) -> str:
        """The limit's name."""
        return self.metadata.get("limit", "")

    @property
    def value(self) -> int | None:
        """The limit's value."""
        return _figure(self.metadata, "value")


class WatcherTooSlowError(CompactordError):
    """A watch reads more slowly than its session changes."""

    @property
    def next_sequence(self) -> int | None:
        """Where to go on."""
        return _figure(self.metadata, "next_sequence")


class SummarizerUnavailableError(CompactordError):
    """The summarizer is out of reach; ``retry_after`` says when to try again."""


class SummarizerRefusedError(CompactordError):
    """The summarizer's provider refuses the request, and would again: a wrong key, an unknown model."""


class SummaryRejectedError(CompactordError):
    """No summary passed the checks, and the policy wants no fallback."""

    @property
    def check(self) -> str:
        """The check that was not passed."""
        return self.metadata.get("check", "")

    @property
    def complaint(self) -> str:
        """What is wrong with the summary, in a sentence that can be handed to the model that wrote it."""
        return self.message.partition("passed the checks: ")[2]


class UnavailableError(CompactordError):
    """No daemon answers at the address, or it shuts down.

    After a write it is not known whether it was done: call again with the error's ``request_id``.
    """


class DeadlineExceededError(CompactordError):
    """The call's ``timeout`` has passed, or the policy's limit for summaries.

    After a write it is not known whether it was done: call again with the error's ``request_id``.
    """


class OperationCancelledError(CompactordError):
    """The call was cancelled: by this program, by another client, or by the end of the client or the session."""


class UnauthenticatedError(CompactordError):
    """No token, or a wrong one."""


class PermissionDeniedError(CompactordError):
    """The token may not do this."""


class UnsupportedError(CompactordError):
    """The daemon is older than this package, or was built without what the request asks for."""


class InternalError(CompactordError):
    """A bug, or a store that holds what it must not. The text has an id that the daemon's log has too."""


class ClientClosedError(CompactordError):
    """The client was closed."""


class TurnRunningError(CompactordError):
    """A turn of this session runs already."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code=grpc.StatusCode.FAILED_PRECONDITION, reason="TURN_RUNNING")


class TurnAbortedError(CompactordError):
    """The turn was aborted, by ``abort_turn`` or by a compaction."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code=grpc.StatusCode.ABORTED, reason="TURN_ABORTED")


class ContextOverflowError(CompactordError):
    """The model's context window overflows, and compacting does not help.

    Its ``__cause__`` is what the provider's package raised, where it raised something.

    Attributes:
        why: The rule that decided, in a sentence with the figures.
        tokens: Tokens of the context at the overflow, by the daemon's report; None where there is none.
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
    """There is no ``compactord`` program to start."""


class DaemonStartError(CompactordError):
    """The daemon did not come up. The text ends with what it said."""


REASONS: dict[str, type[CompactordError]] = {
    "INVALID_FIELD": InvalidRequestError,
    "SESSION_NOT_FOUND": SessionNotFoundError,
    "SESSION_EXISTS": SessionExistsError,
    "CHECKPOINT_NOT_FOUND": CheckpointNotFoundError,
    "POINT_OUT_OF_RANGE": InvalidRequestError,
    "WRONG_NEXT_INDEX": WrongNextIndexError,
    "HISTORY_REVERTED": HistoryRevertedError,
    "STATE_CHANGED": StateChangedError,
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
    "WATCHER_TOO_SLOW": WatcherTooSlowError,
}
"""The class of each reason. A reason that a newer daemon has beside them gets the class of its status."""

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
    """What gRPC raises, whether it blocks or not."""

    def code(self) -> grpc.StatusCode:
        """Answer the status."""
        ...

    def details(self) -> str | None:
        """Answer the text."""
        ...

    def trailing_metadata(self) -> Metadata | None:
        """Answer the metadata that came with the status."""
        ...


def from_rpc_error(error: RpcFailure) -> CompactordError:
    """Make the exception of an error that gRPC raised.

    Args:
        error: A ``grpc.RpcError`` of a call, or a ``grpc.aio.AioRpcError``. Who works with raw stubs calls it.

    Returns:
        An exception of the class that belongs to the error's reason, or else to its status.
    """
    return from_status(error.code(), error.details() or "", error.trailing_metadata() or ())


def from_status(code: grpc.StatusCode, message: str, metadata: Metadata = ()) -> CompactordError:
    """Make the exception of a status.

    Args:
        code: The gRPC status.
        message: Its text.
        metadata: The trailing metadata, which hold the details.

    Returns:
        An exception of the class that belongs to the reason in the details, or else to the status.
    """
    serialized = next((value for key, value in metadata if key == _DETAILS and isinstance(value, bytes)), b"")
    told = details.read(serialized)
    reason = told.reason.removeprefix(_PREFIX)
    kind = REASONS.get(reason) or _STATUSES.get(code, CompactordError)
    return kind(
        message,
        code=code,
        reason=reason,
        metadata=told.metadata,
        field_violations=tuple(FieldViolation(field, wrong) for field, wrong in told.violations),
        retry_after=told.retry_after,
    )


def _figure(metadata: Mapping[str, str], key: str) -> int | None:
    try:
        return int(metadata[key])
    except (KeyError, ValueError):
        return None
