"""The examples of the adapters of the TypeScript client, with the same provider and the same conversation."""

from __future__ import annotations

from pathlib import Path

import pytest

import compactord
from programs import ROOT, WINDOW, check_log, talk

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


@pytest.mark.parametrize("maker", ["anthropic", "openai"])
def test_langchain(client: compactord.Client, tmp_path: Path, maker: str) -> None:
    """The same. After a turn that was cut off, LangChain's package for Anthropic sends two messages of the user."""
    name = f"langchain-{maker}"
    file = tmp_path / "threads.bin"
    arguments = [name, f"--model={maker}:make-believe", f"--context-window={WINDOW}", f"--file={file}"]
    killed = maker != "anthropic"
    example = str(EXAMPLES / "langchain-agent.js")
    talk(client, tmp_path, example, arguments, killed=killed, environment={"LANGSMITH_TRACING": "false"})
    check_log(client.session(name), killed=killed)


@pytest.mark.parametrize("way", ["own", "kept"])
def test_the_openai_agents_sdk(client: compactord.Client, tmp_path: Path, way: str) -> None:
    """The same. The SDK gives a session of the program's own whole runs, so a killed one is lost there."""
    name = f"agents-{way}"
    arguments = [name, "--model=make-believe", f"--context-window={WINDOW}"]
    if way == "own":
        arguments.append(f"--file={tmp_path / 'items.json'}")
    example = str(EXAMPLES / "openai-agents-agent.js")
    talk(client, tmp_path, example, arguments, environment={"OPENAI_AGENTS_DISABLE_TRACING": "1"})
    check_log(client.session(name, dialect="openai_responses"), forgotten=way == "own")
