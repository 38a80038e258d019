# Generated from src/compactord/_async/client/embedded.py by scripts/unasync.py. Do not edit.
"""A daemon that runs during a ``with`` block."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from compactord._sync.client.client import Client
from compactord._sync.wire import runtime
from compactord.connection import COMPACTION_TIMEOUT, KEEPALIVE, MAX_MESSAGE_BYTES, TIMEOUT
from compactord.daemon import START_TIMEOUT, Daemon
from compactord.errors import UnavailableError

_POLL = 0.02


@contextmanager
def embedded(
    binary: str | Path | None = None,
    *,
    store: str | Path | None = None,
    config: str | Path | Mapping[str, Any] | None = None,
    args: Sequence[str] = (),
    timeout: float = TIMEOUT,
    compaction_timeout: float = COMPACTION_TIMEOUT,
    max_message_bytes: int = MAX_MESSAGE_BYTES,
    keepalive: float = KEEPALIVE,
    retry: bool = True,
) -> Generator[Client]:
    """Start a daemon that runs until the end of the block. Meant for scripts and tests.

    It listens on a Unix socket in a new folder, on Windows on a free port. It also ends when this program ends, even if
    the program is killed. Other clients can use the ``address`` of the client too.

    Args:
        binary: The program. Default: the path in ``COMPACTORD_BINARY``, else ``compactord`` on the PATH.
        store: The file with the sessions. Default: a temporary one.
        config: A configuration file, or its content as a dict.
        args: More arguments of ``compactord serve``.
        timeout: As for :class:`Client`.
        compaction_timeout: As for :class:`Client`.
        max_message_bytes: As for :class:`Client`.
        keepalive: As for :class:`Client`.
        retry: As for :class:`Client`.

    Yields:
        A client of the daemon.

    Raises:
        CompactordError: ``BINARY_NOT_FOUND``: The program does not exist.
        CompactordError: ``DAEMON_START``: The daemon did not start.
    """
    daemon = Daemon(binary, store=store, config=config, args=args)
    try:
        client = Client(
            daemon.address,
            timeout=timeout,
            compaction_timeout=compaction_timeout,
            max_message_bytes=max_message_bytes,
            keepalive=keepalive,
            retry=retry,
        )
        with client:
            runtime.in_thread(daemon.start)
            _served(daemon, client)
            yield client
    except UnavailableError as error:
        if runtime.in_thread(daemon.has_ended):
            error.message = daemon.failure("the embedded daemon has ended").message
        raise
    finally:
        runtime.in_thread(daemon.stop)


def _served(daemon: Daemon, client: Client) -> None:
    """Wait until the daemon serves."""
    deadline = time.monotonic() + START_TIMEOUT
    while not client.health(timeout=START_TIMEOUT):
        daemon.check()
        if time.monotonic() > deadline:
            raise daemon.failure(f"the daemon does not serve after {START_TIMEOUT:g} s")
        runtime.sleep(_POLL)
