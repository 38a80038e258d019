"""Daemons for tests, and what stands between them and their clients."""

from __future__ import annotations

import contextlib
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import compactord
from compactord import v1

ROOT = Path(__file__).resolve().parents[3]


class Restarted:
    """A daemon that can be killed and started again, on the same socket and store."""

    def __init__(self, binary: str, *flags: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="compactord-test-"))
        self._flags = flags
        self.address = f"unix:{self.folder / 'daemon.sock'}"
        self._binary = binary
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it serves."""
        command = [self._binary, "serve", "--listen", self.address, "--store", str(self.folder / "store.db")]
        command += self._flags
        self._process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        with compactord.Client(self.address) as client:
            while not client.health():
                assert self._process.poll() is None

    def kill(self) -> None:
        """Kill it, as a crash would."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def remove(self) -> None:
        """Kill it, and remove its folder."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class Proxy:
    """Stands between clients and a daemon: counts bytes, loses answers, terminates TLS."""

    def __init__(self, target: str, context: ssl.SSLContext | None = None) -> None:
        self._target = target
        self._context = context
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        # A cut ends a generation of connections: a new one loses nothing of what the old ones are to lose.
        self._generation = 0
        self._losing: int | None = None
        self.received = 0
        """Bytes that the daemon sent."""
        self.sent = 0
        """Bytes that its clients sent."""
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._start(self._accept)

    def lose_answers(self) -> None:
        """From now on, lose what the daemon answers, until :meth:`cut`."""
        self._losing = self._generation

    def cut(self) -> None:
        """Cut all connections; new ones work."""
        self._generation += 1
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End all connections."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        for thread in self._threads:
            thread.join()
        for one in self._open:
            one.close()

    def _start(self, run: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=run, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                inner, _ = self._listener.accept()
                if self._context is not None:
                    inner = self._context.wrap_socket(inner, server_side=True)
            except (OSError, ValueError) as error:
                if isinstance(error, ssl.SSLError):
                    continue
                return
            outer = socket.socket(socket.AF_UNIX)
            outer.connect(self._target.removeprefix("unix:"))
            self._open += [inner, outer]
            self._start(self._hand_on, inner, outer, False, self._generation)
            self._start(self._hand_on, outer, inner, True, self._generation)

    def _hand_on(self, source: socket.socket, target: socket.socket, answers: bool, generation: int) -> None:
        with contextlib.suppress(OSError, ValueError):
            while data := source.recv(1 << 16):
                if answers and self._losing == generation:
                    continue
                # Counted first: who gets the last of the data may ask for the count at once.
                if answers:
                    self.received += len(data)
                else:
                    self.sent += len(data)
                target.sendall(data)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def talk(session: compactord.Session, turns: int, *, words: int = 120) -> None:
    """Fill a session with turns of neutral text."""
    messages: list[v1.Message] = []
    for turn in range(turns):
        messages.append(compactord.user(f"question {turn}: " + "why " * words))
        messages.append(compactord.assistant(f"answer {turn}: " + "because " * words))
    session.append(*messages)


def texts(session: compactord.Session) -> list[str]:
    """The text of all messages of the log."""
    return ["".join(part.text.text for part in logged.message.parts) for logged in session.messages()]


def lose_the_answer(proxy: Proxy, own: compactord.Session, index: int) -> threading.Thread:
    """Lose all answers until the log holds a message, and cut the connections then."""
    proxy.lose_answers()

    def wait() -> None:
        with own.watch(from_sequence=0) as watch:
            while True:
                item = next(watch)
                if isinstance(item, v1.LoggedMessage) and item.index == index:
                    break
        proxy.cut()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def wait_for(client: compactord.Client) -> None:
    """Wait until a client that does not try again has a connection again."""
    while not client.health():
        pass
