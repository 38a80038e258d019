"""What a model answered, as `run_turn` takes it from the function that called the model."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable, Mapping
from typing import Any, TypeAlias, TypeGuard

from compactord import v1
from compactord.messages import SDKObject, assistant, to_json

AnswerLike: TypeAlias = str | bytes | v1.Message | Mapping[str, Any] | list[Any] | SDKObject
"""What a model can be said to have answered:

- a dict, or an object of a provider's SDK: the response's body, or the assistant's message;
- ``bytes``: the same as it came over HTTP;
- a list of dicts or such objects: the events of a streamed answer, or a provider's list of items;
- ``str``: the text of the answer;
- :class:`compactord.v1.Message`: a neutral ASSISTANT message.
"""


_NO_EVENTS = "the model's stream had no events"


class StreamedAnswer:
    """The events of an answer, collected while it is streamed.

    They are kept as JSON: what the provider's package made of them can go as soon as the next one is there.
    """

    def __init__(self, dialect: v1.Dialect.ValueType) -> None:
        """Begin with none.

        Args:
            dialect: The session's dialect.
        """
        self._dialect: v1.Dialect.ValueType = dialect
        self._events: list[str] = []
        self._text: list[str] = []

    def add(self, event: object) -> None:
        """Take the next event: an object of the provider's SDK, a dict, its JSON as bytes, or a piece of text.

        Raises:
            TypeError: It has no JSON, or pieces of text and events are mixed.
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
        """The answer, as one append takes it: all events as a JSON list, or an assistant's text.

        Raises:
            ValueError: It had neither.
        """
        if not self._text and not self._events:
            raise ValueError(_NO_EVENTS)
        return assistant("".join(self._text)) if self._text else f"[{','.join(self._events)}]".encode()


def appendable(answer: object) -> object:
    """What to append of an answer that came whole.

    Raises:
        TypeError: It is None.
        ValueError: It is a list of events without any.
    """
    if answer is None:
        raise TypeError("call_model returned None in place of the model's answer")
    if answer == []:
        raise ValueError(_NO_EVENTS)
    return assistant(answer) if isinstance(answer, str) else answer


def is_stream(answer: object) -> TypeGuard[Iterable[Any]]:
    """Whether an answer still has to be read to its end, event by event."""
    if isinstance(answer, str | bytes | bytearray | memoryview | Mapping | list | tuple | v1.Message):
        return False
    # The models of pydantic are iterable, too: over their fields.
    pydantic = callable(getattr(answer, "model_dump", None))
    return isinstance(answer, Iterable) and not pydantic


def is_async_stream(answer: object) -> TypeGuard[AsyncIterable[Any]]:
    """The same of an answer whose events have to be waited for."""
    return isinstance(answer, AsyncIterable)
