"""A conversation of many turns with an example, which is killed in the middle and started again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import compactord
from compactord import v1
from provider import Model, Provider, go_on, running

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "clients" / "python" / "examples"
BINARY = os.environ.get("COMPACTORD_BINARY", str(ROOT / "bin" / "test" / "compactord"))
WINDOW = 10_000
LONG = 600
"""So many seconds a test waits for a program at most, which may have to share its processor."""

TURNS = int(os.environ.get("COMPACTORD_FRAMEWORK_TURNS", "100"))


def fact(turn: int, letter: str) -> str:
    """What only one file says."""
    return f"Crate {turn * 1000 + ord(letter)} of part {turn}{letter} is in hall {turn * 7 % 90}."


def write_files(folder: Path, turns: int) -> None:
    """Write the files that the agent reads."""
    for turn in range(turns):
        for letter in "abc":
            filler = f"Line about part {turn}{letter}, and nothing that matters. " * 12
            (folder / f"{turn}{letter}.txt").write_text(f"{filler}\n{fact(turn, letter)}\n{filler}")


class Conversation:
    """A conversation of an example with the make-believe provider.

    Attributes:
        provider: The provider.
    """

    def __init__(self, provider: Provider, address: str) -> None:
        self.provider = provider
        self._environment = os.environ | provider.environment() | {"COMPACTORD_ADDR": address}

    def run(self, example: str, arguments: Sequence[str], turns: range, environment: Mapping[str, str]) -> None:
        """Run an example for some turns, each after the answer to the one before.

        An example is a program of Python below ``EXAMPLES``, or the path of one of Node.
        """
        self.provider.model.hold = go_on
        with self._start(example, arguments, environment) as program:
            assert program.stdin is not None and program.stdout is not None
            for turn in turns:
                program.stdin.write(self.message(turn))
                program.stdin.flush()
                line = program.stdout.readline()
                assert f"Turn {turn} is done." in line, f"turn {turn}: {line!r}"
            program.stdin.close()
            assert program.wait() == 0

    def kill(self, example: str, arguments: Sequence[str], turn: int, environment: Mapping[str, str]) -> None:
        """Run an example for one turn, and kill it while the model thinks about the results of its tools."""
        asked, go = threading.Event(), threading.Event()

        def hold(_: int, step: int) -> None:
            if step == 1:
                asked.set()
                go.wait()

        self.provider.model.hold = hold
        with self._start(example, arguments, environment) as program:
            assert program.stdin is not None
            try:
                program.stdin.write(self.message(turn))
                program.stdin.flush()
                assert asked.wait(LONG)
            finally:
                program.kill()
                program.wait()
                program.stdin.close()
                go.set()

    def say(self, example: str, arguments: Sequence[str], text: str, environment: Mapping[str, str]) -> str:
        """Run an example for one message, and return what it prints."""
        with self._start(example, arguments, environment) as program:
            said, _ = program.communicate(text)
            assert program.returncode == 0
            return said

    def message(self, turn: int) -> str:
        """What the user says in a turn."""
        return f"Turn {turn}: which crate is in part {turn}?\n"

    def _start(self, example: str, arguments: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[str]:
        path = EXAMPLES / example
        runs = [sys.executable, "-W", "error"] if path.suffix == ".py" else ["node", "--throw-deprecation"]
        return subprocess.Popen(
            [*runs, str(path), *arguments],
            env={**self._environment, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )


def model(folder: Path) -> Model:
    """The model, for whose turns there are files in a folder."""
    write_files(folder, TURNS)
    return Model(lambda turn, letter: str(folder / f"{turn}{letter}.txt"))


def talk(
    client: compactord.Client,
    folder: Path,
    example: str,
    arguments: Sequence[str],
    *,
    killed: bool = True,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Half of the turns, a process that is killed while the model thinks about results, and the other half.

    Where it is not to be killed, another process goes on all the same.
    """
    with running(model(folder), BINARY, WINDOW) as provider:
        conversation = Conversation(provider, client.address)
        half = TURNS // 2
        conversation.run(example, arguments, range(half), environment)
        if killed:
            conversation.kill(example, arguments, half, environment)
        conversation.run(example, [*arguments, "--stream"], range(half, TURNS), environment)
        assert provider.refused() == []
        assert {one.streamed for one in provider.requests} == {False, True}
        if TURNS >= 30:
            assert provider.reused() > 0.8


def look_up(
    client: compactord.Client,
    folder: Path,
    example: str,
    arguments: Sequence[str],
    session: compactord.Session,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Have the model of an example look up what its context no longer holds, after a long conversation."""
    held = str(session.view().messages)
    lost = next(fact(turn, "a") for turn in range(TURNS) if fact(turn, "a") not in held)
    (hit, *_) = session.search(lost)
    made = model(folder)
    made.answers = 100_000  # No id of a call comes twice.
    with running(made, BINARY, WINDOW) as provider:
        conversation = Conversation(provider, client.address)
        words = {"words": " ".join(lost.split()[:2])}
        for tool, given in (("search_messages", words), ("recall_content", {"reference": f"#{hit.index}"})):
            told = conversation.say(example, arguments, f"Look up by {tool}: {json.dumps(given)}\n", environment)
            assert "I have looked it up." in told
            asked, answered = provider.requests[-2:]
            assert lost not in asked.messages[-1] and lost in answered.messages[-1], tool
        wrong = conversation.say(example, arguments, 'Look up by recall_content: {"refrence": "#1"}\n', environment)
        assert "I have looked it up." in wrong
        assert "Nothing was read: " in provider.requests[-1].messages[-1]
        assert provider.refused() == []


def readme(framework: str) -> dict[str, Any]:
    """Run the code that the README shows for a framework, alone, and return what it has named."""
    return ran(ROOT / "clients" / "python" / "README.md", f"### {framework}", 0, {})


def documented(framework: str, number: int, instead: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """Run a program that the document of frameworks shows, the first one as number 0, with texts of it replaced."""
    return ran(ROOT / "docs" / "frameworks.md", f"## {framework}", number, instead)


def ran(document: Path, heading: str, number: int, instead: Mapping[str, str]) -> dict[str, Any]:
    """Run a program below a heading, with texts of it replaced, and return what it has named."""
    text = document.read_text(encoding="utf-8")
    shown = text.split(f"\n{heading}\n")[1].split("```py\n")[number + 1].split("```")[0]
    for old, new in instead.items():
        shown = shown.replace(old, new)
    names: dict[str, Any] = {}
    exec(compile(shown, document.name, "exec"), names)
    return names


def recordings() -> list[Path]:
    """The recorded conversations that are there, but for the malformed ones."""
    folder = Path(os.environ.get("COMPACTORD_CORPUS", ROOT / ".." / "shared" / "corpus"))
    return sorted(folder.glob("*.jsonl"))


def check_log(session: compactord.Session, *, killed: bool = True, forgotten: bool = False) -> None:
    """Nothing twice, nothing lost: what was said and read in each turn is once in the log, of the killed one twice.

    Where the framework has forgotten the turn that was killed, the log has put it aside, and holds it once more. Such a
    log gets the last answer with the next call.
    """
    aside = v1.MessageState.MESSAGE_STATE_PUT_ASIDE
    logged = [one for one in session.messages() if not forgotten or one.state != aside]
    parts = [part for one in logged for part in one.message.parts]
    said = [part.text.text for part in parts if part.HasField("text")]
    read = [part.tool_result.parts[0].text.text for part in parts if part.HasField("tool_result")]
    half = TURNS // 2
    for turn in range(TURNS):
        times = 2 if killed and not forgotten and turn == half else 1
        assert sum(text.startswith(f"Turn {turn}: ") for text in said) == times, turn
        assert said.count(f"Turn {turn} is done.") == int(not forgotten or turn < TURNS - 1), turn
        for letter in "abc" if turn % 3 == 0 else "ab":
            assert sum(fact(turn, letter) in text for text in read) == (times if letter < "c" else 1), (turn, letter)
    for turn in range(0, TURNS, 10):
        (hit, *_) = session.search(fact(turn, "a"))
        assert fact(turn, "a") in session.recall(hit.index).text
    assert len(list(session.compactions())) >= TURNS // 20
    assert len(list(session.records(kinds=["revert"]))) == int(forgotten)
