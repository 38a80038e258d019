"""How a turn waits, runs the caller's functions and is interrupted, with threads. Its twin in ``_async`` has asyncio."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import Condition as Condition
from threading import Lock as Lock
from typing import Any, TypeAlias, TypeVar

from compactord.answers import AnswerLike, is_stream

T = TypeVar("T")
ModelAnswerLike: TypeAlias = AnswerLike | Iterable[Any]


class Interrupted(BaseException):
    """What runs was interrupted by `Work.interrupt`. It passes through code that catches every Exception."""


class Work:
    """What a turn has the caller's functions do just now, so that it can be interrupted from outside."""

    def __init__(self) -> None:
        """Makes one with nothing to do."""
        self._interrupted = False

    def interrupt(self) -> None:
        """Ends a streamed answer at its next event, and drops what a function returns; no thread can be stopped."""
        self._interrupted = True

    def all(self, functions: Sequence[Callable[[], T]]) -> list[T]:
        """Calls functions one after the other.

        Args:
            functions: What to call. They raise nothing of their own but what no one may catch.

        Returns:
            What they returned, in their order.

        Raises:
            Interrupted: They were interrupted.
        """
        results: list[T] = []
        for function in functions:
            self._check()
            results.append(function())
        self._check()
        return results

    def model(self, call: Callable[[], ModelAnswerLike], event: Callable[[Any], None]) -> object:
        """Calls a model and takes its answer to the end.

        Args:
            call: Calls the model.
            event: Is told each event of a streamed answer.

        Returns:
            The answer; None where it was streamed.

        Raises:
            Interrupted: It was interrupted.
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
        return None

    def _check(self) -> None:
        if self._interrupted:
            raise Interrupted


def _close(stream: object) -> None:
    close: object = getattr(stream, "close", None)
    if callable(close):
        close()


def wait_for(condition: Condition, predicate: Callable[[], bool], seconds: float) -> bool:
    """Waits, with the condition held, until it is so or the time is over.

    Returns:
        Whether it is so.
    """
    return condition.wait_for(predicate, seconds)
