"""The forms of messages that can be appended, and their conversion to a request."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, cast

from google.protobuf import json_format

from compactord import v1


class SDKObject(Protocol):
    """An object of a provider's SDK: a pydantic model."""

    def model_dump(self) -> dict[str, Any]:
        """Return its fields."""
        ...


Appendable: TypeAlias = str | bytes | v1.Message | Mapping[str, Any] | Iterable[Any] | SDKObject
"""What can be appended:

- ``str``: the text of a user's message;
- a dict, a list of dicts, or an object of a provider's SDK: the provider's JSON in the session's dialect. It can be a
  message, a list of messages, the body of a request or a response, or the list of the events of a streamed response;
- ``bytes``: the same as raw JSON, as received over HTTP, kept byte for byte;
- :class:`compactord.v1.Message`: a neutral message, such as :func:`user` makes. In a session without a dialect, dicts
  are neutral messages in the contract's JSON.
"""


@dataclass(frozen=True)
class Content:
    """The content of an append: either neutral messages or a provider's JSON.

    Attributes:
        messages: The neutral messages.
        json: The provider's JSON; None where the messages are neutral.
    """

    messages: tuple[v1.Message, ...] = ()
    json: str | None = None


class Call(Protocol):
    """A tool call that a result answers."""

    @property
    def id(self) -> str:
        """Its id, as views show it."""
        ...


def system(text: str) -> v1.Message:
    """Make a neutral message with the operator's instructions."""
    return _text(v1.Role.ROLE_SYSTEM, text)


def developer(text: str) -> v1.Message:
    """Make a neutral message with the application's instructions."""
    return _text(v1.Role.ROLE_DEVELOPER, text)


def user(text: str) -> v1.Message:
    """Make a neutral message of the user."""
    return _text(v1.Role.ROLE_USER, text)


def assistant(text: str) -> v1.Message:
    """Make a neutral message of the model."""
    return _text(v1.Role.ROLE_ASSISTANT, text)


def tool_result(
    call: Call | str,
    text: str,
    *,
    is_error: bool = False,
    files: Iterable[v1.FileTouch | str] = (),
) -> v1.Message:
    """Make a neutral message with the result of a tool call.

    Args:
        call: The call, or its id.
        text: The result.
        is_error: Whether the tool failed.
        files: Files that the tool read (a path) or changed (a :class:`compactord.v1.FileTouch`), for the file lists of
            summaries.
    """
    touched = [v1.FileTouch(path=file) if isinstance(file, str) else file for file in files]
    result = v1.ToolResult(
        call_id=call if isinstance(call, str) else call.id,
        name="" if isinstance(call, str) else str(getattr(call, "name", "")),
        parts=[v1.ResultPart(text=v1.TextPart(text=_clean(text)))],
        is_error=is_error,
        files=touched,
    )
    return v1.Message(role=v1.Role.ROLE_TOOL, parts=[v1.Part(tool_result=result)])


def text_part(text: str) -> v1.Part:
    """Make a part with a text."""
    return v1.Part(text=v1.TextPart(text=_clean(text)))


def instructions(given: Iterable[str | v1.Message]) -> list[v1.Message]:
    """Convert new instructions: a text is a SYSTEM message.

    Raises:
        TypeError: One of them is neither a text nor a neutral message.
    """
    return [_instruction(one) for one in given]


def _instruction(given: object) -> v1.Message:
    if isinstance(given, str):
        return system(given)
    if isinstance(given, v1.Message):
        return given
    raise TypeError(
        f"instructions are texts and neutral messages, such as developer() makes, not a {type(given).__name__}"
    )


def content(given: Iterable[Appendable], dialect: v1.Dialect.ValueType) -> Content:
    """Convert everything that is given to the content of one append.

    Args:
        given: The arguments of the append.
        dialect: The session's dialect.

    Raises:
        TypeError: One argument cannot be appended, or neutral messages and provider JSON are mixed.
        ValueError: There is nothing to append.
    """
    items = list(given)
    if not items:
        raise ValueError("there is nothing to append")
    if dialect == v1.Dialect.DIALECT_UNSPECIFIED:
        return Content(tuple(message for item in items for message in _neutral(item)))
    for item in items:
        _refuse_value(item)
    neutral = [_is_neutral(item) for item in items]
    if all(neutral):
        return Content(tuple(message for item in items for message in _neutral(item)))
    if any(neutral):
        raise TypeError(
            "neutral messages (str, compactord.v1.Message) and provider JSON (dicts, bytes, SDK objects) "
            "cannot be in one append: make two appends"
        )
    if len(items) == 1:
        return Content(json=_raw(items[0], dialect))
    elements = [element for item in items for element in _elements(_raw(item, dialect))]
    return Content(json=f"[{','.join(elements)}]")


def _refuse_value(item: object) -> None:
    """Refuse what can be no message, so that the error is not one about JSON."""
    if item is None or isinstance(item, bool | int | float):
        name = "None" if item is None else f"of the type {type(item).__name__}"
        raise TypeError(f"append: a message cannot be {name}")
    if isinstance(item, bytes):
        try:
            item.decode()
        except UnicodeDecodeError:
            raise ValueError("append: the bytes are not UTF-8") from None


def to_json(given: object, dialect: v1.Dialect.ValueType) -> str:
    """Write a provider's message, list, body or event as JSON. It may contain objects of the provider's SDK.

    Raises:
        TypeError: Something in it cannot be written as JSON.
    """

    def plain(value: object) -> object:
        return _plain(value, dialect)

    try:
        text = json.dumps(given, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=plain)
        text.encode()
    except UnicodeEncodeError:
        # The text has half of a surrogate pair, which UTF-8 cannot encode.
        text = json.dumps(given, separators=(",", ":"), allow_nan=False, default=plain)
    except ValueError as error:
        raise TypeError(_why_no_json(error)) from None
    return text


def _why_no_json(error: ValueError) -> str:
    """The cause of an error of json, without its own text, which could quote content of the objects."""
    text = str(error)
    if text.startswith("Out of range float"):
        return "NaN and infinity cannot be written as JSON"
    if text.startswith("Circular reference"):
        return "an object that contains itself cannot be written as JSON"
    return "an object or a number in it cannot be written as JSON"


def _plain(value: object, dialect: v1.Dialect.ValueType) -> object:
    # Pydantic models, which the SDKs of OpenAI, Anthropic and Google use.
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        # Gemini's objects list unset fields as None.
        return dump(
            mode="json",
            by_alias=True,
            exclude_unset=True,
            exclude_none=dialect == v1.Dialect.DIALECT_GEMINI,
            # Fields that an SDK's helpers add and its API does not accept.
            exclude=getattr(value, "__api_exclude__", None),
            # The helpers use their own classes where the fields declare others.
            warnings=False,
        )
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray):
        return list(cast("Iterable[object]", value))
    name = type(value).__name__
    if hasattr(value, "__enter__") or hasattr(value, "__aenter__"):
        raise TypeError(
            f"a {name} cannot be appended: it cannot be written as JSON. If it opens a stream, pass its events on: "
            "with it as stream: yield from stream"
        )
    raise TypeError(f"a {name} cannot be appended: it cannot be written as JSON")


def _is_neutral(item: object) -> bool:
    if isinstance(item, list | tuple):
        several = cast("Sequence[object]", item)
        return bool(several) and all(isinstance(one, str | v1.Message) for one in several)
    return isinstance(item, str | v1.Message)


def _neutral(item: object) -> Iterator[v1.Message]:
    if isinstance(item, str):
        yield user(item)
    elif isinstance(item, v1.Message):
        yield item
    elif isinstance(item, bytes):
        yield from _neutral(json.loads(item))
    elif isinstance(item, Mapping):
        yield _parsed(cast(Mapping[str, Any], item))
    elif isinstance(item, Iterable):
        for one in cast(Iterable[object], item):
            yield from _neutral(one)
    else:
        raise TypeError(
            f"a {type(item).__name__} is not a neutral message: a provider's messages need the argument dialect, "
            "such as dialect='openai_chat'"
        )


def _parsed(given: Mapping[str, Any]) -> v1.Message:
    try:
        return json_format.ParseDict(dict(given), v1.Message())
    except json_format.ParseError:
        # The text of the parser quotes the message.
        raise TypeError(
            "the dict is not a neutral message in the contract's JSON: a provider's messages need the argument "
            "dialect, such as dialect='openai_chat'"
        ) from None


def _raw(item: object, dialect: v1.Dialect.ValueType) -> str:
    if isinstance(item, bytes | bytearray):
        return item.decode()
    return to_json(item, dialect)


def _elements(raw: str) -> Iterator[str]:
    """The JSON elements of a text: those of a list, else the text itself."""
    text = raw.strip()
    if not text.startswith("["):
        yield text
    elif text[1:-1].strip():
        yield text[1:-1]


def _text(role: v1.Role.ValueType, text: str) -> v1.Message:
    return v1.Message(role=role, parts=[text_part(text)])


def _clean(text: str) -> str:
    """Make a text that UTF-8 can encode: surrogate pairs are joined, single halves replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
