"""The contents of Google's Agent Development Kit, which are those of Gemini's API, as those of a session and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from google.genai import types


def shown(view: Sequence[str], own: Sequence[types.Content], *, thoughts: bool) -> list[types.Content]:
    """The contents of a view: the program's own where no edit has changed them.

    Args:
        view: The contents of the view, as JSON.
        own: The program's contents.
        thoughts: Whether the model takes its thoughts back. Gemini does not, so views have none.
    """
    left: dict[str, list[types.Content]] = {}
    for content in own:
        left.setdefault(_spoken(content), []).append(content)
    made: list[types.Content] = []
    # The end of a view is the end of the list: so what is said twice is found in its place.
    for raw in reversed(view):
        content = types.Content.model_validate_json(raw)
        same = left.get(_spoken(content))
        mine = same.pop() if same else content
        made.append(mine if thoughts or not _has_thoughts(mine) else content)
    return made[::-1]


def _has_thoughts(content: types.Content) -> bool:
    return any(part.thought for part in content.parts or [])


def _spoken(content: types.Content) -> str:
    parts = [part for part in content.parts or [] if not part.thought]
    return json.dumps(element(types.Content(role=content.role or "user", parts=parts)), sort_keys=True)


def element(content: types.Content) -> dict[str, Any]:
    """A content as JSON of Gemini's API."""
    return content.model_dump(mode="json", by_alias=True, exclude_none=True)


def instruction(given: Any) -> str | dict[str, Any] | None:
    """The system prompt, as ADK has it: a text, or a content."""
    return element(given) if isinstance(given, types.Content) else given or None
