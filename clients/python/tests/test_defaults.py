"""The defaults are those of all clients, in clients/defaults.json."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compactord import AsyncClient, Client, async_embedded, binary, connection, daemon, embedded, tokens

TABLE: dict[str, Any] = json.loads((Path(__file__).parents[2] / "defaults.json").read_text(encoding="utf-8"))


def test_the_figures_are_those_of_the_table() -> None:
    assert {
        "address": connection.DEFAULT_ADDRESS,
        "address_variable": connection.ADDRESS_VARIABLE,
        "token_variable": tokens.TOKEN_VARIABLE,
        "token_file_variable": tokens.TOKEN_FILE_VARIABLE,
        "binary_variable": binary.BINARY_VARIABLE,
        "timeout_ms": connection.TIMEOUT * 1000,
        "compaction_timeout_ms": connection.COMPACTION_TIMEOUT * 1000,
        "start_timeout_ms": daemon.START_TIMEOUT * 1000,
        "max_message_bytes": connection.MAX_MESSAGE_BYTES,
        "keepalive_ms": connection.KEEPALIVE * 1000,
        "least_keepalive_ms": connection.LEAST_KEEPALIVE * 1000,
        "retry": {
            "attempts": connection.ATTEMPTS,
            "first_backoff_ms": connection.FIRST_BACKOFF * 1000,
            "backoff_factor": connection.BACKOFF_FACTOR,
            "max_backoff_ms": connection.MAX_BACKOFF * 1000,
        },
    } == TABLE


@pytest.mark.parametrize("made", [Client, AsyncClient, embedded, async_embedded])
def test_signatures_have_the_defaults_of_the_table(made: Callable[..., Any]) -> None:
    given = inspect.signature(made).parameters
    assert {f"{name}_ms": given[name].default * 1000 for name in ("timeout", "compaction_timeout", "keepalive")} == {
        name: TABLE[name] for name in ("timeout_ms", "compaction_timeout_ms", "keepalive_ms")
    }
    assert given["max_message_bytes"].default == TABLE["max_message_bytes"]
    assert given["retry"].default is True


@pytest.mark.parametrize("made", [Client, AsyncClient])
def test_a_keepalive_that_the_daemon_would_refuse_is_refused(made: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match=r"^keepalive: 9\.5 s is less than 10 s$"):
        made(keepalive=9.5)
    made(keepalive=10.0)
