"""What the README shows runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anthropic
import pytest

import compactord

README = Path(__file__).resolve().parents[2] / "README.md"

SUMMARY = """## Goal
g
## Constraints & Preferences
c
## Progress
### Done
d
### In Progress
i
### Blocked
b
## Key Decisions
k
## Next Steps
n
## Critical Context
x
## Relevant Files
f
"""


class Messages:
    """Stands in for the messages of Anthropic's package."""

    def create(
        self,
        *,
        model: str,
        max_tokens: int,
        messages: list[Any],
        tools: Sequence[Any] = (),
        system: Sequence[Any] = (),
    ) -> anthropic.types.Message:
        assert messages
        assert all(tool["input_schema"] for tool in tools)
        assert max_tokens
        assert all(block["type"] == "text" for block in system)
        return anthropic.types.Message.model_validate(
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": model,
                "content": [{"type": "text", "text": "To send them."}],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": 10, "output_tokens": 3},
            }
        )


class Anthropic:
    """Stands in for the client of Anthropic's package."""

    def __init__(self) -> None:
        self.messages = Messages()


def my_model(system: str, text: str, complaint: str) -> str:
    """The model that the README calls its own."""
    assert "summar" in system.lower()
    assert text
    assert not complaint
    return SUMMARY


def test_the_blocks_of_the_readme_run(
    binary: str, client: compactord.Client, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COMPACTORD_ADDR", client.address)
    monkeypatch.setenv("COMPACTORD_BINARY", binary)
    monkeypatch.setattr(anthropic, "Anthropic", Anthropic)
    names: dict[str, Any] = {"my_model": my_model, "my_tools": []}
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 21
    for block in blocks:
        exec(compile(block, str(README), "exec"), names)
    told = capsys.readouterr().out
    assert told.startswith("To send them.\nend ['To send them.']\n2 False True\n3 ")
    assert "\nskipped\n" in told
    before, after = re.findall(r"^(\d+) -> (\d+)$", told, re.MULTILINE)[0]
    assert int(after) < int(before)
    assert re.search(r"^plan \d+ False\nmemory \d+ False$", told, re.MULTILINE)
    assert re.search(r"^\d+ Where is the cat\?\n\['look for Ada'\]$", told, re.MULTILINE)
    assert "LoggedMessage\n" in told
    assert "the next index is" in told
    assert told.endswith("SESSION_NOT_FOUND\n")
