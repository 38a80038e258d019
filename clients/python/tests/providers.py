"""What the providers' models answer and how their packages fail, for make-believe models: one entry a dialect."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import anthropic
import httpx2
import openai
from anthropic.types import Message as AnthropicMessage
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

from compactord import Dialect, v1

WINDOW = 20_000
"""The context window of all make-believe models."""


@dataclass(frozen=True)
class Called:
    """A tool call that a make-believe model makes."""

    id: str
    name: str
    arguments: str = "{}"


@dataclass(frozen=True)
class Said:
    """What a make-believe model answers.

    Attributes:
        text: The text.
        calls: The tool calls.
        input_tokens: What it says that its input had; 0: nothing.
    """

    text: str = ""
    calls: Sequence[Called] = ()
    input_tokens: int = 0


@dataclass(frozen=True)
class Provider:
    """One way in which models answer.

    Attributes:
        dialect: The session's dialect.
        body: Makes the body of a response.
        events: Makes the events of a streamed response.
        sdk: Makes of a body what the provider's package gives.
        overflow: Makes what the provider's package raises where the context is too long.
        failure: Makes what it raises where something else is wrong.
    """

    dialect: Dialect | None
    body: Callable[[Said], Any]
    events: Callable[[Said], list[Any]]
    sdk: Callable[[Any], object]
    overflow: Callable[[], Exception]
    failure: Callable[[], Exception]

    @property
    def name(self) -> str:
        """Its name in the names of tests."""
        return self.dialect or "neutral"


def _chat_body(said: Said) -> Any:
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in said.calls
    ]
    message: dict[str, Any] = {"role": "assistant", "content": said.text or None}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    body = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "make-believe", "choices": [choice]}
    return body | _chat_usage(said)


def _chat_usage(said: Said) -> dict[str, Any]:
    if not said.input_tokens:
        return {}
    used = {"prompt_tokens": said.input_tokens, "completion_tokens": 5, "total_tokens": said.input_tokens + 5}
    return {"usage": used}


def _chat_events(said: Said) -> list[Any]:
    head: dict[str, Any] = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "make-believe"}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in _pieces(said.text)]
    for index, call in enumerate(said.calls):
        function = {"name": call.name, "arguments": ""}
        deltas.append({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": piece}}]} for piece in _pieces(call.arguments)
        ]
    choices: list[dict[str, Any]] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": "tool_calls" if said.calls else "stop"})
    chunks: list[Any] = [{**head, "choices": [choice]} for choice in choices]
    if said.input_tokens:
        chunks.append({**head, "choices": [], **_chat_usage(said)})
    return chunks


def _responses_body(said: Said) -> Any:
    output: list[dict[str, Any]] = []
    if said.text:
        text: dict[str, Any] = {"type": "output_text", "text": said.text, "annotations": []}
        output.append({"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [text]})
    for number, call in enumerate(said.calls):
        output.append(
            {
                "type": "function_call",
                "id": f"fc_{number}",
                "call_id": call.id,
                "name": call.name,
                "arguments": call.arguments,
                "status": "completed",
            }
        )
    body: dict[str, Any] = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": "make-believe",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    if said.input_tokens:
        body["usage"] = {
            "input_tokens": said.input_tokens,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": said.input_tokens + 5,
        }
    return body


def _responses_events(said: Said) -> list[Any]:
    body = _responses_body(said)
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": body | {"status": "in_progress", "output": []}}
    ]
    for index, item in enumerate(body["output"]):
        events.append({"type": "response.output_item.added", "output_index": index, "item": item})
        if item["type"] == "message":
            events += [
                {
                    "type": "response.output_text.delta",
                    "item_id": item["id"],
                    "output_index": index,
                    "content_index": 0,
                    "delta": piece,
                }
                for piece in _pieces(said.text)
            ]
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": body})
    return [event | {"sequence_number": number} for number, event in enumerate(events)]


def _anthropic_body(said: Said) -> Any:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": said.text}] if said.text else []
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(call.arguments)}
        for call in said.calls
    ]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "make-believe",
        "content": blocks,
        "stop_reason": "tool_use" if said.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": said.input_tokens, "output_tokens": 5 if said.input_tokens else 0},
    }


def _anthropic_events(said: Said) -> list[Any]:
    body = _anthropic_body(said)
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": body | {"content": [], "stop_reason": None}},
        {"type": "ping"},
    ]
    for index, block in enumerate(body["content"]):
        if block["type"] == "text":
            start, deltas = (
                {"type": "text", "text": ""},
                [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])],
            )
        else:
            start, deltas = (
                block | {"input": {}},
                [
                    {"type": "input_json_delta", "partial_json": piece}
                    for piece in _pieces(json.dumps(block["input"], ensure_ascii=False))
                ],
            )
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": stop, "usage": {"output_tokens": body["usage"]["output_tokens"]}})
    events.append({"type": "message_stop"})
    return events


def _gemini_body(said: Said) -> Any:
    return _gemini_chunk(([{"text": said.text}] if said.text else []) + _gemini_calls(said), said, last=True)


def _gemini_calls(said: Said) -> list[dict[str, Any]]:
    return [
        {"functionCall": {"id": call.id, "name": call.name, "args": json.loads(call.arguments)}} for call in said.calls
    ]


def _gemini_chunk(parts: list[dict[str, Any]], said: Said, *, last: bool) -> Any:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    chunk: dict[str, Any] = {"candidates": [candidate], "modelVersion": "make-believe"}
    if last:
        candidate["finishReason"] = "STOP"
    if last and said.input_tokens:
        chunk["usageMetadata"] = {
            "promptTokenCount": said.input_tokens,
            "candidatesTokenCount": 5,
            "totalTokenCount": said.input_tokens + 5,
        }
    return chunk


def _gemini_events(said: Said) -> list[Any]:
    chunks = [_gemini_chunk([{"text": piece}], said, last=False) for piece in _pieces(said.text)]
    return [*chunks, _gemini_chunk(_gemini_calls(said) or [{"text": ""}], said, last=True)]


def _neutral_body(said: Said) -> Any:
    parts = [v1.Part(text=v1.TextPart(text=said.text))] if said.text else []
    parts += [
        v1.Part(tool_call=v1.ToolCall(id=call.id, name=call.name, arguments=call.arguments)) for call in said.calls
    ]
    usage = v1.Usage(input_tokens=said.input_tokens, output_tokens=5) if said.input_tokens else None
    stop = v1.StopReason.STOP_REASON_TOOL_USE if said.calls else v1.StopReason.STOP_REASON_END
    return v1.Message(role=v1.Role.ROLE_ASSISTANT, parts=parts, stop_reason=stop, usage=usage)


def _pieces(text: str) -> list[str]:
    return [text[start : start + 7] for start in range(0, len(text), 7)]


def _response(status: int, body: Any) -> httpx2.Response:
    return httpx2.Response(status, json=body, request=httpx2.Request("POST", "http://provider.test/v1"))


def _openai_error(kind: type[openai.APIStatusError], status: int, message: str, code: str) -> Callable[[], Exception]:
    def make() -> Exception:
        error = {"message": message, "type": "invalid_request_error", "code": code}
        return kind(message, response=_response(status, {"error": error}), body=error)

    return make


def _anthropic_error(kind: type[anthropic.APIStatusError], status: int, message: str) -> Callable[[], Exception]:
    def make() -> Exception:
        body = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
        return kind(message, response=_response(status, body), body=body)

    return make


class GeminiError(Exception):
    """An error as google-genai raises it: the HTTP status is in `code`."""

    def __init__(self, code: int, status: str, message: str) -> None:
        super().__init__(f"{code} {status}. {message}")
        self.code, self.status, self.message = code, status, message


_TOO_LONG = "This model's maximum context length is 20000 tokens. However, your messages resulted in 23456 tokens."
_GEMINI_TOO_LONG = "The input token count (23456) exceeds the maximum number of tokens allowed (20000)."

PROVIDERS = [
    Provider(
        "openai_chat",
        _chat_body,
        _chat_events,
        ChatCompletion.model_validate,
        _openai_error(openai.BadRequestError, 400, _TOO_LONG, "context_length_exceeded"),
        _openai_error(
            openai.RateLimitError, 429, "Rate limit reached: 10000 tokens per minute.", "rate_limit_exceeded"
        ),
    ),
    Provider(
        "openai_responses",
        _responses_body,
        _responses_events,
        Response.model_validate,
        _openai_error(
            openai.BadRequestError,
            400,
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
            "context_length_exceeded",
        ),
        _openai_error(openai.AuthenticationError, 401, "Incorrect API key provided.", "invalid_api_key"),
    ),
    Provider(
        "anthropic",
        _anthropic_body,
        _anthropic_events,
        AnthropicMessage.model_validate,
        _anthropic_error(anthropic.BadRequestError, 400, "prompt is too long: 23456 tokens > 20000 maximum"),
        _anthropic_error(anthropic.InternalServerError, 529, "Overloaded"),
    ),
    Provider(
        "gemini",
        _gemini_body,
        _gemini_events,
        lambda body: body,
        lambda: GeminiError(400, "INVALID_ARGUMENT", _GEMINI_TOO_LONG),
        lambda: GeminiError(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
    ),
    Provider(
        None,
        _neutral_body,
        lambda said: _pieces(said.text),
        lambda body: body,
        lambda: RuntimeError(_TOO_LONG),
        lambda: RuntimeError("the model is on holiday"),
    ),
]
