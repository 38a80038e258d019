"""The protocols of the make-believe provider: what it reads of requests, and how it answers."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

MODEL = "make-believe"


@dataclass(frozen=True)
class Call:
    """A call of a tool."""

    id: str
    name: str
    given: dict[str, Any]

    @property
    def arguments(self) -> str:
        """Its arguments, as a model writes them."""
        return json.dumps(self.given)


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
        paths: The ends of the paths of its requests.
        conversation: The fields of a request that hold the conversation.
        messages: The elements of the conversation, with the system prompt first.
        last_text: The text of the newest message, where it is the user's; None where it is the result of a tool.
        body: The answer, of what is said and the tokens of the request.
        events: The events of a streamed answer.
    """

    dialect: str
    paths: tuple[str, ...]
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
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


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
            "name": call.name,
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


def _chat_last(body: dict[str, Any]) -> str | None:
    last = body["messages"][-1]
    return _text_of(last["content"]) if last["role"] == "user" else None


def _chat_message(said: Said) -> dict[str, Any]:
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in said.calls
    ]
    return {"role": "assistant", "content": said.text} | ({"tool_calls": calls} if calls else {})


def _chat_usage(tokens: int) -> dict[str, Any]:
    return {"prompt_tokens": tokens, "completion_tokens": 20, "total_tokens": tokens + 20}


def _chat_body(said: Said, tokens: int) -> dict[str, Any]:
    reason = "tool_calls" if said.calls else "stop"
    choice = {"index": 0, "message": _chat_message(said), "finish_reason": reason}
    head = {"id": f"chatcmpl-{said.number}", "object": "chat.completion", "created": 1, "model": MODEL}
    return head | {"choices": [choice], "usage": _chat_usage(tokens)}


def _chat_events(said: Said, tokens: int) -> Iterator[str]:
    head = {"id": f"chatcmpl-{said.number}", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in _pieces(said.text)]
    for index, call in enumerate(said.calls):
        named = {"index": index, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
        deltas.append({"tool_calls": [named]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": piece}}]} for piece in _pieces(call.arguments)
        ]
    choices: list[dict[str, Any]] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": "tool_calls" if said.calls else "stop"})
    for choice in choices:
        yield f"data: {json.dumps(head | {'choices': [choice]})}"
    yield f"data: {json.dumps(head | {'choices': [], 'usage': _chat_usage(tokens)})}"
    yield "data: [DONE]"


def _anthropic_last(body: dict[str, Any]) -> str | None:
    """Results come in a message of the user, in which a text may follow them."""
    content = body["messages"][-1]["content"]
    text = _text_of(content)
    results = not isinstance(content, str) and any(block["type"] == "tool_result" for block in content)
    return None if results and not text.strip() else text


def _anthropic_body(said: Said, tokens: int) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = []
    if said.thought:
        blocks.append({"type": "thinking", "thinking": said.thought, "signature": f"sealed-{said.number}"})
    blocks.append({"type": "text", "text": said.text})
    blocks += [{"type": "tool_use", "id": call.id, "name": call.name, "input": call.given} for call in said.calls]
    return {
        "id": f"msg_{said.number}",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": blocks,
        "stop_reason": "tool_use" if said.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": tokens, "output_tokens": 20},
    }


def _anthropic_events(said: Said, tokens: int) -> Iterator[str]:
    body = _anthropic_body(said, tokens)
    started: dict[str, Any] = {
        "content": [],
        "stop_reason": None,
        "usage": {"input_tokens": tokens, "output_tokens": 1},
    }
    events: list[dict[str, Any]] = [{"type": "message_start", "message": body | started}]
    empty: dict[str, Any]
    for index, block in enumerate(body["content"]):
        match block["type"]:
            case "thinking":
                empty = {"thinking": "", "signature": ""}
                deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(block["thinking"])]
                deltas.append({"type": "signature_delta", "signature": block["signature"]})
            case "text":
                empty = {"text": ""}
                deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
            case _:
                empty = {"input": {}}
                pieces = _pieces(json.dumps(block["input"]))
                deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        events.append({"type": "content_block_start", "index": index, "content_block": block | empty})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": stop, "usage": body["usage"]})
    events.append({"type": "message_stop"})
    for event in events:
        yield f"event: {event['type']}\ndata: {json.dumps(event)}"


def _gemini_last(body: dict[str, Any]) -> str | None:
    parts = body["contents"][-1]["parts"]
    return None if "functionResponse" in parts[0] else "\n".join(part.get("text", "") for part in parts)


def _gemini_parts(said: Said) -> list[dict[str, Any]]:
    """The parts of an answer. The model signs its first call, or without calls its text, and does not show thoughts."""
    sealed = {"thoughtSignature": base64.b64encode(f"sealed-{said.number}".encode()).decode()}
    parts: list[dict[str, Any]] = [{"text": said.text} | ({} if said.calls else sealed)]
    parts += [{"functionCall": {"name": call.name, "args": call.given}} for call in said.calls]
    if said.calls:
        parts[-len(said.calls)] |= sealed
    return parts


def _gemini_answer(said: Said, parts: list[dict[str, Any]], tokens: int, end: bool) -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    usage = {"promptTokenCount": tokens, "candidatesTokenCount": 20, "totalTokenCount": tokens + 20}
    head = {"responseId": f"answer-{said.number}", "modelVersion": MODEL, "usageMetadata": usage}
    return head | {"candidates": [candidate | ({"finishReason": "STOP"} if end else {})]}


def _gemini_events(said: Said, tokens: int) -> Iterator[str]:
    text, *calls = _gemini_parts(said)
    chunks = [[{"text": piece}] for piece in _pieces(said.text)]
    # The signature of a text comes at its end, with an empty one.
    chunks.append(calls or [text | {"text": ""}])
    for number, chunk in enumerate(chunks, 1):
        yield f"data: {json.dumps(_gemini_answer(said, chunk, tokens, number == len(chunks)))}"


PROTOCOLS = [
    Protocol(
        dialect="openai_responses",
        paths=("/responses",),
        conversation=("instructions", "input"),
        messages=lambda body: [body.get("instructions"), *body["input"]],
        last_text=_responses_last,
        body=_responses_body,
        events=_responses_events,
    ),
    Protocol(
        dialect="openai_chat",
        paths=("/chat/completions",),
        conversation=("messages",),
        messages=lambda body: body["messages"],
        last_text=_chat_last,
        body=_chat_body,
        events=_chat_events,
    ),
    Protocol(
        dialect="anthropic",
        paths=("/messages",),
        conversation=("system", "messages"),
        messages=lambda body: [body.get("system"), *body["messages"]],
        last_text=_anthropic_last,
        body=_anthropic_body,
        events=_anthropic_events,
    ),
    Protocol(
        dialect="gemini",
        paths=(":generateContent", ":streamGenerateContent"),
        conversation=("systemInstruction", "contents"),
        messages=lambda body: [body.get("systemInstruction"), *body["contents"]],
        last_text=_gemini_last,
        body=lambda said, tokens: _gemini_answer(said, _gemini_parts(said), tokens, True),
        events=_gemini_events,
    ),
]
