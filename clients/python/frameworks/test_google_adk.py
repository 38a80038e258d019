"""The adapter of Google's ADK, with the real package."""

from __future__ import annotations

from pathlib import Path

import pytest

import compactord
from programs import BINARY, WINDOW, check_log, look_up, model, readme, talk
from provider import running

EXAMPLE = "google_adk_agent.py"


def test_a_long_conversation(client: compactord.Client, tmp_path: Path) -> None:
    """Nothing twice, nothing lost: what was said and read is once in the log, and no request breaks a rule."""
    database = tmp_path / "events.db"
    arguments = ["long", "--model=gemini-make-believe", f"--context-window={WINDOW}", f"--database={database}"]
    talk(client, tmp_path, EXAMPLE, arguments)
    session = client.session("files/me/long/reader")
    check_log(session)
    look_up(client, tmp_path, EXAMPLE, arguments, session)


def test_the_readme(client: compactord.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(model(tmp_path), BINARY, WINDOW) as provider:
        for name, value in (provider.environment() | {"COMPACTORD_ADDR": client.address}).items():
            monkeypatch.setenv(name, value)
        readme("Google ADK")
    session = client.session("support/ada/support-42/clerk")
    said = [part.text.text for logged in session.messages() for part in logged.message.parts]
    assert said[0].startswith("You answer customers.")
    assert said[1:] == ["What did we decide?", "I heard you."]
