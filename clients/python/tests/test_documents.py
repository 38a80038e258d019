"""The documents of the adapters. The tests of each framework run what they show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CLIENT = Path(__file__).parents[1]


def section(document: Path, heading: str) -> str:
    """What stands below a heading, up to the next one that is no deeper."""
    level = heading.split(" ")[0]
    after = document.read_text(encoding="utf-8").split(f"\n{heading}\n")[1]
    return re.split(rf"\n#{{2,{len(level)}}} ", after)[0]


@pytest.mark.parametrize(
    ("readme", "frameworks"),
    [
        ("LangChain and LangGraph", "LangChain and LangGraph for Python"),
        ("OpenAI Agents SDK", "OpenAI Agents SDK for Python"),
        ("Pydantic AI", "Pydantic AI"),
        ("Google ADK", "Google ADK for Python"),
        ("LiteLLM", "LiteLLM"),
    ],
)
def test_both_documents_show_the_same_program(readme: str, frameworks: str) -> None:
    shown = section(CLIENT / "README.md", f"### {readme}").split("```py\n")[1].split("```")[0]
    assert "import compactord\n" in shown
    assert f"```py\n{shown}```" in section(CLIENT.parents[1] / "docs" / "frameworks.md", f"## {frameworks}")
