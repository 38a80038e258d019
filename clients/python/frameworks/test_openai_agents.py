"""The adapter of the OpenAI Agents SDK, with the real package."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import compactord
from agents import SQLiteSession
from programs import BINARY, WINDOW, check_log, look_up, model, readme, talk
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
    look_up(client, tmp_path, EXAMPLE, arguments, session, QUIET)


def test_a_long_conversation_in_the_daemon(client: compactord.Client, tmp_path: Path) -> None:
    talk(client, tmp_path, EXAMPLE, ["kept", f"--context-window={WINDOW}"], environment=QUIET)
    session = client.session("kept", dialect="openai_responses")
    check_log(session)
    look_up(client, tmp_path, EXAMPLE, ["kept", f"--context-window={WINDOW}"], session, QUIET)


def test_the_readme(
    client: compactord.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with running(model(tmp_path), BINARY, WINDOW) as provider:
        for name, value in (provider.environment() | QUIET | {"COMPACTORD_ADDR": client.address}).items():
            monkeypatch.setenv(name, value)
        readme("OpenAI Agents SDK")
    assert capsys.readouterr().out == "I heard you.\n"
    said = [part.text.text for logged in client.session("support-42").messages() for part in logged.message.parts]
    assert said == ["What did we decide?", "", "I heard you."]
