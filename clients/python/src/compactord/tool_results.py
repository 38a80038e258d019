"""Converting the result of a tool to the message that is appended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from compactord import v1
from compactord.awaitables import refuse_awaitable
from compactord.messages import content, to_json, tool_result
from compactord.tools import ToolCall, ToolOutput


def result_message(call: ToolCall, output: object, dialect: v1.Dialect.ValueType) -> object:
    """Convert what ``run_tool`` returned to a message.

    A text and a :class:`ToolOutput` are results. None is an empty result. A dict or pydantic object with a ``role`` or
    a ``type`` is a message in the session's dialect. Another dict and a list are data, whose JSON is the result.

    Args:
        call: The tool call.
        output: What ``run_tool`` returned.
        dialect: The session's dialect.

    Raises:
        TypeError: This cannot be the result of the call. The text names the call and the tool.
    """
    refuse_awaitable(f"run_tool for call {call.id} of {call.name}", output)
    try:
        match output:
            case None:
                return tool_result(call, "")
            case str():
                return tool_result(call, output)
            case ToolOutput():
                return _written(call, output)
            case v1.Message():
                return _answering(call, output)
            case _:
                return _message_or_data(call, output, dialect)
    except (TypeError, ValueError) as wrong:
        raise TypeError(f"run_tool returned {_kind(output)} for call {call.id} of {call.name}: {wrong}") from None


def _written(call: ToolCall, output: ToolOutput) -> v1.Message:
    text = cast(object, output.text)
    if not isinstance(text, str):
        raise TypeError(f"its text is {_kind(text)} and must be a str")
    return tool_result(call, text, is_error=output.is_error, files=output.files)


def _answering(call: ToolCall, message: v1.Message) -> v1.Message:
    """Return a neutral message as the result of a call. Results in it without an id get the call's."""
    answered = [part.tool_result.call_id for part in message.parts if part.HasField("tool_result")]
    if message.role != v1.Role.ROLE_TOOL or not answered:
        raise TypeError("it is not a TOOL message with a tool_result")
    if any(call_id not in ("", call.id) for call_id in answered):
        raise TypeError("its call_id belongs to another call")
    own = v1.Message()
    own.CopyFrom(message)
    for part in own.parts:
        if part.HasField("tool_result"):
            part.tool_result.call_id = call.id
    return own


def _message_or_data(call: ToolCall, output: object, dialect: v1.Dialect.ValueType) -> object:
    if not _has_json(output):
        raise TypeError("it must be a str, a ToolOutput, a message, or a dict or list with data")
    text = to_json(output, dialect)
    plain: object = json.loads(text)
    if not isinstance(plain, dict) or not plain.keys() & {"role", "type"}:
        return tool_result(call, text)
    if dialect != v1.Dialect.DIALECT_UNSPECIFIED:
        return output
    [message] = content([cast("dict[str, Any]", plain)], dialect).messages
    return _answering(call, message)


def _has_json(output: object) -> bool:
    return isinstance(output, Mapping | list | tuple) or callable(getattr(output, "model_dump", None))


def _kind(output: object) -> str:
    name = type(output).__name__
    return f"an {name}" if name[0] in "aeiouAEIOU" else f"a {name}"
