"""The protocols of the make-believe provider: what it reads of requests, and how it answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

MODEL = "make-believe"


@dataclass(frozen=True)
class Call:
    """A call of the tool that reads a file."""

    id: str
    path: str

    @property
    def arguments(self) -> str:
        """Its arguments."""
        return json.dumps({"path": self.path})


@dataclass(frozen=True)
class Said:
    """An answer of the model: its number, its thinking, its text, and its calls."""

    number: int
    thought: str
    text: str
    calls: Sequence[Call] = ()


@dataclass(frozen=True)
class Protocol:
    """How a provider is spoken with.

    Attributes:
        dialect: Its name for ``compactord validate``.
        path: The end of the path of its requests.
        conversation: The fields of a request that hold the conversation.
        messages: The elements of the conversation, with the system prompt first.
        last_text: The text of the newest message, where it is the user's; None where it is the result of a tool.
        body: The answer, of what is said and the tokens of the request.
        events: The events of a streamed answer.
    """

    dialect: str
    path: str
    conversation: Sequence[str]
    messages: Callable[[dict[str, Any]], list[Any]]
    last_text: Callable[[dict[str, Any]], str | None]
    body: Callable[[Said, int], dict[str, Any]]
    events: Callable[[Said, int], Iterator[str]]


def _pieces(text: str) -> list[str]:
    """A text as a stream has it, in three pieces."""
    third = len(text) // 3
    return [text[:third], text[third : 2 * third], text[2 * third :]]


def _text_of(content: Any) -> str:
    """The text of a content: a text, or a list of parts."""
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)


def _responses_last(body: dict[str, Any]) -> str | None:
    last = body["input"] if isinstance(body["input"], str) else body["input"][-1]
    if isinstance(last, str):
        return last
    return _text_of(last["content"]) if last.get("role") == "user" else None


def _responses_body(said: Said, tokens: int) -> dict[str, Any]:
    thought = {"type": "summary_text", "text": said.thought}
    output: list[dict[str, Any]] = [
        {
            "type": "reasoning",
            "id": f"rs_{said.number}",
            "summary": [thought],
            "encrypted_content": f"sealed-{said.number}",
        },
        {
            "type": "message",
            "id": f"msg_{said.number}",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": said.text, "annotations": [], "logprobs": []}],
        },
    ]
    output += [
        {
            "type": "function_call",
            "id": f"fc_{said.number}_{at}",
            "call_id": call.id,
            "name": "read_file",
            "arguments": call.arguments,
            "status": "completed",
        }
        for at, call in enumerate(said.calls)
    ]
    return {
        "id": f"resp_{said.number}",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": MODEL,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": tokens,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 5},
            "total_tokens": tokens + 20,
        },
    }


def _responses_events(said: Said, tokens: int) -> Iterator[str]:
    body = _responses_body(said, tokens)
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": body | {"status": "in_progress", "output": []}}
    ]
    for index, item in enumerate(body["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        events.append({"type": "response.output_item.added", "output_index": index, "item": item})
        if item["type"] == "message":
            for piece in _pieces(said.text):
                delta = {"type": "response.output_text.delta", "content_index": 0, "delta": piece, "logprobs": []}
                events.append(delta | place)
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": body})
    for number, event in enumerate(events):
        yield f"event: {event['type']}\ndata: {json.dumps(event | {'sequence_number': number})}"


PROTOCOLS = [
    Protocol(
        dialect="openai_responses",
        path="/responses",
        conversation=("instructions", "input"),
        messages=lambda body: [body.get("instructions"), *body["input"]],
        last_text=_responses_last,
        body=_responses_body,
        events=_responses_events,
    ),
]
