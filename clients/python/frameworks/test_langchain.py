"""The adapter of LangChain and LangGraph, with the real packages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver

import compactord
from compactord.langchain_messages import neutral
from programs import BINARY, WINDOW, check_log, documented, look_up, model, readme, talk
from provider import running

EXAMPLE = "langchain_agent.py"
QUIET = {"LANGSMITH_TRACING": "false"}


@pytest.mark.parametrize("maker", ["anthropic", "openai"])
def test_a_long_conversation(client: compactord.Client, tmp_path: Path, maker: str) -> None:
    """Nothing twice, nothing lost: the log holds the messages of the thread, and no request breaks a rule."""
    database = str(tmp_path / "threads.db")
    arguments = [maker, f"--model={maker}:make-believe", f"--context-window={WINDOW}", f"--database={database}"]
    talk(client, tmp_path, EXAMPLE, arguments, environment=QUIET)
    session = client.session(maker)
    check_log(session)
    synced = session.sync([neutral(message) for message in thread(database, maker)], compact=False, view=False)
    assert (synced.appended, synced.put_aside) == (0, 0)
    look_up(client, tmp_path, EXAMPLE, arguments, session, QUIET)


def thread(database: str, name: str) -> list[Any]:
    """The messages that LangGraph has kept."""
    with SqliteSaver.from_conn_string(database) as saver:
        kept = saver.get_tuple({"configurable": {"thread_id": name}})
    assert kept is not None
    messages: list[Any] = kept.checkpoint["channel_values"]["messages"]
    return messages


def test_the_readme(client: compactord.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(model(tmp_path), BINARY, WINDOW) as provider:
        for name, value in (provider.environment() | QUIET | {"COMPACTORD_ADDR": client.address}).items():
            monkeypatch.setenv(name, value)
        assert readme("LangChain and LangGraph")["result"]["messages"][-1].text == "I heard you."
        node = documented("LangChain and LangGraph for Python", 1)["answer"]
        (answer,) = node({"messages": [HumanMessage("Hello.")]})["messages"]
        assert answer.text == "I heard you."
    for session, texts in (("support-42", ["What did we decide?", "I heard you."]), ("support-43", ["Hello."])):
        said = [part.text.text for logged in client.session(session).messages() for part in logged.message.parts]
        assert said == texts
