"""Short names for the values of the contract's enums, such as ``"anthropic"`` for ``DIALECT_ANTHROPIC``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, Protocol, TypeAlias, cast

from google.protobuf import json_format
from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message as ProtobufMessage

from compactord import v1
from compactord.arguments import listed
from compactord.policy_json import contract_json

Dialect: TypeAlias = Literal["openai_chat", "openai_responses", "anthropic", "gemini"]
"""A provider's message shape."""
Estimator: TypeAlias = Literal["chars4", "o200k_base", "cl100k_base", "calibrated"]
"""How tokens are counted."""
Reason: TypeAlias = Literal["manual", "threshold", "overflow"]
"""Why a compaction is requested."""
Thinking: TypeAlias = Literal["keep_valid", "keep_all", "strip", "adaptive"]
"""Which thinking a view shows. ``adaptive`` is for requests with Anthropic's adaptive thinking: what the model writes
after a compaction within a tool loop stays, and thinking is never turned off."""
Listing: TypeAlias = Literal["transcript", "dialogue"]
"""Which messages are listed: all of the log, or the active text of user and assistant."""
Order: TypeAlias = Literal["created", "changed"]
"""How sessions are sorted, the newest first."""
Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]
"""Who speaks."""
State: TypeAlias = Literal["active", "covered", "put_aside", "replaced"]
"""The state of a message."""
RecordKind: TypeAlias = Literal[
    "compaction",
    "prune",
    "attempt",
    "checkpoint",
    "revert",
    "pin",
    "unpin",
    "policy_change",
    "context_blocks",
    "instructions",
    "child_end",
]
"""The kind of a record."""
Place: TypeAlias = Literal["leading", "latest"]
"""Where views show a context block: after the instructions, or before the user's newest message."""
Sees: TypeAlias = Literal["everything", "nothing"]
"""What a child sees of its parent."""
StopReason: TypeAlias = Literal["end", "tool_use", "length", "stop_sequence", "refusal", "error", "aborted", "pause"]
"""Why a model stopped."""
SkipReason: TypeAlias = Literal[
    "below_threshold", "nothing_to_compact", "already_compacted", "no_gain", "below_minimum", "overtaken"
]
"""Why a compaction was skipped."""
OnDelete: TypeAlias = Literal["keep", "delete", "refuse"]
"""What becomes of the children of a session that is deleted."""
Policy: TypeAlias = v1.Policy | Mapping[str, Any]
"""A policy: a :class:`compactord.v1.Policy`, or a dict in its JSON form, such as ``{"context_window": 200_000}``. In
place of a message that only contains a list, the list can be given: ``{"on_append": []}``; and in place of the name of
an enum's value its word: ``{"thinking": "adaptive"}``."""


def session_id(given: object) -> str:
    """Check the id of an existing session and return it.

    Raises:
        ValueError: This is not an id. The daemon would create a new session where the id is empty.
    """
    if not isinstance(given, str) or not given:
        raise ValueError("session_id: must be a text that is not empty")
    return given


def dialect(given: str | int | None) -> v1.Dialect.ValueType:
    """The dialect with this name; None means neutral."""
    return cast("v1.Dialect.ValueType", _value(v1.Dialect.DESCRIPTOR, given, "DIALECT_", "dialect"))


def dialect_name(value: v1.Dialect.ValueType) -> Dialect | None:
    """The name of a dialect; None means neutral."""
    return cast(Dialect, v1.Dialect.Name(value).removeprefix("DIALECT_").lower()) if value else None


def estimator(given: str | int | None) -> v1.Estimator.ValueType:
    """The estimator with this name; None means the default."""
    return cast("v1.Estimator.ValueType", _value(v1.Estimator.DESCRIPTOR, given, "ESTIMATOR_", "estimator"))


def reason(given: str | int | None) -> v1.CompactionReason.ValueType:
    """The reason with this name; None means the default."""
    return cast(
        v1.CompactionReason.ValueType, _value(v1.CompactionReason.DESCRIPTOR, given, "COMPACTION_REASON_", "reason")
    )


def thinking(given: str | int) -> v1.ThinkingPolicy.ValueType:
    """The thinking policy with this name."""
    return cast(
        v1.ThinkingPolicy.ValueType, _value(v1.ThinkingPolicy.DESCRIPTOR, given, "THINKING_POLICY_", "thinking")
    )


def listing(given: str | int | None) -> v1.MessageListing.ValueType:
    """The listing with this name; None means the default."""
    return cast(
        "v1.MessageListing.ValueType", _value(v1.MessageListing.DESCRIPTOR, given, "MESSAGE_LISTING_", "listing")
    )


def order(given: str | int | None) -> v1.SessionOrder.ValueType:
    """The order with this name; None means the default."""
    return cast("v1.SessionOrder.ValueType", _value(v1.SessionOrder.DESCRIPTOR, given, "SESSION_ORDER_", "order"))


def stop_reason(given: str | int | None) -> v1.StopReason.ValueType:
    """The stop reason with this name; None means unknown."""
    return cast("v1.StopReason.ValueType", _value(v1.StopReason.DESCRIPTOR, given, "STOP_REASON_", "stop_reason"))


class Enum(Protocol):
    """An enum of the contract, such as ``v1.MessageState``."""

    DESCRIPTOR: EnumDescriptor


def word(enum: Enum, value: int) -> str:
    """Return the word for a value of one of the contract's enums, as arguments take it.

    ``word(v1.MessageState, 2)`` is ``"covered"``. It is empty for an unset value, and ``"unknown"`` for one that is
    newer than this package.
    """
    descriptor = enum.DESCRIPTOR
    if value not in descriptor.values_by_number:
        return "unknown"
    unset = descriptor.values[0].name
    name = descriptor.values_by_number[value].name
    return "" if name == unset else name.removeprefix(unset.removesuffix("UNSPECIFIED")).lower()


def skip_reason(value: v1.SkipReason.ValueType) -> SkipReason | Literal["", "unknown"]:
    """The word for why a compaction was skipped."""
    return cast("SkipReason", word(v1.SkipReason, value))


def roles(given: Iterable[str | int]) -> list[v1.Role.ValueType]:
    """The roles with these names."""
    return [
        cast("v1.Role.ValueType", _value(v1.Role.DESCRIPTOR, one, "ROLE_", "roles")) for one in listed("roles", given)
    ]


def states(given: Iterable[str | int]) -> list[v1.MessageState.ValueType]:
    """The states with these names."""
    return [
        cast("v1.MessageState.ValueType", _value(v1.MessageState.DESCRIPTOR, one, "MESSAGE_STATE_", "states"))
        for one in listed("states", given)
    ]


def place(given: str | int | None) -> v1.BlockPlace.ValueType:
    """The place of a context block with this name; None means the default."""
    return cast("v1.BlockPlace.ValueType", _value(v1.BlockPlace.DESCRIPTOR, given, "BLOCK_PLACE_", "place"))


def children_on_delete(given: str | int | None) -> v1.ChildrenOnDelete.ValueType:
    """What becomes of children, by this name; None means the default."""
    return cast(
        "v1.ChildrenOnDelete.ValueType",
        _value(v1.ChildrenOnDelete.DESCRIPTOR, given, "CHILDREN_ON_DELETE_", "children"),
    )


def record_kinds(given: Iterable[str | int]) -> list[v1.RecordKind.ValueType]:
    """The record kinds with these names."""
    return [
        cast("v1.RecordKind.ValueType", _value(v1.RecordKind.DESCRIPTOR, one, "RECORD_KIND_", "kinds"))
        for one in listed("kinds", given)
    ]


def policy(given: Policy | None) -> v1.Policy | None:
    """Convert a policy to the contract's message.

    Raises:
        ValueError: This is not a policy, or a field is unknown or has a wrong value.
    """
    if given is None or isinstance(given, v1.Policy):
        return given
    try:
        return json_format.ParseDict(contract_json(given, v1.Policy.DESCRIPTOR), v1.Policy())
    except json_format.ParseError as error:
        raise ValueError(f"policy: {error}") from error


def differing_fields(given: v1.Policy, held: v1.Policy) -> list[str]:
    """Return the names of the given fields that a session's policy does not hold, in the order of the contract.

    The session's policy may hold more: what the operator's own policy adds.
    """
    return [field.name for field, value in given.ListFields() if not _holds(held, field, value)]


def _holds(message: ProtobufMessage, field: FieldDescriptor, value: Any) -> bool:
    """Whether a message holds a value, or of a message that the daemon merges, all of its fields."""
    held = getattr(message, field.name)
    if not field.is_repeated and field.has_presence and not message.HasField(field.name):
        return False
    if not _is_merged(field):
        return bool(held == value)
    return all(_holds(held, inner, own) for inner, own in value.ListFields())


def _is_merged(field: FieldDescriptor) -> bool:
    """Whether policies are merged field by field in a field. The daemon replaces lists, oneofs and times as a whole."""
    of = field.message_type
    if of is None or field.is_repeated or field.containing_oneof is not None:
        return False
    is_list = len(of.fields) == 1 and of.fields[0].is_repeated
    return not is_list and of.file.package != "google.protobuf"


def _value(enum: EnumDescriptor, given: object, prefix: str, name: str) -> int:
    if given is None:
        return 0
    if isinstance(given, int):
        return given
    known = {one.name.removeprefix(prefix).lower(): one.number for one in enum.values if one.number != 0}
    if not isinstance(given, str) or given.lower() not in known:
        raise ValueError(f"{name}: {given!r} is unknown: use one of {', '.join(known)}")
    return known[given.lower()]
