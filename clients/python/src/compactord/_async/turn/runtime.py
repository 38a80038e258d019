"""Running and interrupting the caller's functions, with asyncio. The version in ``_sync`` uses threads."""

from __future__ import annotations

import asyncio
import inspect
from asyncio import Condition as Condition
from asyncio import Lock as Lock
from collections.abc import AsyncIterable, Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

from compactord._async.wire.runtime import Result, resolve
from compactord.answers import STREAMED, AnswerLike, is_async_stream, is_stream

T = TypeVar("T")
ModelAnswerLike: TypeAlias = Result[AnswerLike | AsyncIterable[Any] | Iterable[Any]]


class Interrupted(BaseException):
    """`Work.interrupt` was called. Not an Exception, so that code that catches those does not stop it."""


class Work:
    """The functions of the caller that a turn is running, so that another task or thread can interrupt them."""

    def __init__(self) -> None:
        """Start without a function."""
        self._task: asyncio.Task[Any] | None = None
        self._interrupted = False

    def interrupt(self) -> None:
        """Cancel the running functions, and all later ones."""
        self._interrupted = True
        if self._task is not None:
            self._task.cancel()

    async def all(self, functions: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
        """Call functions at the same time.

        Args:
            functions: What to call. The first exception is raised, and the other functions are cancelled.

        Returns:
            Their results, in order.

        Raises:
            Interrupted: `interrupt` was called.
        """
        return await self._run(_gather(functions))

    async def model(self, call: Callable[[], ModelAnswerLike], event: Callable[[Any], None]) -> object:
        """Call a model and read its answer to the end.

        Args:
            call: Calls the model.
            event: Called with each event of a streamed answer.

        Returns:
            The answer; `STREAMED` where it was streamed.

        Raises:
            Interrupted: `interrupt` was called.
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
            # The caller's own task was cancelled, so its work is cancelled too.
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
                task.exception()  # Reads the exception, so that asyncio does not warn about it.
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
        return STREAMED
    if is_stream(answer):
        try:
            for piece in answer:
                event(piece)
                await asyncio.sleep(0)
        finally:
            await _close(answer)
        return STREAMED
    return answer


async def _close(stream: object) -> None:
    close: object = getattr(stream, "aclose", None) or getattr(stream, "close", None)
    if callable(close):
        closing = close()
        if inspect.isawaitable(closing):
            await closing


async def wait_for(condition: Condition, predicate: Callable[[], bool], seconds: float) -> bool:
    """Wait until the predicate is true or the time is over. The caller holds the condition.

    Returns:
        Whether the predicate is true.
    """
    try:
        await asyncio.wait_for(condition.wait_for(predicate), seconds)
    except asyncio.TimeoutError:
        return False
    return True
