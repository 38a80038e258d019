"""The addresses of daemons: HOST:PORT or unix:PATH."""

from __future__ import annotations

import ipaddress
import os

_UNIX = "unix:"


def is_unix(address: str) -> bool:
    """Whether the address is the path of a Unix socket."""
    return address.startswith(_UNIX)


def is_local(address: str) -> bool:
    """Whether only this machine can reach the address. Of names, only localhost: what others mean may change."""
    if is_unix(address):
        return True
    host = address.rpartition(":")[0].removeprefix("[").removesuffix("]")
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def checked(address: object) -> str:
    """Check an address and return it. A ``~`` at the beginning of a path is replaced by the user's home folder.

    Raises:
        ValueError: This is not an address.
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
        raise ValueError("the address unix: has no path: write unix:PATH")
    path = os.path.expanduser(given)
    if path.startswith("~"):
        raise ValueError(f"unix:{given}: the user has no home folder")
    return path
