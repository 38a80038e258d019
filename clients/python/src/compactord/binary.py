"""Where the daemon's program is."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sysconfig
from pathlib import Path

import grpc

from compactord.errors import CompactordError

BINARY_VARIABLE = "COMPACTORD_BINARY"
_NAME = "compactord"
_BUILD = "go install ./cmd/compactord"


def find_binary(given: str | Path | None) -> str:
    """Find the daemon's program.

    Args:
        given: Its path. Default: the path in ``COMPACTORD_BINARY``, else the program that was installed with this
            package, else ``compactord`` on the PATH.

    Raises:
        CompactordError: ``BINARY_NOT_FOUND``: The program does not exist.
    """
    wanted = os.fspath(given) if given is not None else os.environ.get(BINARY_VARIABLE)
    found = shutil.which(wanted) if wanted else own_binary() or shutil.which(_NAME)
    if found is not None:
        return os.path.abspath(found)
    if wanted:
        raise _not_found(f"the program {wanted} does not exist: give binary= or set {BINARY_VARIABLE}")
    raise _not_found(
        f"this package was installed without the program, which it has not for every platform "
        f"({sysconfig.get_platform()}), and there is no {_NAME} on the PATH: build it with `{_BUILD}` in a clone of "
        f"compactord and have $(go env GOPATH)/bin on the PATH, "
        f"or give binary= or set {BINARY_VARIABLE}"
    )


def _not_found(message: str) -> CompactordError:
    return CompactordError(message, code=grpc.StatusCode.FAILED_PRECONDITION, reason="BINARY_NOT_FOUND")


def own_binary() -> str | None:
    """Find the program that was installed with this package, also where its environment is not activated."""
    for path in _installed():
        found = shutil.which(os.fspath(path))
        if found is not None:
            return found
    return None


def _installed() -> list[Path]:
    program = _NAME + (sysconfig.get_config_var("EXE") or "")
    # pip install --target puts the programs into a folder beside the packages, and does not say so in its list.
    paths = [Path(__file__).parent.parent / "bin" / program]
    try:
        files = importlib.metadata.files(_NAME) or []
    except importlib.metadata.PackageNotFoundError:
        return paths
    return [Path(os.path.abspath(f.locate())) for f in files if f.name == program] + paths


def start_command() -> str:
    """Return the command line that starts a daemon, with the program's path where the PATH does not lead to it."""
    if shutil.which(_NAME) is not None:
        return f"{_NAME} serve"
    own = own_binary()
    return f"{own} serve" if own else f"{_NAME} serve"


def to_build() -> str:
    """Return what to say beside :func:`start_command` where its program is not there; empty where it is."""
    if shutil.which(_NAME) is not None or own_binary() is not None:
        return ""
    return f" (`{_BUILD}` in a clone of compactord makes the program, which is not on the PATH here)"
