"""The words for values of the contract's enums: ``"anthropic"`` for ``DIALECT_ANTHROPIC``, and so on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias, cast

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from compactord import v1

Dialect: TypeAlias = Literal["openai_chat", "openai_responses", "anthropic", "gemini"]
"""A provider's message shape."""
Estimator: TypeAlias = Literal["chars4", "o200k_base", "cl100k_base", "calibrated"]
"""How tokens are counted."""
Reason: TypeAlias = Literal["manual", "threshold", "overflow"]
"""Why a compaction is asked for."""
Thinking: TypeAlias = Literal["keep_valid", "keep_all", "strip"]
"""Which thinking a view shows."""
Listing: TypeAlias = Literal["transcript", "dialogue"]
"""Which messages are listed: all of the log, or what user and assistant said on the active path."""
Order: TypeAlias = Literal["created", "changed"]
"""How sessions are sorted, the newest first."""
Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]
"""Who speaks."""
State: TypeAlias = Literal["active", "covered", "put_aside"]
"""The state of a message."""
RecordKind: TypeAlias = Literal[
    "compaction", "prune", "attempt", "checkpoint", "revert", "pin", "unpin", "policy_change"
]
"""The kind of a record."""
Policy: TypeAlias = v1.Policy | Mapping[str, Any]
"""A policy: the contract's message, or its fields as JSON names them, such as ``{"context_window": 200_000}``. A list
may be given as such: ``{"on_append": []}``."""


def session_id(given: object) -> str:
    """The id of a session that is meant.

    Raises:
        ValueError: It is none: the daemon would take its absence for the wish for a new session.
    """
    if not isinstance(given, str) or not given:
        raise ValueError("session_id: it is a text, and not empty")
    return given


def dialect(given: str | int | None) -> v1.Dialect.ValueType:
    """The dialect of this name; None is neutral."""
    return cast("v1.Dialect.ValueType", _value(v1.Dialect.DESCRIPTOR, given, "DIALECT_", "dialect"))


def dialect_name(value: v1.Dialect.ValueType) -> Dialect | None:
    """The name of a dialect; None is neutral."""
    return cast(Dialect, v1.Dialect.Name(value).removeprefix("DIALECT_").lower()) if value else None


def estimator(given: str | int | None) -> v1.Estimator.ValueType:
    """The estimator of this name; None is the default."""
    return cast("v1.Estimator.ValueType", _value(v1.Estimator.DESCRIPTOR, given, "ESTIMATOR_", "estimator"))


def reason(given: str | int | None) -> v1.CompactionReason.ValueType:
    """The reason of this name; None is the default."""
    return cast(
        v1.CompactionReason.ValueType, _value(v1.CompactionReason.DESCRIPTOR, given, "COMPACTION_REASON_", "reason")
    )


def thinking(given: str | int) -> v1.ThinkingPolicy.ValueType:
    """The thinking policy of this name."""
    return cast(
        v1.ThinkingPolicy.ValueType, _value(v1.ThinkingPolicy.DESCRIPTOR, given, "THINKING_POLICY_", "thinking")
    )


def listing(given: str | int | None) -> v1.MessageListing.ValueType:
    """The listing of this name; None is the default."""
    return cast(
        "v1.MessageListing.ValueType", _value(v1.MessageListing.DESCRIPTOR, given, "MESSAGE_LISTING_", "listing")
    )


def order(given: str | int | None) -> v1.SessionOrder.ValueType:
    """The order of this name; None is the default."""
    return cast("v1.SessionOrder.ValueType", _value(v1.SessionOrder.DESCRIPTOR, given, "SESSION_ORDER_", "order"))


def stop_reason(given: str | int | None) -> v1.StopReason.ValueType:
    """The stop reason of this name; None is not told."""
    return cast("v1.StopReason.ValueType", _value(v1.StopReason.DESCRIPTOR, given, "STOP_REASON_", "stop_reason"))


def roles(given: Iterable[str | int]) -> list[v1.Role.ValueType]:
    """The roles of these names."""
    return [cast("v1.Role.ValueType", _value(v1.Role.DESCRIPTOR, one, "ROLE_", "roles")) for one in given]


def states(given: Iterable[str | int]) -> list[v1.MessageState.ValueType]:
    """The states of these names."""
    return [
        cast("v1.MessageState.ValueType", _value(v1.MessageState.DESCRIPTOR, one, "MESSAGE_STATE_", "states"))
        for one in given
    ]


def record_kinds(given: Iterable[str | int]) -> list[v1.RecordKind.ValueType]:
    """The record kinds with these names."""
    return [
        cast("v1.RecordKind.ValueType", _value(v1.RecordKind.DESCRIPTOR, one, "RECORD_KIND_", "kinds")) for one in given
    ]


def policy(given: Policy | None) -> v1.Policy | None:
    """The policy that is meant.

    Raises:
        ValueError: It is none, or a field is none of a policy, or has no such value.
    """
    if given is None or isinstance(given, v1.Policy):
        return given
    try:
        return json_format.ParseDict(_with_lists(given, v1.Policy.DESCRIPTOR), v1.Policy())
    except json_format.ParseError as error:
        raise ValueError(f"policy: {error}") from error


def _with_lists(given: object, message: Descriptor) -> dict[str, Any]:
    """What is given, with each list in the message that the contract has for it."""
    if not isinstance(given, Mapping):
        raise ValueError(f"policy: give a v1.Policy or a mapping of its fields, and not a {type(given).__name__}")
    fields = {**message.fields_by_name, **message.fields_by_camelcase_name}
    return {
        name: _with_list(value, fields[name]) if name in fields else value
        for name, value in cast("Mapping[str, Any]", given).items()
    }


def _with_list(value: Any, field: FieldDescriptor) -> Any:
    if field.message_type is None or field.is_repeated:
        return value
    if isinstance(value, Mapping):
        return _with_lists(cast("object", value), field.message_type)
    inner = field.message_type.fields
    if isinstance(value, list | tuple) and len(inner) == 1 and inner[0].is_repeated:
        return {inner[0].name: [*cast("Iterable[Any]", value)]}
    return cast("Any", value)


def _value(enum: EnumDescriptor, given: object, prefix: str, name: str) -> int:
    if given is None:
        return 0
    if isinstance(given, int):
        return given
    known = {one.name.removeprefix(prefix).lower(): one.number for one in enum.values if one.number != 0}
    if not isinstance(given, str) or given.lower() not in known:
        raise ValueError(f"{name}: there is no {given!r}; there are {', '.join(known)}")
    return known[given.lower()]
