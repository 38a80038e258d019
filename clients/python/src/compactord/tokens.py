"""The token of a client: which one to send, and whether it may be sent."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from compactord import addresses

PREFIX = "cptd_"
"""The beginning of every token."""
TOKEN_VARIABLE = "COMPACTORD_TOKEN"
TOKEN_FILE_VARIABLE = "COMPACTORD_TOKEN_FILE"

Token: TypeAlias = str | Callable[[], str]
"""A token, or a function that returns it. The function is called before each call, and must not block. An empty token
is not sent."""

_FOR_OTHERS = 0o077


class TokenFile:
    """The token in a file. It is read again when the file has changed, since a daemon may make it later or anew."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._read: tuple[int, ...] = ()
        self._token = ""

    def __call__(self) -> str:
        """Return the token; an empty text where there is no file, which a daemon with --no-auth makes none of.

        Raises:
            ValueError: Others can read or change the file, or it cannot be read. The text does not quote it.
        """
        try:
            status = os.stat(self.path)
            seen = (status.st_ino, status.st_mtime_ns, status.st_size, status.st_mode)
            if seen != self._read:
                if os.name != "nt" and status.st_mode & _FOR_OTHERS:
                    raise ValueError(
                        f"the token file {self.path} can be read or changed by others than its owner "
                        f"(mode {stat.S_IMODE(status.st_mode):04o}): take that away with chmod 600"
                    )
                self._token = self.path.read_text(encoding="utf-8").strip()
                self._read = seen
        except FileNotFoundError:
            return ""
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no text"
            raise ValueError(f"cannot read the token file {self.path}: {why}") from None
        return self._token


def chosen(given: Token | None, address: str, *, encrypted: bool, allow_plaintext: bool) -> Token | None:
    """Choose the token to send: the given one, else that of the environment, else that of the user's own daemon.

    The last one is only for daemons of this machine, and is not sent elsewhere.

    Raises:
        ValueError: Others on the network could read the token.
    """
    local = addresses.is_local(address)
    token = given if given is not None else _of_environment()
    if token is None:
        own = default_file()
        return TokenFile(own) if local and own is not None else None
    if not (local or encrypted or allow_plaintext):
        raise ValueError(
            "token: without TLS, others on the network could read it; use an address of this machine, a Unix socket or "
            "tls, or allow_plaintext_token=True to send it anyway"
        )
    return token


def origin(token: Token | None, *, given: bool) -> str:
    """Say where the token comes from that a client sends, for an error of the daemon, which does not know it.

    Args:
        token: What :func:`chosen` returned.
        given: Whether the program gave it to the client.
    """
    if given:
        return "the client sends the one that it was given as token"
    others = f"give the client token, or set {TOKEN_VARIABLE} or {TOKEN_FILE_VARIABLE}"
    if token is None:
        return f"the client sends none: {others}"
    if not isinstance(token, TokenFile):
        return f"the client sends that of {TOKEN_VARIABLE}"
    if token.path.exists():
        return f"the client sends that of the file {token.path}"
    return f"the client sends none, since there is no file {token.path}: {others}"


def _of_environment() -> Token | None:
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if token:
        return token
    path = os.environ.get(TOKEN_FILE_VARIABLE)
    return TokenFile(path) if path else None


def default_file() -> Path | None:
    """The file in which a daemon of this user makes its token; None where the user has no home folder."""
    base = os.environ.get("XDG_STATE_HOME")
    if base:
        return Path(base, "compactord", "token")
    if sys.platform == "win32":
        base = os.environ.get("APPDATA")
        return Path(base, "compactord", "token") if base else None
    home = os.path.expanduser("~")
    if home == "~":
        return None
    state = ("Library", "Application Support") if sys.platform == "darwin" else (".local", "state")
    return Path(home, *state, "compactord", "token")
