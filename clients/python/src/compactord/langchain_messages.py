"""Messages of LangChain as neutral messages, and views as messages of LangChain.

A message of a view that is one of the program's own, unchanged, is that message itself: its id, artifact, usage and all
that a provider's package keeps in it. One that the view shows shorter is a copy with another content.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.tool import InvalidToolCall

from compactord import v1

_OWNER = v1.Dialect.DIALECT_OPENAI_CHAT
"""Attachments and opaque parts belong to a dialect. Neutral views show those of each."""
_ID = "langchain_id"
_ROLES = {
    "human": v1.Role.ROLE_USER,
    "ai": v1.Role.ROLE_ASSISTANT,
    "system": v1.Role.ROLE_SYSTEM,
    "tool": v1.Role.ROLE_TOOL,
}
_MEDIA = {"image": "image/*", "audio": "audio/*", "video": "video/*", "file": "application/octet-stream"}


def neutral(message: BaseMessage) -> v1.Message:
    """Convert a message: what a model is shown of it, the usage that a provider reported, and its id."""
    role = _ROLES.get(message.type, v1.Role.ROLE_USER)
    made = v1.Message(role=role)
    if message.id:
        made.attachments.append(v1.Attachment(dialect=_OWNER, key=_ID, json=json.dumps(message.id)))
    parts = list(_parts(_blocks(message)))
    match message:
        case AIMessage():
            made.parts.extend(parts)
            made.model = str(message.response_metadata.get("model_name") or "")
            # Some streams report the output alone, which says nothing about the context.
            if message.usage_metadata and message.usage_metadata["input_tokens"]:
                made.usage.CopyFrom(_usage(message.usage_metadata))
        case ToolMessage():
            result = v1.ToolResult(call_id=message.tool_call_id, name=message.name or "")
            result.is_error = message.status == "error"
            result.parts.extend(_result_parts(parts))
            made.parts.append(v1.Part(tool_result=result))
        case SystemMessage():
            made.parts.append(v1.Part(text=v1.TextPart(text=message.text)))
        case _:
            made.parts.extend(parts)
            made.name = message.name or ""
    return made


def shown(view: Iterable[v1.ViewMessage], own: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Make messages of LangChain of a neutral view.

    Args:
        view: The messages of the view, without the instructions at its start.
        own: The program's messages.
    """
    by_id = {message.id: message for message in own if message.id}
    return [_shown(one, by_id) for one in view]


def _shown(one: v1.ViewMessage, by_id: Mapping[str, AnyMessage]) -> AnyMessage:
    kept = next((note.json for note in one.message.attachments if note.key == _ID), "null")
    original = by_id.get(json.loads(kept)) if one.WhichOneof("origin") == "index" else None
    if original is None:
        return langchain(one.message)
    if _says(neutral(original)) == _says(one.message):
        return original
    # An edit made it shorter, or thinking is no longer shown.
    return original.model_copy(update={"content": langchain(one.message).content})


def _says(message: v1.Message) -> tuple[int, list[bytes]]:
    return message.role, [part.SerializeToString(deterministic=True) for part in message.parts]


def langchain(message: v1.Message) -> AnyMessage:
    """Make a message of LangChain of what a neutral message says."""
    if message.role == v1.Role.ROLE_TOOL:
        result = message.parts[0].tool_result
        content = _content(_block_of_result(part) for part in result.parts)
        status = "error" if result.is_error else "success"
        return ToolMessage(content, tool_call_id=result.call_id, name=result.name or None, status=status)
    content = _content(block for part in message.parts for block in _blocks_of(part))
    match message.role:
        case v1.Role.ROLE_ASSISTANT:
            made = AIMessage(content)
            for part in message.parts:
                if part.HasField("tool_call"):
                    _add_call(made, part.tool_call)
            return made
        case v1.Role.ROLE_SYSTEM | v1.Role.ROLE_DEVELOPER:
            return SystemMessage(content)
        case _:
            return HumanMessage(content, name=message.name or None)


def _add_call(message: AIMessage, call: v1.ToolCall) -> None:
    arguments = _arguments(call.arguments)
    if arguments is not None:
        message.tool_calls.append({"type": "tool_call", "name": call.name, "args": arguments, "id": call.id})
        return
    kept = {"name": call.name, "args": call.arguments, "id": call.id, "error": None}
    message.invalid_tool_calls.append(cast("InvalidToolCall", kept | {"type": "invalid_tool_call"}))


def _blocks(message: BaseMessage) -> list[Mapping[str, Any]]:
    """The content in LangChain's own standard form, whichever provider's it is."""
    blocks = cast("list[Mapping[str, Any]]", message.content_blocks)
    if isinstance(message, AIMessage):
        # Not each provider's form has the calls in the content.
        known = {block.get("id") for block in blocks if block["type"] in ("tool_call", "invalid_tool_call")}
        calls: list[Any] = [*message.tool_calls, *message.invalid_tool_calls]
        blocks = [*blocks, *(call for call in calls if call.get("id") not in known)]
    return blocks


def _parts(blocks: Iterable[Mapping[str, Any]]) -> Iterable[v1.Part]:
    for block in blocks:
        kind = block["type"]
        if kind in ("text", "text-plain"):
            if block.get("text"):
                yield v1.Part(text=v1.TextPart(text=block["text"]))
        elif kind == "reasoning":
            yield v1.Part(thinking=v1.ThinkingPart(text=block.get("reasoning") or ""))
        elif kind in ("tool_call", "invalid_tool_call"):
            arguments = block.get("args")
            text = arguments if isinstance(arguments, str) else json.dumps(arguments if arguments is not None else {})
            yield v1.Part(
                tool_call=v1.ToolCall(id=block.get("id") or "", name=block.get("name") or "?", arguments=text)
            )
        elif kind in _MEDIA and (media := _media(block)):
            yield v1.Part(media=media)
        else:
            yield v1.Part(opaque=v1.OpaquePart(dialect=_OWNER, type=str(kind), json=json.dumps(block, default=str)))


def _media(block: Mapping[str, Any]) -> v1.MediaPart | None:
    made = v1.MediaPart(mime_type=block.get("mime_type") or _MEDIA[block["type"]])
    if data := block.get("base64"):
        made.data = base64.b64decode(data)
    elif address := block.get("url"):
        made.uri = address
    elif identity := block.get("file_id"):
        made.file_id = identity
    else:
        return None
    return made


def _result_parts(parts: Iterable[v1.Part]) -> Iterable[v1.ResultPart]:
    for part in parts:
        match part.WhichOneof("kind"):
            case "text":
                yield v1.ResultPart(text=part.text)
            case "media":
                yield v1.ResultPart(media=part.media)
            case "opaque":
                yield v1.ResultPart(opaque=part.opaque)
            case _:
                pass


def _usage(given: Mapping[str, Any]) -> v1.Usage:
    """LangChain's input tokens are all of them, ours those that no cache had."""
    details = given.get("input_token_details") or {}
    read, written = details.get("cache_read") or 0, details.get("cache_creation") or 0
    return v1.Usage(
        input_tokens=max(0, given["input_tokens"] - read - written),
        output_tokens=given["output_tokens"],
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


def _content(blocks: Iterable[Mapping[str, Any]]) -> Any:
    """A text where that is all, else the blocks."""
    made = list(blocks)
    if all(block["type"] == "text" for block in made) and len(made) <= 1:
        return "".join(block["text"] for block in made)
    return [dict(block) for block in made]


def _blocks_of(part: v1.Part) -> list[Mapping[str, Any]]:
    match part.WhichOneof("kind"):
        case "text":
            return [{"type": "text", "text": part.text.text}]
        case "thinking":
            return [{"type": "reasoning", "reasoning": part.thinking.text}]
        case "media":
            return [_block_of_media(part.media)]
        case "opaque":
            return [json.loads(part.opaque.json)]
        case _:
            return []


def _block_of_result(part: v1.ResultPart) -> Mapping[str, Any]:
    match part.WhichOneof("kind"):
        case "media":
            return _block_of_media(part.media)
        case "opaque":
            return cast("Mapping[str, Any]", json.loads(part.opaque.json))
        case _:
            return {"type": "text", "text": part.text.text}


def _block_of_media(media: v1.MediaPart) -> Mapping[str, Any]:
    kind = media.mime_type.partition("/")[0]
    block: dict[str, Any] = {"type": kind if kind in _MEDIA else "file"}
    if media.mime_type != _MEDIA[block["type"]]:
        block["mime_type"] = media.mime_type
    match media.WhichOneof("source"):
        case "data":
            return block | {"base64": base64.b64encode(media.data).decode()}
        case "uri":
            return block | {"url": media.uri}
        case _:
            return block | {"file_id": media.file_id}


def _arguments(text: str) -> dict[str, Any] | None:
    try:
        read = json.loads(text)
    except ValueError:
        return None
    return cast("dict[str, Any]", read) if isinstance(read, dict) else None
