"""Failures that tests expect, by their reason, and those that they cause."""

from __future__ import annotations

from typing import Any

import pytest

import compactord
from agents import plain
from compactord.errors import ReasonName


def raising(reason: ReasonName, match: str | None = None) -> pytest.RaisesExc[compactord.CompactordError]:
    """Expect an exception with this reason, as ``pytest.raises`` expects one of a class."""
    return pytest.raises(compactord.CompactordError, match=match, check=lambda error: error.reason == reason)


def reason_of(error: Any) -> str:
    """The reason of an exception; empty for those of others."""
    return error.reason if isinstance(error, compactord.CompactordError) else ""


class Failing:
    """Fails calls of a session: before they reach the daemon, or on the way back."""

    def __init__(self, session: compactord.Session) -> None:
        self._calls = plain(session)._calls
        self._real = self._calls.unary

    def fails(self, kind: type, *, reached: bool) -> None:
        """Fail the next call with such a request."""
        real, calls = self._real, self._calls

        def unary(method: Any, request: Any, timeout: float | None = None) -> Any:
            if not isinstance(request, kind):
                return real(method, request, timeout)
            calls.unary = real
            return _lost(real(method, request, timeout) if reached else None)

        calls.unary = unary


def _lost(answer: Any) -> Any:
    if not hasattr(answer, "__await__"):
        raise compactord.UnavailableError("the answer was lost")

    async def later() -> None:
        await answer
        raise compactord.UnavailableError("the answer was lost")

    return later()
