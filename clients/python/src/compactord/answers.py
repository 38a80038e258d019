"""The answers of models, as `run_turn` gets them from the function that calls the model."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable, Mapping
from typing import Any, TypeAlias, TypeGuard, cast

from compactord import v1
from compactord.awaitables import refuse_awaitable
from compactord.messages import SDKObject, assistant, to_json

AnswerLike: TypeAlias = str | bytes | v1.Message | Mapping[str, Any] | list[Any] | SDKObject
"""The forms in which `call_model` can return a model's answer:

- a dict, or an object of a provider's SDK: the response's body, or the assistant's message;
- ``bytes``: the same as raw JSON, as received over HTTP;
- a list of dicts or such objects: the events of a streamed answer, or a provider's list of items;
- ``str``: the text of the answer;
- :class:`compactord.v1.Message`: a neutral ASSISTANT message.
"""


_NO_EVENTS = "the model's stream had no events"


class StreamedAnswer:
    """The events of an answer, collected while it is streamed.

    They are kept as JSON, so that each object of the provider's package can be freed after its event.
    """

    def __init__(self, dialect: v1.Dialect.ValueType) -> None:
        """Start without events.

        Args:
            dialect: The session's dialect.
        """
        self._dialect: v1.Dialect.ValueType = dialect
        self._events: list[str] = []
        self._text: list[str] = []

    def add(self, event: object) -> None:
        """Add the next event: an object of the provider's SDK, a dict, its JSON as bytes, or a piece of text.

        Raises:
            TypeError: The event cannot be written as JSON, or pieces of text and events are mixed.
        """
        if isinstance(event, str):
            self._text.append(event)
        elif event is None or isinstance(event, bool | int | float):
            raise TypeError(f"call_model: an event of its stream is of the type {type(event).__name__}")
        elif isinstance(event, bytes):
            self._events += [event.decode()] if event else []
        else:
            self._events.append(to_json(event, self._dialect))
        if self._text and self._events:
            raise TypeError("a streamed answer is either events or pieces of text (str), not both")

    def whole(self) -> bytes | v1.Message:
        """Return the whole answer for one append: all events as a JSON list, or an assistant message with the text.

        Raises:
            ValueError: There was neither an event nor text.
        """
        if not self._text and not self._events:
            raise ValueError(_NO_EVENTS)
        return assistant("".join(self._text)) if self._text else f"[{','.join(self._events)}]".encode()


STREAMED = object()
"""Stands for an answer whose events were read from its stream."""


def appendable(answer: object) -> object:
    """Return what to append for an answer that was not streamed.

    Raises:
        TypeError: The answer is nothing, no answer of a model, or a coroutine that nobody awaited.
        ValueError: The answer is an empty list of events.
    """
    refuse_awaitable("call_model", answer)
    if answer == []:
        raise ValueError(_NO_EVENTS)
    returned = _no_answer(answer)
    if returned:
        raise TypeError(
            f"call_model returned {returned}: it must return the model's answer: an object of the provider's package, "
            "a dict, its JSON as bytes, a str, a v1.Message, or a stream of events"
        )
    return assistant(answer) if isinstance(answer, str) else answer


def _no_answer(answer: object) -> str:
    """Name what cannot be an answer; empty where it can be one."""
    if answer is None:
        return "None"
    if isinstance(answer, Mapping | bytes) and not len(cast("bytes", answer)):
        return f"an empty {type(cast('object', answer)).__name__}"
    if isinstance(answer, str | bytes | v1.Message | Mapping | list):
        return ""
    # Of what opens a stream, the error for messages says how to read it.
    if any(hasattr(answer, name) for name in ("model_dump", "__enter__", "__aenter__")):
        return ""
    name = type(answer).__name__
    return f"an {name}" if name[0] in "aeiouAEIOU" else f"a {name}"


def is_stream(answer: object) -> TypeGuard[Iterable[Any]]:
    """Whether an answer is a stream that has to be read event by event."""
    if isinstance(answer, str | bytes | bytearray | memoryview | Mapping | list | tuple | set | frozenset | v1.Message):
        return False
    # Models of pydantic are iterable too: over their fields.
    pydantic = callable(getattr(answer, "model_dump", None))
    return isinstance(answer, Iterable) and not pydantic


def is_async_stream(answer: object) -> TypeGuard[AsyncIterable[Any]]:
    """Whether an answer is an asynchronous stream of events."""
    return isinstance(answer, AsyncIterable)
