"""Results of a caller's functions that nobody awaited."""

from __future__ import annotations

import inspect


def refuse_awaitable(function: str, result: object) -> None:
    """Refuse what a caller's function returned where it still has to be awaited.

    Raises:
        TypeError: It is a coroutine or another awaitable. The text names the function.
    """
    if not inspect.isawaitable(result):
        return
    if inspect.iscoroutine(result):
        result.close()  # It will never be awaited, of which Python would warn.
    raise TypeError(
        f"{function} returned a {type(result).__name__}, which nobody awaits: "
        "await it there, or use AsyncClient, whose sessions await it"
    )
