"""Messages of Pydantic AI as neutral messages, and views as messages of Pydantic AI.

A request of Pydantic AI has several parts, such as the results of parallel calls: each is a neutral message. What a
view shows unchanged is the program's own part or response itself, with its ids, signatures, metadata and usage.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from pydantic import TypeAdapter
from pydantic_ai.messages import (
    AudioUrl,
    BinaryContent,
    DocumentUrl,
    FilePart,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    RetryFeedbackPart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UploadedFile,
    UserPromptPart,
    VideoUrl,
)
from pydantic_ai.usage import RequestUsage

from compactord import v1

_OWNER = v1.Dialect.DIALECT_OPENAI_CHAT
"""Opaque parts belong to a dialect. Neutral views show those of each."""
_PARTS: TypeAdapter[ModelResponsePart] = TypeAdapter(ModelResponsePart)
_REQUEST_PARTS: TypeAdapter[ModelRequestPart] = TypeAdapter(ModelRequestPart)

Place = tuple[int, tuple[int, ...]]
"""The message in the program's list, and its parts."""


def neutral(messages: Sequence[ModelMessage]) -> list[v1.Message]:
    """Convert a list: what a model is shown of it, and the usage that a provider reported."""
    return [message for _, message in _placed(messages)]


def shown(view: Sequence[v1.ViewMessage], own: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Make messages of Pydantic AI of a neutral view.

    Args:
        view: The messages of the view.
        own: The program's messages.
    """
    places = _Places(own)
    # The end of a view is the end of the list: so what is said twice is found in its place.
    found = [places.of(one.message) for one in reversed(view)][::-1]
    made: list[ModelMessage] = []
    waiting: list[tuple[ModelRequestPart, ModelRequest | None]] = []
    for one, place in zip(view, found, strict=True):
        original = own[place[0]] if place else None
        if one.message.role == v1.Role.ROLE_ASSISTANT:
            made += _requests(waiting)
            waiting = []
            made.append(_response_of(one.message, original if isinstance(original, ModelResponse) else None))
        elif place and isinstance(original, ModelRequest):
            waiting += [(part, original) for part in _parts_of(one.message, original, place[1])]
        elif one.message.role != v1.Role.ROLE_SYSTEM:
            # The instructions of a run stand apart from its messages.
            waiting += [(part, None) for part in _anew(one.message)]
    return made + _requests(waiting)


class _Places:
    """Where in the program's list what a view shows was said. Messages of Pydantic AI have no ids."""

    def __init__(self, own: Sequence[ModelMessage]) -> None:
        self._left: dict[tuple[object, ...], list[Place]] = {}
        for place, message in _placed(own):
            for key in _keys(message):
                self._left.setdefault(key, []).append(place)
        self._taken: set[Place] = set()

    def of(self, message: v1.Message) -> Place | None:
        """The last place where this was said that is not taken; None where the view made the message."""
        for key in _keys(message):
            left = self._left.get(key, [])
            while left:
                place = left.pop()
                if place not in self._taken:
                    self._taken.add(place)
                    return place
        return None


def _keys(message: v1.Message) -> list[tuple[object, ...]]:
    """What tells a message apart, also where a view shows it without its thinking, or its result shorter."""
    says = [(part.WhichOneof("kind"), part.SerializeToString(deterministic=True)) for part in message.parts]
    keys: list[tuple[object, ...]] = [(message.role, *says)]
    if message.role == v1.Role.ROLE_ASSISTANT:
        keys.append((message.role, "spoken", *(one for one in says if one[0] != "thinking")))
        if calls := [part.tool_call.id for part in message.parts if part.HasField("tool_call")]:
            keys.append((message.role, "calls", *calls))
    if message.role == v1.Role.ROLE_TOOL:
        keys.append((message.role, message.parts[0].tool_result.call_id))
    return keys


def _placed(messages: Sequence[ModelMessage]) -> Iterator[tuple[Place, v1.Message]]:
    for at, message in enumerate(messages):
        if isinstance(message, ModelResponse):
            yield (at, tuple(range(len(message.parts)))), _response(message)
            continue
        silent: list[int] = []
        spoken: list[tuple[list[int], v1.Message]] = []
        for number, part in enumerate(message.parts):
            made = _request_part(part)
            if made is None:
                silent.append(number)
            else:
                spoken.append(([*silent, number], made))
                silent = []
        if silent and spoken:
            spoken[-1][0].extend(silent)
        elif silent:
            spoken = [(silent, _opaque(message.parts[silent[0]]))]
        yield from (((at, tuple(numbers)), made) for numbers, made in spoken)


def _says(message: v1.Message) -> list[bytes]:
    return [part.SerializeToString(deterministic=True) for part in message.parts]


# To neutral messages


def _request_part(part: ModelRequestPart) -> v1.Message | None:
    """What a part of a request says; None where a model is shown nothing of its own for it."""
    match part:
        case SystemPromptPart():
            return _text(v1.Role.ROLE_SYSTEM, part.content)
        case UserPromptPart():
            content = [part.content] if isinstance(part.content, str) else part.content
            return v1.Message(role=v1.Role.ROLE_USER, parts=[made for item in content if (made := _user_part(item))])
        case ToolReturnPart():
            result = v1.ToolResult(call_id=part.tool_call_id, name=part.tool_name)
            result.is_error = part.outcome in ("failed", "retried")
            if text := part.model_response_str():
                result.parts.append(v1.ResultPart(text=v1.TextPart(text=text)))
            result.parts.extend(v1.ResultPart(media=media) for file in part.files if (media := _media(file)))
            return v1.Message(role=v1.Role.ROLE_TOOL, parts=[v1.Part(tool_result=result)])
        case RetryFeedbackPart():
            return _text(v1.Role.ROLE_USER, part.model_response())
        case _:
            return None


def _opaque(part: ModelRequestPart) -> v1.Message:
    held = v1.OpaquePart(dialect=_OWNER, type=part.part_kind, json=_REQUEST_PARTS.dump_json(part).decode())
    return v1.Message(role=v1.Role.ROLE_USER, parts=[v1.Part(opaque=held)])


def _user_part(item: Any) -> v1.Part | None:
    text = item if isinstance(item, str) else getattr(item, "content", None)
    if isinstance(text, str):
        return v1.Part(text=v1.TextPart(text=text)) if text else None
    media = _media(item)
    return v1.Part(media=media) if media else None


def _response(message: ModelResponse) -> v1.Message:
    made = v1.Message(role=v1.Role.ROLE_ASSISTANT, model=message.model_name or "")
    made.parts.extend(_response_part(part) for part in message.parts)
    # A stream that was left reports nothing.
    if message.usage.input_tokens:
        made.usage.CopyFrom(_usage(message.usage))
    return made


def _response_part(part: ModelResponsePart) -> v1.Part:
    match part:
        case TextPart() if part.content:
            return v1.Part(text=v1.TextPart(text=part.content))
        case ThinkingPart():
            return v1.Part(thinking=v1.ThinkingPart(text=part.content))
        case ToolCallPart():
            call = v1.ToolCall(id=part.tool_call_id, name=part.tool_name, arguments=part.args_as_json_str())
            return v1.Part(tool_call=call)
        case FilePart() if media := _media(part.content):
            return v1.Part(media=media)
        case _:
            return v1.Part(
                opaque=v1.OpaquePart(dialect=_OWNER, type=part.part_kind, json=_PARTS.dump_json(part).decode())
            )


def _media(file: Any) -> v1.MediaPart | None:
    match file:
        case BinaryContent():
            return v1.MediaPart(mime_type=file.media_type, data=file.data)
        case UploadedFile():
            return v1.MediaPart(mime_type=file.media_type, file_id=file.file_id)
        case _ if address := getattr(file, "url", None):
            try:
                kind = file.media_type
            except ValueError:
                # The address does not say it.
                kind = "application/octet-stream"
            return v1.MediaPart(mime_type=kind, uri=address)
        case _:
            return None


def _usage(given: RequestUsage) -> v1.Usage:
    """Their input tokens are all of them, ours those that no cache had."""
    read, written = given.cache_read_tokens, given.cache_write_tokens
    return v1.Usage(
        input_tokens=max(0, given.input_tokens - read - written),
        output_tokens=given.output_tokens,
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


def _text(role: v1.Role.ValueType, text: str) -> v1.Message:
    return v1.Message(role=role, parts=[v1.Part(text=v1.TextPart(text=text))])


# From views


def _requests(parts: Sequence[tuple[ModelRequestPart, ModelRequest | None]]) -> list[ModelMessage]:
    """Parts that follow each other as one request: the program's own one where they are all of it."""
    if not parts:
        return []
    made, own = [part for part, _ in parts], [request for _, request in parts if request is not None]
    if not own:
        return [ModelRequest(parts=made)]
    last = own[-1]
    if len(made) == len(last.parts) and all(one is other for one, other in zip(made, last.parts, strict=True)):
        return [last]
    return [dataclasses.replace(last, parts=made)]


def _parts_of(message: v1.Message, original: ModelRequest, numbers: Sequence[int]) -> Sequence[ModelRequestPart]:
    """The program's own parts; where a view shows a result shorter, a copy with another content."""
    own = [original.parts[number] for number in numbers]
    if message.role != v1.Role.ROLE_TOOL:
        return own
    made: list[ModelRequestPart] = []
    for part in own:
        said = _request_part(part)
        if isinstance(part, ToolReturnPart) and (said is None or _says(said) != _says(message)):
            text = "".join(piece.text.text for piece in message.parts[0].tool_result.parts)
            made.append(dataclasses.replace(part, content=text))
        else:
            made.append(part)
    return made


def _response_of(message: v1.Message, original: ModelResponse | None) -> ModelResponse:
    """The program's own response; where a view shows less of it, a copy with those of its parts that are left."""
    own = {} if original is None else {_key(_response_part(part)): part for part in original.parts}
    if original is not None and _says(message) == _says(_response(original)):
        return original
    parts = [own.get(_key(part)) or _response_part_of(part) for part in message.parts]
    return ModelResponse(parts=parts) if original is None else dataclasses.replace(original, parts=parts)


def _key(part: v1.Part) -> bytes:
    return part.SerializeToString(deterministic=True)


def _response_part_of(part: v1.Part) -> ModelResponsePart:
    match part.WhichOneof("kind"):
        case "thinking":
            return ThinkingPart(part.thinking.text)
        case "tool_call":
            return ToolCallPart(part.tool_call.name, part.tool_call.arguments, part.tool_call.id)
        case "opaque":
            return _PARTS.validate_json(part.opaque.json)
        case "media":
            return FilePart(cast(BinaryContent, _file(part.media)))
        case _:
            return TextPart(part.text.text)


def _anew(message: v1.Message) -> list[ModelRequestPart]:
    """Parts of a request for what a neutral message says that is none of the program's."""
    if message.role == v1.Role.ROLE_TOOL:
        result = message.parts[0].tool_result
        text = "".join(part.text.text for part in result.parts)
        outcome: Any = "failed" if result.is_error else "success"
        return [ToolReturnPart(result.name, text, result.call_id, outcome=outcome)]
    content: list[Any] = []
    for part in message.parts:
        match part.WhichOneof("kind"):
            case "text":
                content.append(part.text.text)
            case "media":
                content.append(_file(part.media))
            case _:
                pass
    return [UserPromptPart(content[0] if len(content) == 1 else content)]


def _file(media: v1.MediaPart) -> Any:
    match media.WhichOneof("source"):
        case "data":
            return BinaryContent(media.data, media_type=media.mime_type)
        case "uri":
            kinds: dict[str, Callable[[str], Any]] = {"audio": AudioUrl, "video": VideoUrl, "image": ImageUrl}
            return kinds.get(media.mime_type.partition("/")[0], DocumentUrl)(media.uri)
        case _:
            return UploadedFile(media.file_id, provider_name="openai")
