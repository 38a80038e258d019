"""The adapter of Pydantic AI, with the real package."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic_ai import ModelMessagesTypeAdapter

import compactord
from compactord.pydantic_ai_messages import neutral
from programs import BINARY, WINDOW, check_log, look_up, model, readme, talk
from provider import running

EXAMPLE = "pydantic_ai_agent.py"


@pytest.mark.parametrize("maker", ["anthropic", "openai-chat"])
def test_a_long_conversation(client: compactord.Client, tmp_path: Path, maker: str) -> None:
    """Nothing twice, nothing lost: the log holds the messages of the history, and no request breaks a rule."""
    history = tmp_path / "history.json"
    arguments = [maker, f"--model={maker}:make-believe", f"--context-window={WINDOW}", f"--history={history}"]
    talk(client, tmp_path, EXAMPLE, arguments)
    session = client.session(maker)
    check_log(session)
    messages = ModelMessagesTypeAdapter.validate_json(history.read_bytes())
    synced = session.sync(neutral(messages), compact=False, view=False)
    assert (synced.appended, synced.put_aside) == (0, 0)
    look_up(client, tmp_path, EXAMPLE, arguments, session)


def test_the_readme(client: compactord.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(model(tmp_path), BINARY, WINDOW) as provider:
        for name, value in (provider.environment() | {"COMPACTORD_ADDR": client.address}).items():
            monkeypatch.setenv(name, value)
        assert readme("Pydantic AI")["result"].output == "I heard you."
    said = [part.text.text for logged in client.session("support-42").messages() for part in logged.message.parts]
    assert said == ["What did we decide?", "I heard you.", "And why?", "I heard you."]
