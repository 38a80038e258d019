"""The answers of models, as `run_turn` gets them from the function that calls the model."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable, Mapping
from typing import Any, TypeAlias, TypeGuard

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


def appendable(answer: object) -> object:
    """Return what to append for an answer that was not streamed.

    Raises:
        TypeError: The answer is None, an empty dict, or a coroutine that nobody awaited.
        ValueError: The answer is an empty list of events.
    """
    refuse_awaitable("call_model", answer)
    if answer is None or answer == {}:
        empty = "None" if answer is None else "an empty dict"
        raise TypeError(f"call_model returned {empty}: it must return the model's answer")
    if answer == []:
        raise ValueError(_NO_EVENTS)
    return assistant(answer) if isinstance(answer, str) else answer


def is_stream(answer: object) -> TypeGuard[Iterable[Any]]:
    """Whether an answer is a stream that has to be read event by event."""
    if isinstance(answer, str | bytes | bytearray | memoryview | Mapping | list | tuple | v1.Message):
        return False
    # Models of pydantic are iterable too: over their fields.
    pydantic = callable(getattr(answer, "model_dump", None))
    return isinstance(answer, Iterable) and not pydantic


def is_async_stream(answer: object) -> TypeGuard[AsyncIterable[Any]]:
    """Whether an answer is an asynchronous stream of events."""
    return isinstance(answer, AsyncIterable)
