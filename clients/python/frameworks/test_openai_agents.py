"""The adapter of the OpenAI Agents SDK, with the real package."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import compactord
from agents import SQLiteSession
from programs import BINARY, WINDOW, check_log, model, readme, talk
from provider import running

EXAMPLE = "openai_agents_agent.py"
QUIET = {"OPENAI_AGENTS_DISABLE_TRACING": "1"}


def test_a_long_conversation_with_the_sdks_own_session(client: compactord.Client, tmp_path: Path) -> None:
    """Nothing twice, nothing lost: the log holds the items of the SDK's file, and no request breaks a rule."""
    database = str(tmp_path / "items.db")
    arguments = ["own", f"--context-window={WINDOW}", f"--database={database}"]
    talk(client, tmp_path, EXAMPLE, arguments, environment=QUIET)
    session = client.session("own", dialect="openai_responses")
    synced = session.sync(asyncio.run(SQLiteSession("own", database).get_items()), compact=False, view=False)
    # A filter is called before the model: the last answer comes into the log with the next call.
    assert (synced.appended, synced.put_aside) == (1, 0)
    check_log(session)


def test_a_long_conversation_in_the_daemon(client: compactord.Client, tmp_path: Path) -> None:
    talk(client, tmp_path, EXAMPLE, ["kept", f"--context-window={WINDOW}"], environment=QUIET)
    check_log(client.session("kept", dialect="openai_responses"))


def test_the_readme(client: compactord.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {"compactord": compactord}
    with running(model(tmp_path), BINARY, WINDOW) as provider:
        for name, value in (provider.environment() | QUIET | {"COMPACTORD_ADDR": client.address}).items():
            monkeypatch.setenv(name, value)
        asyncio.run(eval(readme("OpenAI Agents SDK"), names))
    assert names["result"].final_output == "I heard you."
    said = [part.text.text for logged in client.session("support-42").messages() for part in logged.message.parts]
    assert said == ["What did we decide?", "", "I heard you."]
