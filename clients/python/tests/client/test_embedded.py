"""Daemons that a program starts and ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

import compactord
from compactord import guard
from compactord.daemon import Daemon
from failures import raising


def test_it_serves_and_ends(binary: str) -> None:
    with compactord.embedded(binary) as client:
        socket = Path(client.address.removeprefix("unix:"))
        assert client.health()
        session = client.create_session()
        with compactord.Client(client.address) as other:
            assert other.session(session.id).info().session.session_id == session.id
    assert not socket.parent.exists()
    with raising("CLIENT_CLOSED"):
        client.create_session()


async def test_it_serves_and_ends_for_asyncio(binary: str) -> None:
    async with compactord.async_embedded(binary) as client:
        folder = Path(client.address.removeprefix("unix:")).parent
        session = await client.create_session()
        await session.append("hello")
        assert [logged.index async for logged in session.messages()] == [0]
    assert not folder.exists()


def test_it_ends_when_the_block_fails(binary: str) -> None:
    folders: list[Path] = []

    def fail() -> None:
        with compactord.embedded(binary) as client:
            folders.append(Path(client.address.removeprefix("unix:")).parent)
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    assert not folders[0].exists()


def test_a_given_store_stays(binary: str, tmp_path: Path) -> None:
    store = tmp_path / "sessions.db"
    with compactord.embedded(binary, store=store) as client:
        client.create_session("kept")
    with compactord.embedded(binary, store=store) as client:
        assert [session.session_id for session in client.list_sessions()] == ["kept"]


def test_configuration_and_arguments(binary: str, tmp_path: Path) -> None:
    with compactord.embedded(binary, config={"default_preset": "pi"}) as client:
        assert client.create_session().info().session.resolved_policy.preset == "pi"
    file = tmp_path / "c.yaml"
    file.write_text("default_preset: kimi\n")
    with compactord.embedded(binary, config=file) as client:
        assert client.create_session().info().session.resolved_policy.preset == "kimi"
    with compactord.embedded(binary, args=["--default-preset", "acon"]) as client:
        assert client.create_session().info().session.resolved_policy.preset == "acon"


def test_no_program() -> None:
    with raising("BINARY_NOT_FOUND", match="COMPACTORD_BINARY"), compactord.embedded("/none/here"):
        pass


def test_the_program_comes_from_the_environment(binary: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPACTORD_BINARY", "/none/here")
    with raising("BINARY_NOT_FOUND", match="/none/here"), compactord.embedded():
        pass
    monkeypatch.delenv("COMPACTORD_BINARY")
    folder = Path(binary).parent
    if Path(binary).name == "compactord":
        monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
        with compactord.embedded() as client:
            assert client.health()


def test_a_daemon_that_does_not_come_up_says_why(binary: str) -> None:
    refused = raising("DAEMON_START", match="default-preset")
    with refused, compactord.embedded(binary, args=["--default-preset", "nonsense"]):
        pass


def test_stopping_twice_does_nothing(binary: str) -> None:
    daemon = Daemon(binary)
    daemon.start()
    daemon.stop()
    daemon.stop()


# A shell's background jobs, and what they start, ignore SIGINT.
KILLED = """
import signal, sys, compactord
signal.signal(signal.SIGINT, signal.default_int_handler)
with compactord.embedded(sys.argv[1]) as client:
    print(client.address, flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_it_ends_with_its_program(binary: str, how: signal.Signals) -> None:
    command = [sys.executable, "-c", KILLED, binary]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as program:
        assert program.stdout is not None
        address = program.stdout.readline().strip()
        with compactord.Client(address, retry=False) as client:
            assert client.health()
            program.send_signal(how)
            program.wait()
            # The guard ends it: the calls fail once it has.
            while client.health(timeout=10):
                pass


def test_its_folder_goes_with_its_program(binary: str, monkeypatch: pytest.MonkeyPatch) -> None:
    guards: list[subprocess.Popen[bytes]] = []

    class Recorded(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            guards.append(self)

    monkeypatch.setattr(subprocess, "Popen", Recorded)
    daemon = Daemon(binary)
    folder = Path(daemon.address.removeprefix("unix:")).parent
    daemon.start()
    pipe = guards[0].stdin
    assert pipe is not None and (folder / "daemon.log").exists()
    # What is left of a program that was killed.
    pipe.close()
    guards[0].wait(30)
    assert not folder.exists()


def test_what_a_daemon_said_outlives_it(tmp_path: Path) -> None:
    # Only who is still there can read it.
    command = [sys.executable, "-I", "-S", guard.__file__, str(tmp_path), sys.executable, "-c", "raise SystemExit(3)"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.wait(30) == 3
    assert tmp_path.exists()


def test_a_wrong_argument_leaves_no_folder(binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(ValueError, match="timeout"), compactord.embedded(binary, timeout=0):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a%20b", "a#b"])
def test_a_folder_whose_name_is_no_url(binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / name).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / name))
    with compactord.embedded(binary) as client:
        assert client.health()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_forked_child_leaves_the_daemon_alone(binary: str, monkeypatch: pytest.MonkeyPatch) -> None:
    daemon = Daemon(binary)
    folder = Path(daemon.address.removeprefix("unix:")).parent
    with monkeypatch.context() as child:
        child.setattr(os, "getpid", lambda: -1)
        daemon.stop()
    assert folder.exists()
    daemon.stop()
    assert not folder.exists()


def test_a_daemon_that_ends_within_the_block_is_told(binary: str) -> None:
    def work() -> None:
        with compactord.embedded(binary, retry=False) as client:
            socket = client.address.removeprefix("unix:")
            found = subprocess.run(["pgrep", "-f", f"^{binary} serve --listen unix:{socket}"], capture_output=True)
            os.kill(int(found.stdout), signal.SIGKILL)
            while True:
                client.create_session()

    with pytest.raises(compactord.UnavailableError, match="the embedded daemon has ended"):
        work()
