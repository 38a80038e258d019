"""The examples, as programs, against a make-believe provider."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import compactord
from agents import attempts, compactions, fill, policy, transcript
from provider_server import provider_server
from providers import Called, Said
from summarizer_server import SummarizerServer, summarizer_server, summary

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(scope="module")
def summarizer() -> Iterator[SummarizerServer]:
    """The model that writes summaries, or does not."""
    with summarizer_server() as server:
        yield server


@pytest.fixture(scope="module")
def client(binary: str, summarizer: SummarizerServer) -> Iterator[compactord.Client]:
    """A client of a daemon that knows that model."""
    with compactord.embedded(binary, config=summarizer.config()) as client:
        yield client


def start(name: str, *arguments: str, environment: dict[str, str]) -> subprocess.Popen[str]:
    """Start an example."""
    return subprocess.Popen(
        [sys.executable, str(EXAMPLES / name), *arguments],
        env=os.environ | environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_openai_agent(binary: str, tmp_path: Path) -> None:
    files = [tmp_path / f"part{number}.txt" for number in range(5)]
    for number, file in enumerate(files):
        file.write_text(f"part {number}: {'and so on ' * 400}")
    reads = [
        Said("", [Called(f"call-{number}", "read_file", json.dumps({"path": str(file)}))])
        for number, file in enumerate(files)
    ]
    missing = Said("", [Called("call-5", "read_file", '{"path":"/nowhere/at/all"}')])
    with provider_server(*reads, missing, None, Said("It goes on and on.")) as provider:
        environment = provider.environment() | {"COMPACTORD_BINARY": binary}
        environment["COMPACTORD_ADDR"] = ""
        program = start("openai_agent.py", "What is in it?", "--context-window=12000", environment=environment)
        out, _ = program.communicate()
    assert program.returncode == 0
    lines = out.splitlines()
    assert lines[:5] == [f"[reading {file}]" for file in files]
    assert lines[-2:] == ["[compacted]", "It goes on and on."]
    # What the provider was sent: the tools, and after its error a shorter list.
    asked, refused, last = provider.requests[1], provider.requests[-2], provider.requests[-1]
    assert [tool["function"]["name"] for tool in asked["tools"]] == ["read_file", "recall_content", "search_messages"]
    assert asked["messages"][0]["role"] == "system"
    assert asked["messages"][-1]["role"] == "tool"
    assert "No such file" in refused["messages"][-1]["content"]
    assert len(json.dumps(last)) < len(json.dumps(refused))


def test_anthropic_agent(client: compactord.Client) -> None:
    add = Said("Let me see. ", [Called("call-1", "add", '{"numbers":[1,2,3.5]}')])
    with provider_server(add, Said("It is 6.5."), Said("You are welcome.")) as provider:
        program = start("anthropic_agent.py", environment=provider.environment() | {"COMPACTORD_ADDR": client.address})
        out, _ = program.communicate("What is 1 and 2 and 3.5?\nThanks.\n")
    assert program.returncode == 0
    first, second, third, fourth = out.splitlines()
    assert first == "Let me see. It is 6.5."
    assert second.startswith("[2 steps, 0 compactions, ")
    assert third == "You are welcome."
    assert fourth.startswith("[1 steps, 0 compactions, ")
    assert "cache_control" in json.dumps(provider.requests[-1]["messages"])
    [result] = provider.requests[1]["messages"][-1]["content"]
    assert (result["type"], result["tool_use_id"], "6.5" in json.dumps(result["content"])) == (
        "tool_result",
        "call-1",
        True,
    )


def test_progress(client: compactord.Client) -> None:
    session = client.create_session(policy=policy())
    fill(session, 8_000)
    for last in ("after", "nothing to do"):
        program = start("progress.py", session.id, environment={"COMPACTORD_ADDR": client.address, "COLUMNS": "120"})
        out, _ = program.communicate()
        assert program.returncode == 0
        assert last in out.splitlines()[-1]
    assert len(compactions(session)) == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_cancel(client: compactord.Client, summarizer: SummarizerServer) -> None:
    session = client.create_session(policy=policy(summary=summary(fails=False)))
    fill(session, 8_000)
    before = transcript(session)
    summarizer.hold()
    with session.watch(events=True) as watched:
        program = start("cancel.py", session.id, environment={"COMPACTORD_ADDR": client.address})
        assert program.stdout is not None
        assert program.stdout.readline() == "started\n"
        summarizer.asked.get()
        program.send_signal(signal.SIGINT)
        # On the server it ends, and leaves nothing but the attempt.
        kinds = (item.WhichOneof("event") for item in watched if isinstance(item, compactord.v1.CompactionEvent))
        assert next(kind for kind in kinds if kind in ("completed", "cancelled", "failed")) == "cancelled"
    with program:
        out = program.stdout.read()
    assert program.returncode == 130
    # What the program was told before the signal, it may print after it.
    assert [line for line in out.splitlines() if line != "progress"] == [
        "cancelling; Ctrl-C again to leave at once",
        "cancelled: nothing has changed",
    ]
    assert not compactions(session)
    assert len(attempts(session)) == 1
    assert transcript(session) == before
