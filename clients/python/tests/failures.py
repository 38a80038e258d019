"""Failures that tests expect, by their reason."""

from __future__ import annotations

from typing import Any

import pytest

import compactord
from compactord.errors import ReasonName


def raising(reason: ReasonName, match: str | None = None) -> pytest.RaisesExc[compactord.CompactordError]:
    """Expect an exception with this reason, as ``pytest.raises`` expects one of a class."""
    return pytest.raises(compactord.CompactordError, match=match, check=lambda error: error.reason == reason)


def reason_of(error: Any) -> str:
    """The reason of an exception; empty for those of others."""
    return error.reason if isinstance(error, compactord.CompactordError) else ""
