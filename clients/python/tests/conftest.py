"""What all tests share."""

import os
import shutil
import tempfile
from collections.abc import Iterator

import pytest

pytest_plugins = ["agents"]


@pytest.fixture(scope="session", autouse=True)
def state() -> Iterator[None]:
    """Let the daemons of the tests make their token in a folder of its own, where their clients find it."""
    folder = tempfile.mkdtemp(prefix="compactord-state-")
    os.environ["XDG_STATE_HOME"] = folder
    for name in ("COMPACTORD_TOKEN", "COMPACTORD_TOKEN_FILE"):
        os.environ.pop(name, None)
    yield
    shutil.rmtree(folder)
