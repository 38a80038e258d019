"""How a turn waits, runs the caller's functions and is interrupted, with asyncio. Its twin in ``_sync`` has threads."""

from __future__ import annotations

import asyncio
import inspect
from asyncio import Condition as Condition
from asyncio import Lock as Lock
from collections.abc import AsyncIterable, Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

from compactord._async.wire.runtime import Result, resolve
from compactord.answers import AnswerLike, is_async_stream, is_stream

T = TypeVar("T")
ModelAnswerLike: TypeAlias = Result[AnswerLike | AsyncIterable[Any] | Iterable[Any]]


class Interrupted(BaseException):
    """What runs was interrupted by `Work.interrupt`. It passes through code that catches every Exception."""


class Work:
    """What a turn has the caller's functions do just now, so that it can be interrupted from outside."""

    def __init__(self) -> None:
        """Makes one with nothing to do."""
        self._task: asyncio.Task[Any] | None = None
        self._interrupted = False

    def interrupt(self) -> None:
        """Cancels what runs, and all that would run from now on."""
        self._interrupted = True
        if self._task is not None:
            self._task.cancel()

    async def all(self, functions: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
        """Calls functions at the same time.

        Args:
            functions: What to call. They raise nothing of their own but what no one may catch.

        Returns:
            What they returned, in their order.

        Raises:
            Interrupted: They were interrupted.
        """
        return await self._run(_gather(functions))

    async def model(self, call: Callable[[], ModelAnswerLike], event: Callable[[Any], None]) -> object:
        """Calls a model and takes its answer to the end.

        Args:
            call: Calls the model.
            event: Is told each event of a streamed answer.

        Returns:
            The answer; None where it was streamed.

        Raises:
            Interrupted: It was interrupted.
        """
        return await self._run(_take(call, event))

    async def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._interrupted:
            work.close()
            raise Interrupted
        task: asyncio.Task[T] = asyncio.create_task(work)
        self._task = task
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            # The caller's own task was cancelled: what it started ends with it.
            task.cancel()
            await asyncio.wait([task])
            raise
        finally:
            self._task = None
        self._drop(task)
        return task.result()

    def _drop(self, task: asyncio.Future[Any]) -> None:
        if self._interrupted:
            if not task.cancelled():
                task.exception()  # Nobody is told; so nobody needs to be warned of that either.
            raise Interrupted


async def _gather(functions: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    tasks = [asyncio.ensure_future(function()) for function in functions]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


async def _take(call: Callable[[], ModelAnswerLike], event: Callable[[Any], None]) -> object:
    answer: object = await resolve(call())
    if is_async_stream(answer):
        try:
            async for piece in answer:
                event(piece)
        finally:
            await _close(answer)
        return None
    if is_stream(answer):
        try:
            for piece in answer:
                event(piece)
                await asyncio.sleep(0)
        finally:
            await _close(answer)
        return None
    return answer


async def _close(stream: object) -> None:
    close: object = getattr(stream, "aclose", None) or getattr(stream, "close", None)
    if callable(close):
        closing = close()
        if inspect.isawaitable(closing):
            await closing


async def wait_for(condition: Condition, predicate: Callable[[], bool], seconds: float) -> bool:
    """Waits, with the condition held, until it is so or the time is over.

    Returns:
        Whether it is so.
    """
    try:
        await asyncio.wait_for(condition.wait_for(predicate), seconds)
    except asyncio.TimeoutError:
        return False
    return True
