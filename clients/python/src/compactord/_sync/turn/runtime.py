"""Running and interrupting the caller's functions, with threads. The version in ``_async`` uses asyncio."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import Condition as Condition
from threading import Lock as Lock
from typing import Any, TypeAlias, TypeVar

from compactord.answers import STREAMED, AnswerLike, is_stream

T = TypeVar("T")
ModelAnswerLike: TypeAlias = AnswerLike | Iterable[Any]


class Interrupted(BaseException):
    """`Work.interrupt` was called. Not an Exception, so that code that catches those does not stop it."""


class Work:
    """The functions of the caller that a turn is running, so that another task or thread can interrupt them."""

    def __init__(self) -> None:
        """Start without a function."""
        self._interrupted = False

    def interrupt(self) -> None:
        """Stop a streamed answer at its next event, and drop the results of functions: a thread cannot be stopped."""
        self._interrupted = True

    def all(self, functions: Sequence[Callable[[], T]]) -> list[T]:
        """Call functions one after the other.

        Args:
            functions: What to call. The first exception is raised, and the later functions are not called.

        Returns:
            Their results, in order.

        Raises:
            Interrupted: `interrupt` was called.
        """
        results: list[T] = []
        for function in functions:
            self._check()
            results.append(function())
        self._check()
        return results

    def model(self, call: Callable[[], ModelAnswerLike], event: Callable[[Any], None]) -> object:
        """Call a model and read its answer to the end.

        Args:
            call: Calls the model.
            event: Called with each event of a streamed answer.

        Returns:
            The answer; `STREAMED` where it was streamed.

        Raises:
            Interrupted: `interrupt` was called.
        """
        self._check()
        answer: object = call()
        if not is_stream(answer):
            self._check()
            return answer
        try:
            for piece in answer:
                self._check()
                event(piece)
            self._check()
        finally:
            _close(answer)
        return STREAMED

    def _check(self) -> None:
        if self._interrupted:
            raise Interrupted


def _close(stream: object) -> None:
    close: object = getattr(stream, "close", None)
    if callable(close):
        close()


def wait_for(condition: Condition, predicate: Callable[[], bool], seconds: float) -> bool:
    """Wait until the predicate is true or the time is over. The caller holds the condition.

    Returns:
        Whether the predicate is true.
    """
    return condition.wait_for(predicate, seconds)
