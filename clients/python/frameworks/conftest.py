"""The daemon of the tests of the adapters."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import compactord
from programs import BINARY


@pytest.fixture(scope="module")
def client() -> Iterator[compactord.Client]:
    with compactord.embedded(BINARY) as made:
        yield made
