"""A daemon that this program starts and stops."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import grpc

from compactord import guard
from compactord.binary import find_binary
from compactord.errors import CompactordError

START_TIMEOUT = 30.0
"""Seconds that a daemon may take to start."""
_STOP_TIMEOUT = guard.GRACE + 5.0
_LONGEST_SOCKET = 100
_GUARD_LAG = 1.0
_OUTPUT_BYTES = 4_000
_NEW_GROUP: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)


class Daemon:
    """A daemon that belongs to this program. Its folder holds its socket, configuration and, by default, its store.

    It ends when this program ends, even when this program is killed: a guard process waits until a pipe from this
    program is closed.
    """

    def __init__(
        self,
        binary: str | Path | None = None,
        *,
        store: str | Path | None = None,
        config: str | Path | Mapping[str, Any] | None = None,
        args: Sequence[str] = (),
    ) -> None:
        self._binary = find_binary(binary)
        self._store = Path(store) if store is not None else None
        self._owner = os.getpid()
        self._folder = _folder()
        self._config = config
        self._args = tuple(args)
        self._process: subprocess.Popen[bytes] | None = None
        self.address = _free_address(self._folder)

    def start(self) -> None:
        """Start the daemon. It may not serve yet when this returns."""
        store = self._store or self._folder / "compactord.db"
        command = [self._binary, "serve", "--listen", self.address, "--store", os.fspath(store)]
        if os.name != "nt" and not any(arg.startswith("--token") for arg in self._args):
            # Only this user can connect to its socket.
            command.append("--no-auth")
        if self._config is not None:
            command += ["--config", os.fspath(self._config_file())]
        command += self._args
        # Ctrl-C in the terminal must not reach the daemon, since this program may still need it to stop cleanly.
        with self._log().open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", guard.__file__, os.fspath(self._folder), *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
                creationflags=_NEW_GROUP,
            )

    def check(self) -> None:
        """Raise an error where the daemon has ended.

        Raises:
            CompactordError: ``DAEMON_START``: The daemon has ended. The text ends with the end of its output.
        """
        if self._process is None or self._process.poll() is not None:
            raise self.failure("the daemon has ended")

    def has_ended(self) -> bool:
        """Whether the daemon was started and has ended by itself. Waits up to a second for the guard process to end."""
        if self._process is None:
            return False
        try:
            self._process.wait(_GUARD_LAG)
        except subprocess.TimeoutExpired:
            return False
        return True

    def failure(self, what: str) -> CompactordError:
        """Make the error that says what went wrong, with the end of the daemon's output."""
        try:
            output = self._log().read_bytes()[-_OUTPUT_BYTES:].decode("utf-8", "replace").strip()
        except OSError:
            output = ""
        text = f"{what}. Its output: {output}" if output else what
        return CompactordError(text, code=grpc.StatusCode.UNAVAILABLE, reason="DAEMON_START")

    def stop(self) -> None:
        """Stop the daemon and remove its folder. Safe to call again. Does nothing in a forked child process."""
        if os.getpid() != self._owner:
            return
        process, self._process = self._process, None
        if process is not None:
            if process.stdin is not None:
                process.stdin.close()
            if process.poll() is None and os.name != "nt":
                process.terminate()
            try:
                process.wait(_STOP_TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _log(self) -> Path:
        return self._folder / "daemon.log"

    def _config_file(self) -> Path:
        if not isinstance(self._config, Mapping):
            return Path(self._config or "")
        # JSON is YAML.
        path = self._folder / "config.yaml"
        path.write_text(json.dumps(dict(self._config)), encoding="utf-8")
        return path


def _folder() -> Path:
    folder = tempfile.mkdtemp(prefix="compactord-")
    # The path of a Unix socket can have about 100 characters, and gRPC reads it as part of a URL.
    unusable = len(folder) > _LONGEST_SOCKET - len("/daemon.sock") or any(mark in folder for mark in "%#?")
    if unusable and os.path.isdir("/tmp"):
        os.rmdir(folder)
        folder = tempfile.mkdtemp(prefix="compactord-", dir="/tmp")
    return Path(folder)


def _free_address(folder: Path) -> str:
    if os.name != "nt":
        return f"unix:{folder / 'daemon.sock'}"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"
