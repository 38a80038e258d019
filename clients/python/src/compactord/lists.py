"""The complete list of an agent's messages: its elements as they are sent, and what stands for them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from compactord import messages, v1
from compactord.words import dialect_name

DIGEST_BYTES = 16
SENT_AT_ONCE = 64 << 10
"""Up to this many bytes, a list of which nothing is known to be had is sent with its content at once."""

_LEADING = ("system", "developer")
_LEADING_ROLES = (v1.Role.ROLE_SYSTEM, v1.Role.ROLE_DEVELOPER)
_APART = (v1.Dialect.DIALECT_ANTHROPIC, v1.Dialect.DIALECT_GEMINI, v1.Dialect.DIALECT_OPENAI_RESPONSES)


@dataclass(frozen=True)
class ElementList:
    """The elements of a list, in order.

    Attributes:
        elements: Each with its content.
        digests: What can be sent in place of each content.
        leading: How many elements at the start are SYSTEM and DEVELOPER messages.
    """

    elements: tuple[v1.ListElement, ...] = ()
    digests: tuple[bytes, ...] = ()
    leading: int = 0

    def same(self, held: ElementList) -> int:
        """How many elements behind the leading ones are the same as those of a list before."""
        own, other = self.digests[self.leading :], held.digests[held.leading :]
        for at, (one, before) in enumerate(zip(own, other, strict=False)):
            if one != before:
                return at
        return min(len(own), len(other))

    def leads_as(self, held: ElementList) -> bool:
        """Whether the leading elements are those of a list before."""
        return self.digests[: self.leading] == held.digests[: held.leading]

    def sent(self, named: slice) -> list[v1.ListElement]:
        """The elements as they are sent: those of a range by their digests, the others with their content."""
        stands = range(*named.indices(len(self.elements)))
        return [
            v1.ListElement(digest=self.digests[at]) if at in stands else element
            for at, element in enumerate(self.elements)
        ]

    def first_sent(self, held: ElementList | None) -> list[v1.ListElement]:
        """The elements as they are sent first.

        Args:
            held: The last list that the daemon took from this client; None where that is unknown.
        """
        if held is None:
            size = sum(element.ByteSize() for element in self.elements)
            return self.sent(slice(0, 0 if size <= SENT_AT_ONCE else None))
        return self.sent(slice(0 if self.leads_as(held) else self.leading, self.leading + self.same(held)))

    def sent_after(self, lacking: v1.LackingElements) -> list[v1.ListElement]:
        """The elements as they are sent to a daemon that lacks some."""
        return self.sent(slice(lacking.leading, lacking.first))


def listed(given: object, dialect: v1.Dialect.ValueType) -> ElementList:
    """Convert a list.

    Args:
        given: Objects in the provider's shape or, without a dialect, neutral messages.
        dialect: The session's dialect.

    Raises:
        TypeError: This is no list, or one element is no message.
    """
    kind = type(given).__name__
    if isinstance(given, str | bytes | bytearray | Mapping | v1.Message) or not isinstance(given, Iterable):
        raise TypeError(f"messages: must be the list of all messages, and is a {kind}")
    items: list[object] = list(cast("Iterable[object]", given))
    if not dialect:
        neutral = [_neutral(at, item) for at, item in enumerate(items)]
        return ElementList(
            tuple(v1.ListElement(message=message) for message in neutral),
            tuple(_digest(message.SerializeToString(deterministic=True)) for message in neutral),
            _leading([message.role in _LEADING_ROLES for message in neutral]),
        )
    texts = [_json(at, item, dialect) for at, item in enumerate(items)]
    return ElementList(
        tuple(v1.ListElement(json=text) for text in texts),
        tuple(_digest(text.encode()) for text in texts),
        _leading([_role(item) in _LEADING for item in items]),
    )


def system_json(given: object, dialect: v1.Dialect.ValueType) -> list[str]:
    """Convert the system prompt of a dialect that has it apart: a text, the provider's object, or a list of these.

    Raises:
        ValueError: The dialect has it among the messages, or has but one.
        TypeError: It is none of these.
    """
    if given is None:
        return []
    if dialect not in _APART:
        shape = dialect_name(dialect) or "a neutral list"
        raise ValueError(f"system: {shape} has the system prompt among the messages: put it there")
    items: list[object] = [given]
    if isinstance(given, Sequence) and not isinstance(given, str | bytes | bytearray):
        items = list(cast("Sequence[object]", given))
    if len(items) > 1 and dialect != v1.Dialect.DIALECT_ANTHROPIC:
        raise ValueError(f"system: {dialect_name(dialect)} has one system prompt, and there are {len(items)}")
    return [messages.to_json(_prompt(item, dialect), dialect) for item in items if item]


def document(listed: ElementList, system: Sequence[str], elements: int, dialect: v1.Dialect.ValueType) -> str:
    """The first elements of a list as the body of a request, with the system prompt that stands apart."""
    listing = f"[{','.join(element.json for element in listed.elements[:elements])}]"
    match dialect:
        case v1.Dialect.DIALECT_ANTHROPIC:
            prompt = f'"system":[{",".join(system)}],' if system else ""
            return f'{{{prompt}"messages":{listing}}}'
        case v1.Dialect.DIALECT_GEMINI:
            prompt = f'"systemInstruction":{system[0]},' if system else ""
            return f'{{{prompt}"contents":{listing}}}'
        case v1.Dialect.DIALECT_OPENAI_RESPONSES:
            prompt = f'"instructions":{system[0]},' if system else ""
            return f'{{{prompt}"input":{listing}}}'
        case _:
            return listing


def _prompt(item: object, dialect: v1.Dialect.ValueType) -> object:
    if isinstance(item, str):
        match dialect:
            case v1.Dialect.DIALECT_ANTHROPIC:
                return {"type": "text", "text": item}
            case v1.Dialect.DIALECT_GEMINI:
                return {"parts": [{"text": item}]}
            case _:
                return item
    if dialect == v1.Dialect.DIALECT_OPENAI_RESPONSES or not _is_object(item):
        wanted = "" if dialect == v1.Dialect.DIALECT_OPENAI_RESPONSES else ", the provider's object or a list of them"
        raise TypeError(f"system: must be a text{wanted}, and is a {type(item).__name__}")
    return item


def _is_object(item: object) -> bool:
    return isinstance(item, Mapping) or callable(getattr(item, "model_dump", None))


def _json(at: int, item: object, dialect: v1.Dialect.ValueType) -> str:
    if isinstance(item, v1.Message | v1.ViewMessage):
        raise TypeError(
            f"messages[{at}]: is a neutral message, and the list is in the dialect {dialect_name(dialect)}: "
            "put in the provider's objects"
        )
    if not _is_object(item):
        raise TypeError(f"messages[{at}]: must be a dict or an SDK object, and is a {type(item).__name__}")
    try:
        return messages.to_json(item, dialect)
    except TypeError as error:
        raise TypeError(f"messages[{at}]: {error}") from None


def _neutral(at: int, item: object) -> v1.Message:
    if isinstance(item, v1.ViewMessage):
        return item.message
    if isinstance(item, str | v1.Message | Mapping):
        try:
            (message,) = messages.content([cast("messages.Appendable", item)], v1.Dialect.DIALECT_UNSPECIFIED).messages
        except TypeError as error:
            raise TypeError(f"messages[{at}]: {error}") from None
        return message
    raise TypeError(f"messages[{at}]: must be a neutral message, a text or a dict, and is a {type(item).__name__}")


def _role(item: object) -> object:
    """The role of an element: of a dict or of an SDK object."""
    return cast("Mapping[str, object]", item).get("role") if isinstance(item, Mapping) else getattr(item, "role", None)


def _leading(leads: Sequence[bool]) -> int:
    return leads.index(False) if False in leads else len(leads)


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()[:DIGEST_BYTES]
