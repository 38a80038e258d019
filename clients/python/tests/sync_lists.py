"""Lists as agents hold them, in each dialect, and what a test needs to look at them."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable
from typing import Any

import compactord
from compactord import v1

DIALECTS: list[compactord.Dialect | None] = ["openai_chat", "openai_responses", "anthropic", "gemini", None]
APART = ("openai_responses", "anthropic", "gemini")
"""The dialects with a system prompt apart from the messages."""

Step = list[Any]
"""The elements of a list that an agent adds or drops together."""


def user(dialect: str | None, text: str) -> Any:
    match dialect:
        case "gemini":
            return {"role": "user", "parts": [{"text": text}]}
        case None:
            return compactord.user(text)
        case _:
            return {"role": "user", "content": text}


def assistant(dialect: str | None, text: str) -> Any:
    match dialect:
        case "gemini":
            return {"role": "model", "parts": [{"text": text}]}
        case None:
            return compactord.assistant(text)
        case _:
            return {"role": "assistant", "content": text}


def call(dialect: str | None, name: str, text: str) -> Any:
    """A call of a tool, whose id is ``name`` where the dialect has ids."""
    arguments = {"text": text}
    match dialect:
        case "openai_chat":
            function = {"name": "look", "arguments": json.dumps(arguments)}
            calls = [{"id": name, "type": "function", "function": function}]
            return {"role": "assistant", "content": None, "tool_calls": calls}
        case "openai_responses":
            return {"type": "function_call", "call_id": name, "name": "look", "arguments": json.dumps(arguments)}
        case "anthropic":
            return {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": name, "name": "look", "input": arguments}],
            }
        case "gemini":
            return {"role": "model", "parts": [{"functionCall": {"name": "look", "args": arguments}}]}
        case _:
            made = v1.ToolCall(id=name, name="look", arguments=json.dumps(arguments))
            return v1.Message(role=v1.Role.ROLE_ASSISTANT, parts=[v1.Part(tool_call=made)])


def result(dialect: str | None, name: str, text: str) -> Any:
    match dialect:
        case "openai_chat":
            return {"role": "tool", "tool_call_id": name, "content": text}
        case "openai_responses":
            return {"type": "function_call_output", "call_id": name, "output": text}
        case "anthropic":
            return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": text}]}
        case "gemini":
            return {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"output": text}}}]}
        case _:
            return compactord.tool_result(name, text)


class Writer:
    """Writes the steps of a conversation. Each text has a mark that no other one has."""

    def __init__(self, dialect: str | None, chance: random.Random, *, words: int = 3) -> None:
        self._dialect = dialect
        self._chance = chance
        self._words = words
        self._count = 0

    def text(self) -> str:
        self._count += 1
        return f"mark{self._count}. " + "word " * self._words

    def answer(self) -> Any:
        return assistant(self._dialect, self.text())

    def steps(self) -> list[Step]:
        """A turn: a request, calls of tools with their results, and an answer."""
        steps: list[Step] = [[user(self._dialect, self.text())]]
        for _ in range(self._chance.randrange(3)):
            name = f"call_{self._count}"
            steps.append([call(self._dialect, name, self.text()), result(self._dialect, name, self.text())])
        return [*steps, [self.answer()]]


def flat(steps: Iterable[Step]) -> list[Any]:
    return [element for step in steps for element in step]


def marks(elements: Iterable[Any]) -> list[str]:
    """The marks of the texts in a list or a view, in order."""
    return [mark for element in elements for mark in re.findall(r"mark\d+", _text(element))]


def _text(element: Any) -> str:
    return json.dumps(element) if isinstance(element, dict | str) else str(element)


class Sent:
    """Counts what the syncs of a client send."""

    def __init__(self, client: compactord.Client) -> None:
        stub: Any = client.sessions
        self._stub = stub
        self._call = stub.SyncMessages
        stub.SyncMessages = self
        self.calls: list[int] = []
        """Of each call, how many elements it sent with their content."""

    def __call__(self, request: v1.SyncMessagesRequest, **options: Any) -> Any:
        self.calls.append(sum(not element.HasField("digest") for element in request.elements))
        return self._call(request, **options)

    def end(self) -> None:
        """Count no more."""
        self._stub.SyncMessages = self._call

    def taken(self) -> list[int]:
        """What was sent since the last time."""
        calls, self.calls = self.calls, []
        return calls
