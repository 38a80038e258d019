"""The examples, as programs, against a make-believe provider."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import compactord
from agents import attempts, compactions, fill, policy, transcript
from provider_server import provider_server
from providers import Called, Said
from summarizer_server import SummarizerServer, summary

EXAMPLES = Path(__file__).parents[1] / "examples"


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
        # A long last sentence is broken over two lines.
        assert last in "\n".join(out.splitlines()[-2:])
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


def test_coding_agent(client: compactord.Client, tmp_path: Path) -> None:
    refund, test = tmp_path / "refund.go", tmp_path / "refund_test.go"
    refund.write_text("share := total / int64(seats)\n" + "// the seats of an order\n" * 80)
    test.write_text("want := 999 // of 1000\n" + "// three seats\n" * 80)
    (tmp_path / "money.md").write_text("Refunds: what remains of a split goes to the first seat.")
    (tmp_path / "memory.md").write_text("- Money is int64 cents, never float.")
    (tmp_path / "go.md").write_text("".join(f"{number}. Look at rule {number}.\n" for number in range(900)))
    said = [
        step(1, "set_plan", plan="1. Find the cause (now)\n2. Mend it\n3. Mend the test"),
        step(2, "read_file", path=str(refund)),
        step(3, "fold_since", checkpoint_id=2, result="refund.go:1 drops what remains of the division."),
        step(4, "set_plan", plan="1. Find the cause (done)\n2. Mend it (now)\n3. Mend the test"),
        step(5, "read_file", path=str(refund)),
        step(6, "edit_file", path=str(refund), old="int64(seats)", new="int64(seats) // rest: first seat"),
        step(7, "fold_since", checkpoint_id=5, result="refund.go:1 gives what remains to the first seat now."),
        step(8, "read_file", path=str(test)),
        step(9, "edit_file", path=str(test), old="999", new="1000"),
        step(10, "fold_since", checkpoint_id=8, result="refund_test.go:1 wants all of the 1000 cents now."),
        step(11, "start_task", task="Review refund.go against the memory."),
        step(1, "read_file", path=str(refund)),
        Said("refund.go:1 is right: all amounts are int64."),
        Said("Refunds are whole again."),
    ]
    with provider_server(*said) as provider:
        program = start(
            "coding_agent.py",
            "Customers get refunds that are a cent short. Find out why, and mend it.",
            f"--memory={tmp_path / 'memory.md'}",
            f"--skill={tmp_path / 'go.md'}",
            f"--documents={tmp_path}",
            "--show",
            environment=provider.environment() | {"COMPACTORD_ADDR": client.address},
        )
        out, _ = program.communicate()
    assert program.returncode == 0
    assert out.splitlines()[-1] == "Refunds are whole again."
    assert "first seat" in refund.read_text()
    view = out[out.rindex("\n===") :]
    # Each thing stands once, in its place: what rarely changes first, and what is of this view alone last.
    headings = re.findall(r"^--- \w+$|^\[\w+|^<context_block name=.[a-z]+|^calls \w+", view, re.MULTILINE)
    assert " ".join(heading.removeprefix("--- ") for heading in headings) == (
        'system user [Context <context_block name="memory user [Context <context_block name="skill [Not '
        'user [Context <context_block name="plan user user [Checkpoint assistant calls set_plan tool user [Checkpoint '
        "assistant [Messages assistant calls fold_since tool user [Checkpoint assistant calls set_plan tool "
        "user [Checkpoint assistant [Messages assistant calls fold_since tool user [Checkpoint "
        "assistant [Messages assistant calls fold_since tool user [Checkpoint assistant calls start_task tool [Result "
        'user [Checkpoint user [Context <context_block name="retrieved user [Context <context_block name="time'
    )
    assert "2. Mend it (now)" in view
    assert "2. Mend it\n" not in view
    assert "seats of an order" not in view
    # The model can read each thing that is not shown by the words that the view has for it.
    child = re.findall(r"recalled: (\S+)#0 to", view)[0]
    session = client.session(client.session(child).info().session.parent.session_id)
    tools = compactord.AgentTools(session)
    recalled: dict[str, str] = {}
    for reference in re.findall(rf"(?:{child})?#\d+|block skill:go", view):
        output = tools.handle(compactord.ToolCall("1", "recall_content", json.dumps({"reference": reference}), 0))
        assert output is not None
        assert not output.is_error, output.text
        recalled[reference] = output.text
    assert sorted(recalled) == ["#15", "#24", "#4", "#6", f"{child}#0", f"{child}#4", "block skill:go"]
    assert "seats of an order" in session.recall(7).text
    assert "refund.go:1 is right" in recalled[f"{child}#4"]
    assert "899. Look at rule 899." in session.recall("block skill:go").text


def step(number: int, name: str, **arguments: object) -> Said:
    """One call of a model."""
    return Said("", [Called(f"call-{number}", name, json.dumps(arguments))])
