"""A session's view as items of the OpenAI Agents SDK.

Items are those of OpenAI Responses, one of our dialects. Only while calls wait for their outputs it has no view.
"""

from __future__ import annotations

from typing import Any, cast

from agents import TResponseInputItem
from compactord import v1
from compactord._sync.client.session import Session
from compactord.errors import ToolCallsOpenError


def items_of(session: Session) -> list[TResponseInputItem]:
    """The items of a session's view, and of what follows it where calls wait for their outputs."""
    try:
        return cast("list[TResponseInputItem]", session.view().messages)
    except ToolCallsOpenError:
        first = min(call.index for call in session.info().report.open_calls)
    waiting = [
        one for one in session.messages(from_index=first) if one.state != v1.MessageState.MESSAGE_STATE_PUT_ASIDE
    ]
    point = waiting[0].sequence - 1
    before = session.view(as_of=point).messages if point >= 0 else []
    return [*before, *(item for logged in waiting for item in _items_in(logged.message))]


def _items_in(message: v1.Message) -> list[TResponseInputItem]:
    """A message whose calls wait, or a result beside them, as items."""
    items: list[Any] = []
    for part in message.parts:
        match part.WhichOneof("kind"):
            case "text":
                role = "assistant" if message.role == v1.Role.ROLE_ASSISTANT else "user"
                items.append({"role": role, "content": part.text.text})
            case "tool_call":
                call = part.tool_call
                kept = {"call_id": call.id, "name": call.name, "arguments": call.arguments}
                items.append({"type": "function_call", **kept})
            case "tool_result":
                text = "".join(one.text.text for one in part.tool_result.parts)
                items.append({"type": "function_call_output", "call_id": part.tool_result.call_id, "output": text})
            case _:
                pass
    return items
