"""Which token a client sends, to a daemon that asks for one."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import compactord
from compactord import tokens
from daemons import Restarted

WRONG = tokens.PREFIX + 64 * "0"


@pytest.fixture
def daemon(binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Restarted]:
    """A daemon that has not been started, of a user who never had one."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    made = Restarted(binary)
    yield made
    made.remove()


def works(client: compactord.Client) -> bool:
    """Whether the daemon takes calls of the client."""
    try:
        list(client.list_sessions())
    except compactord.UnauthenticatedError:
        return False
    return True


def test_the_token_of_the_own_daemon_is_found(daemon: Restarted, tmp_path: Path) -> None:
    with compactord.Client(daemon.address) as early:
        daemon.start()
        assert works(early), "the file is looked at again"
        path = tmp_path / "compactord" / "token"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with compactord.Client(daemon.address, token=path.read_text().strip()) as client:
            assert works(client)
        # The daemon has read its token already.
        path.unlink()
        assert not works(early)


def test_who_sends_a_wrong_token_is_told_where_it_comes_from(
    daemon: Restarted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon.start()
    own = tmp_path / "compactord" / "token"
    own.write_text(WRONG)

    def told(token: str | None = None) -> set[str]:
        texts: set[str] = set()
        with compactord.Client(daemon.address, token=token) as client:
            session = client.session("one")
            calls: list[Callable[[], Any]] = [
                session.view,
                session.compact,
                lambda: session.sync([compactord.user("hello")]),
                lambda: next(session.watch()),
            ]
            for call in calls:
                with pytest.raises(compactord.UnauthenticatedError) as caught:
                    call()
                texts.add(caught.value.message.removeprefix("the call has no token that this daemon accepts: "))
        return texts

    others = "give the client token, or set COMPACTORD_TOKEN or COMPACTORD_TOKEN_FILE"
    assert told() == {f"the client sends that of the file {own}"}
    own.unlink()
    assert told() == {f"the client sends none, since there is no file {own}: {others}"}
    monkeypatch.setenv("COMPACTORD_TOKEN_FILE", str(tmp_path / "none"))
    assert told() == {f"the client sends none, since there is no file {tmp_path / 'none'}: {others}"}
    monkeypatch.setenv("COMPACTORD_TOKEN", WRONG)
    assert told() == {"the client sends that of COMPACTORD_TOKEN"}
    assert told(WRONG) == {"the client sends the one that it was given as token"}
    assert tokens.origin(None, given=False) == f"the client sends none: {others}"


def test_the_asynchronous_client_finds_it_too(daemon: Restarted) -> None:
    daemon.start()

    async def listed() -> list[compactord.v1.Session]:
        async with compactord.AsyncClient(daemon.address) as client:
            return [session async for session in client.list_sessions()]

    assert asyncio.run(listed()) == []


def test_a_given_token_comes_first(daemon: Restarted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    daemon.start()
    right = (tmp_path / "compactord" / "token").read_text().strip()
    other = tmp_path / "other"
    other.write_text(WRONG + "\n")
    other.chmod(0o600)

    def made(token: str | None = None) -> bool:
        with compactord.Client(daemon.address, token=token) as client:
            return works(client)

    assert not made(WRONG)
    monkeypatch.setenv(tokens.TOKEN_FILE_VARIABLE, str(other))
    assert not made(), "the file of the environment comes before the default one"
    monkeypatch.setenv(tokens.TOKEN_VARIABLE, right)
    assert made(), "the token of the environment comes before the file"
    assert not made(WRONG), "the given one comes first"


def test_files_of_tokens_that_cannot_be_used(tmp_path: Path) -> None:
    path = tmp_path / "token"
    assert tokens.TokenFile(path)() == ""
    path.write_text(WRONG)
    for mode in (0o640, 0o604, 0o602):
        path.chmod(mode)
        with pytest.raises(ValueError, match="chmod 600"):
            tokens.TokenFile(path)()
    path.chmod(0o600)
    read = tokens.TokenFile(path)
    assert read() == WRONG
    path.write_bytes(b"\xff")
    with pytest.raises(ValueError, match="cannot read"):
        read()


def test_the_own_token_stays_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for address in ("example.org:1", "10.0.0.1:1"):
        assert tokens.chosen(None, address, encrypted=True, allow_plaintext=True) is None
    monkeypatch.setenv(tokens.TOKEN_VARIABLE, WRONG)
    assert tokens.chosen(None, "example.org:1", encrypted=True, allow_plaintext=False) == WRONG
    with pytest.raises(ValueError, match="without TLS") as refused:
        tokens.chosen(None, "example.org:1", encrypted=False, allow_plaintext=False)
    assert WRONG not in str(refused.value)
