"""A daemon that runs during a ``with`` block."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from compactord._async.client.client import AsyncClient
from compactord._async.wire import runtime
from compactord.connection import COMPACTION_TIMEOUT, KEEPALIVE, MAX_MESSAGE_BYTES, TIMEOUT
from compactord.daemon import START_TIMEOUT, Daemon
from compactord.errors import UnavailableError

_POLL = 0.02


@asynccontextmanager
async def async_embedded(
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
) -> AsyncGenerator[AsyncClient]:
    """Start a daemon that runs until the end of the block. Meant for scripts and tests.

    It listens on a Unix socket in a new folder, on Windows on a free port. It also ends when this program ends, even if
    the program is killed. Other clients can use the ``address`` of the client too.

    Args:
        binary: The program. Default: the path in ``COMPACTORD_BINARY``, else ``compactord`` on the PATH.
        store: The file with the sessions. Default: a temporary one.
        config: A configuration file, or its content as a dict.
        args: More arguments of ``compactord serve``.
        timeout: As for :class:`AsyncClient`.
        compaction_timeout: As for :class:`AsyncClient`.
        max_message_bytes: As for :class:`AsyncClient`.
        keepalive: As for :class:`AsyncClient`.
        retry: As for :class:`AsyncClient`.

    Yields:
        A client of the daemon.

    Raises:
        CompactordError: ``BINARY_NOT_FOUND``: The program does not exist.
        CompactordError: ``DAEMON_START``: The daemon did not start.
    """
    daemon = Daemon(binary, store=store, config=config, args=args)
    try:
        client = AsyncClient(
            daemon.address,
            timeout=timeout,
            compaction_timeout=compaction_timeout,
            max_message_bytes=max_message_bytes,
            keepalive=keepalive,
            retry=retry,
        )
        async with client:
            await runtime.in_thread(daemon.start)
            await _served(daemon, client)
            yield client
    except UnavailableError as error:
        if await runtime.in_thread(daemon.has_ended):
            error.message = daemon.failure("the embedded daemon has ended").message
        raise
    finally:
        await runtime.in_thread(daemon.stop)


async def _served(daemon: Daemon, client: AsyncClient) -> None:
    """Wait until the daemon serves."""
    deadline = time.monotonic() + START_TIMEOUT
    while not await client.health(timeout=START_TIMEOUT):
        daemon.check()
        if time.monotonic() > deadline:
            raise daemon.failure(f"the daemon does not serve after {START_TIMEOUT:g} s")
        await runtime.sleep(_POLL)
