"""Functions of the caller that are none, and results of them that nobody awaited."""

from __future__ import annotations

import inspect


def require_callable(**given: object) -> None:
    """Refuse what is not a function. None counts as not given.

    Raises:
        TypeError: One of the arguments is neither. The text names it.
    """
    for name, function in given.items():
        if function is not None and not callable(function):
            raise TypeError(f"{name}: must be a function, not of the type {type(function).__name__}")


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
