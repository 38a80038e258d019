"""The plugin of opencode, with the real program as a server."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, Queue
from typing import IO, Any

import pytest

import compactord
from programs import BINARY, LONG, ROOT, TURNS, check_log, model
from provider import Provider, go_on, running

FOLDER = ROOT / "clients" / "ts" / "frameworks" / "opencode"
PROGRAM = os.environ.get("COMPACTORD_OPENCODE", "")
PINNED: str = json.loads((FOLDER / "package.json").read_text())["devDependencies"]["@opencode-ai/plugin"]
WINDOW = 20_000
"""Of the model, so that opencode compacts where the test wants it."""
EVERY = 8
"""After so many turns the user compacts."""


def lack() -> str:
    """Why opencode cannot run here."""
    if not PROGRAM:
        return f"COMPACTORD_OPENCODE names no program of opencode: npm install opencode-ai@{PINNED}"
    return (
        ""
        if (FOLDER / "node_modules" / "compactord").exists()
        else f"no client beside the plugin: npm run build in {FOLDER}"
    )


class OpenCode:
    """A running opencode, and the session in it."""

    def __init__(self, program: subprocess.Popen[str], url: str) -> None:
        self.program = program
        self._url = url
        self.session = ""

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Send a request, and return the answer."""
        made = urllib.request.Request(f"{self._url}/{path}", json.dumps(body).encode())
        made.add_header("content-type", "application/json")
        with urllib.request.urlopen(made, timeout=LONG) as answer:
            return json.load(answer)

    def ask(self, text: str) -> str:
        """Say something, and return the last text of the model."""
        said = self.post(f"session/{self.session}/message", {"parts": [{"type": "text", "text": text}]})
        return "".join(part.get("text", "") for part in said["parts"]) + str(said["info"].get("error", ""))

    def compact(self) -> None:
        """Compact, as the user does."""
        self.post(f"session/{self.session}/summarize", {"providerID": "make", "modelID": "make-believe"})


@contextmanager
def started(client: compactord.Client, provider: Provider, folder: Path) -> Generator[OpenCode]:
    """Run opencode with the plugin, in a folder that keeps what it stores."""
    options = {"baseURL": f"{provider.url}/v1", "apiKey": "none"}
    models = {"make-believe": {"limit": {"context": WINDOW, "output": 1_000}}}
    config = {
        "provider": {"make": {"npm": "@ai-sdk/openai-compatible", "options": options, "models": models}},
        "model": "make/make-believe",
        "small_model": "make/make-believe",
        "agent": {"build": {"prompt": "You read files."}, "title": {"disable": True}},
        "plugin": [(FOLDER / name).as_uri() for name in ("compactord.ts", "test-tool.ts")],
        "compaction": {"auto": False},
        "autoupdate": False,
        "share": "disabled",
    }
    (folder / "opencode.json").write_text(json.dumps(config))
    own = {f"XDG_{kind}_HOME": str(folder / kind) for kind in ("DATA", "CONFIG", "STATE", "CACHE")}
    own |= {"COMPACTORD_ADDR": client.address}
    own |= {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1"}
    with listening([PROGRAM, "serve", "--port", "0"], folder, own) as (program, url):
        yield OpenCode(program, url)


@contextmanager
def listening(
    arguments: list[str], folder: Path, environment: dict[str, str], limit: float = LONG
) -> Generator[tuple[subprocess.Popen[str], str]]:
    """Run a server that says where it listens, and kill it in the end.

    Where it ends before it says so, or says nothing for so many seconds, the error has what it wrote to stderr.
    """
    complaints = folder / "stderr.txt"
    with complaints.open("a") as stderr:
        program = subprocess.Popen(
            arguments, env=os.environ | environment, cwd=folder, stdout=subprocess.PIPE, stderr=stderr, text=True
        )
    found: Queue[str] = Queue()
    reader = threading.Thread(target=read, args=(program.stdout, found), daemon=True)
    reader.start()
    try:
        try:
            url = found.get(timeout=limit)
        except Empty:
            raise AssertionError(f"nobody listens after {limit} seconds: {complaints.read_text()}") from None
        assert url, f"the program ended and has not listened: {complaints.read_text()}"
        yield program, url
    finally:
        program.kill()
        program.wait()
        reader.join(limit)


def read(output: IO[str], found: Queue[str]) -> None:
    """Put the address of a server into the queue, or nothing where its output ends. It never waits for a reader."""
    with output:
        for line in output:
            if said := re.search(r"listening on (http:\S+)", line):
                found.put(said[1])
    found.put("")


@pytest.mark.parametrize(
    ("code", "limit", "match"),
    [
        ("import sys; sys.exit('no such plugin')", LONG, "has not listened: no such plugin"),
        ("import time; time.sleep(1_000_000)", 0.1, r"nobody listens after 0\.1 seconds"),
    ],
)
def test_a_program_that_does_not_listen_is_an_error(tmp_path: Path, code: str, limit: float, match: str) -> None:
    with pytest.raises(AssertionError, match=match), listening([sys.executable, "-c", code], tmp_path, {}, limit):
        pass


def test_a_program_that_listens_may_say_more_than_a_pipe_holds(tmp_path: Path) -> None:
    code = "print('listening on http://127.0.0.1:1', flush=True); print('x' * 1_000_000); print('done', flush=True)"
    with listening([sys.executable, "-c", code], tmp_path, {}) as (program, url):
        assert url == "http://127.0.0.1:1"
        assert program.wait(LONG) == 0


@pytest.mark.skipif(bool(lack()), reason=lack())
def test_a_long_conversation(client: compactord.Client, tmp_path: Path) -> None:
    """Nothing twice, nothing lost, no request breaks a rule, and the prompts of summaries have our digest."""
    half = TURNS // 2
    with running(model(tmp_path), BINARY, WINDOW) as provider:
        with started(client, provider, tmp_path) as opencode:
            opencode.session = session = opencode.post("session", {"title": "Parts"})["id"]
            talk(opencode, range(half))
            kill(opencode, provider, half)
        with started(client, provider, tmp_path) as opencode:
            opencode.session = session
            talk(opencode, range(half, TURNS))
            # The log has all that was said before a compaction.
            opencode.compact()
        assert provider.refused() == []
    check_log(client.session(f"opencode-{session}"))
    prompts = [text for one in provider.requests if "A digest of the conversation" in (text := one.messages[-1])]
    assert prompts and all(re.search(r"\[#\d", text.split("A digest of the conversation")[1]) for text in prompts)


def talk(opencode: OpenCode, turns: range) -> None:
    """Hold some turns, and compact now and then."""
    for turn in turns:
        assert f"Turn {turn} is done." in opencode.ask(message(turn))
        if turn % EVERY == EVERY - 1:
            opencode.compact()


def kill(opencode: OpenCode, provider: Provider, turn: int) -> None:
    """Kill opencode while the model thinks about the results of its tools."""
    asked, go = threading.Event(), threading.Event()

    def hold(_: int, step: int) -> None:
        if step == 1:
            asked.set()
            go.wait()

    def ask() -> None:
        # opencode ends before it answers.
        with suppress(OSError):
            opencode.ask(message(turn))

    provider.model.hold = hold
    asking = threading.Thread(target=ask)
    asking.start()
    try:
        assert asked.wait(LONG)
    finally:
        opencode.program.kill()
        provider.model.hold = go_on
        go.set()
        asking.join()


def message(turn: int) -> str:
    """What the user says in a turn."""
    return f"Turn {turn}: which crate is in part {turn}?"
