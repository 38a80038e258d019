"""The extension of Pi, with the real program in its mode for other programs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import compactord
from programs import BINARY, LONG, ROOT, TURNS, WINDOW, check_log, fact, model
from provider import Provider, go_on, running

FOLDER = ROOT / "clients" / "ts" / "frameworks" / "pi"
PROGRAM = FOLDER / "node_modules" / "@earendil-works" / "pi-coding-agent" / "dist" / "bundle" / "cli.js"
NODE = os.environ.get("COMPACTORD_PI_NODE", "node")


def lack() -> str:
    """Why Pi cannot run here."""
    try:
        found = subprocess.run([NODE, "--version"], capture_output=True, text=True, check=True).stdout
    except FileNotFoundError:
        return "there is no Node"
    major, minor = map(int, re.findall(r"\d+", found)[:2])
    if (major, minor) < (22, 19):
        return f"Pi needs Node 22.19, and {NODE} is {found.strip()}: name another by COMPACTORD_PI_NODE"
    return "" if PROGRAM.exists() else f"Pi is not installed: npm ci in {FOLDER}"


pytestmark = pytest.mark.skipif(bool(lack()), reason=lack())


class Pi:
    """A running Pi."""

    def __init__(self, program: subprocess.Popen[str]) -> None:
        self.program = program
        self.complaints: list[str] = []

    def send(self, command: dict[str, Any]) -> None:
        assert self.program.stdin is not None
        self.program.stdin.write(json.dumps(command) + "\n")
        self.program.stdin.flush()

    def until(self, kind: str) -> list[dict[str, Any]]:
        """Read events up to one of a kind."""
        assert self.program.stdout is not None
        events: list[dict[str, Any]] = []
        for line in self.program.stdout:
            events.append(json.loads(line))
            if events[-1]["type"] in ("extension_ui_request", "extension_error"):
                self.complaints.append(line)
            if events[-1]["type"] == kind:
                return events
        raise AssertionError(f"Pi ended after {events[-3:]}")

    def ask(self, text: str) -> str:
        """Say something, and return the last text of the model."""
        self.send({"type": "prompt", "message": text})
        (*_, last) = [
            event["message"]
            for event in self.until("agent_settled")
            if event["type"] == "message_end" and event["message"]["role"] == "assistant"
        ]
        return "".join(part.get("text", "") for part in last["content"]) + str(last.get("errorMessage", ""))


@contextmanager
def started(client: compactord.Client, provider: Provider, folder: Path, session: str = "support-42") -> Generator[Pi]:
    """Run Pi with the extension, on one session."""
    home = folder / "agent"
    home.mkdir(exist_ok=True)
    models = [{"id": "make-believe", "contextWindow": WINDOW, "maxTokens": 1_000}]
    made = {"baseUrl": f"{provider.url}/v1", "api": "openai-completions", "apiKey": "none", "models": models}
    (home / "models.json").write_text(json.dumps({"providers": {"make-believe": made}}))
    # Pi would compact by its own count, which is of its own list.
    (home / "settings.json").write_text(json.dumps({"compaction": {"reserveTokens": 500, "keepRecentTokens": 1_000}}))
    own = {"PI_CODING_AGENT_DIR": str(home), "PI_OFFLINE": "1", "COMPACTORD_ADDR": client.address}
    extensions = [part for name in ("compactord.ts", "test-tool.ts") for part in ("--extension", str(FOLDER / name))]
    program = subprocess.Popen(
        [
            NODE,
            str(PROGRAM),
            "--mode",
            "rpc",
            "--session-id",
            session,
            "--model",
            "make-believe/make-believe",
            "--no-skills",
            *extensions,
        ],
        env=os.environ | own,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield Pi(program)
    finally:
        program.kill()
        program.wait()
        for pipe in (program.stdin, program.stdout):
            assert pipe is not None
            pipe.close()


def test_a_long_conversation(client: compactord.Client, tmp_path: Path) -> None:
    """Nothing twice, nothing lost, and no request breaks a rule."""
    half = TURNS // 2
    with running(model(tmp_path), BINARY, WINDOW) as provider:
        with started(client, provider, tmp_path) as pi:
            for turn in range(half):
                assert f"Turn {turn} is done." in pi.ask(message(turn))
            kill(pi, provider, half)
        with started(client, provider, tmp_path) as pi:
            for turn in range(half, TURNS):
                assert f"Turn {turn} is done." in pi.ask(message(turn))
            assert pi.complaints == []
        assert provider.refused() == []
    check_log(client.session("pi-support-42"))


def test_a_compaction_by_the_user(client: compactord.Client, tmp_path: Path) -> None:
    """Pi gets our summary and our cut, and the log keeps what it covers."""
    with running(model(tmp_path), BINARY, WINDOW) as provider:
        with started(client, provider, tmp_path, "compacted") as pi:
            for turn in range(4):
                pi.ask(message(turn))
            pi.send({"type": "compact", "customInstructions": "The crates."})
            # The answers to prompts come before.
            (*_, answer) = pi.until("compaction_end")
            assert "[#0" in answer["result"]["summary"], answer
            assert answer["result"]["details"] == {"compactordSession": "pi-compacted"}
            assert "Turn 4 is done." in pi.ask(message(4))
            assert pi.complaints == []
        newest = "".join(provider.requests[-1].messages)
        assert "[#0" in newest and fact(0, "a") not in newest
        assert provider.refused() == []
    session = client.session("pi-compacted")
    assert len(list(session.compactions())) == 1
    assert not list(session.records(kinds=["revert"]))


def kill(pi: Pi, provider: Provider, turn: int) -> None:
    """Kill Pi while the model thinks about the results of its tools."""
    asked, go = threading.Event(), threading.Event()

    def hold(_: int, step: int) -> None:
        if step == 1:
            asked.set()
            go.wait()

    provider.model.hold = hold
    try:
        pi.send({"type": "prompt", "message": message(turn)})
        assert asked.wait(LONG)
    finally:
        pi.program.kill()
        provider.model.hold = go_on
        go.set()


def message(turn: int) -> str:
    """What the user says in a turn."""
    return f"Turn {turn}: which crate is in part {turn}?"
