"""The examples of the adapters of the TypeScript client, with the same provider and the same conversation."""

from __future__ import annotations

from pathlib import Path

import pytest

import compactord
from programs import ROOT, TURNS, WINDOW, check_log, talk

EXAMPLES = ROOT / "clients" / "ts" / "frameworks" / "build" / "examples"


@pytest.mark.parametrize(("maker", "way"), [("anthropic", []), ("anthropic", ["--step"]), ("openai", [])])
def test_the_ai_sdk(client: compactord.Client, tmp_path: Path, maker: str, way: list[str]) -> None:
    """Nothing twice, nothing lost, and no request breaks a rule."""
    name = "-".join([maker, *way])
    file = tmp_path / "messages.jsonl"
    arguments = [
        name,
        f"--provider={maker}",
        "--model=make-believe",
        f"--context-window={WINDOW}",
        f"--file={file}",
        *way,
    ]
    talk(client, tmp_path, str(EXAMPLES / "ai-sdk-agent.js"), arguments)
    check_log(client.session(name))
    assert len(list(client.session(name).compactions())) >= (5 if TURNS >= 100 else 1)
