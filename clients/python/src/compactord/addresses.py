"""Addresses of daemons: HOST:PORT, or unix: and the path of a socket."""

from __future__ import annotations

import os

_UNIX = "unix:"


def is_unix(address: str) -> bool:
    """Whether it is the path of a Unix socket."""
    return address.startswith(_UNIX)


def checked(address: object) -> str:
    """The address, with the user's folder in place of a ``~`` at the beginning of a path.

    Raises:
        ValueError: It is none.
    """
    if not isinstance(address, str):
        raise ValueError(f"{address!r} is not an address: write 'HOST:PORT' or 'unix:PATH'")
    if is_unix(address):
        return _UNIX + _path(address.removeprefix(_UNIX))
    host, colon, port = address.rpartition(":")
    if "/" in host:
        raise ValueError(f"{address!r} is a URL: write HOST:PORT, and tls=True for https")
    if ":" in host and not (host.startswith("[") and host.endswith("]")):
        raise ValueError(f"{address!r} is not an address: IPv6 is written in brackets, as [::1]:7440")
    if not (colon and host and port.isdecimal() and int(port) <= 65535):
        raise ValueError(f"{address!r} is not an address: write HOST:PORT or unix:PATH")
    return address


def _path(given: str) -> str:
    if given in ("", "//"):
        raise ValueError("unix: needs the path of a socket after it")
    path = os.path.expanduser(given)
    if path.startswith("~"):
        raise ValueError(f"unix:{given}: there is no such user's folder")
    return path
