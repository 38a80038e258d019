"""The children of a session: how they end, and the block in which one lives."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import Generic, Protocol, TypeVar

from compactord import v1
from compactord._async.turn.turns import AsyncSessionTurns
from compactord.arguments import checked_arguments
from compactord.connection import new_request_id
from compactord.errors import CompactordError
from compactord.results import ChildEnded
from compactord.texts import model_text
from compactord.tools import ToolCall

_RESULT_BYTES = 64 * 1024


@checked_arguments
class AsyncSessionChildren(AsyncSessionTurns):
    """The part of a session that lists its children, and that ends it where it is a child itself."""

    # What the result of this child answers, and the session object that has the call; None where it is no child of one.
    _call_id = ""
    _parent: AsyncSessionChildren | None = None
    _ended: ChildEnded | None = None

    @property
    def ended(self) -> ChildEnded | None:
        """How :meth:`end` of this session object ended the child; None where it has not."""
        return self._ended

    async def end(
        self,
        result: str = "",
        *,
        is_error: bool = False,
        call: ToolCall | str | None = None,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> ChildEnded:
        """End this session, which is a child, and append its result to the parent's log.

        The log of the child takes nothing more. The parent's model is told how to recall it. Ending a child again with
        the same result, or without one, does nothing.

        Args:
            result: The result, for the parent's model. Default: the text of the child's newest ASSISTANT message.
            is_error: Whether the child failed. The result then says why.
            call: The open call of the parent that the result answers, or its id. Default: the call that was given to
                :meth:`child`. Without one the result is a USER message, which starts no turn.
            request_id: Makes the call safe to repeat. Default: a new one.
            timeout: The timeout in seconds. Default: the client's.

        Raises:
            CompactordError: ``NO_PARENT``: The session is no child, or its parent was deleted.
            CompactordError: ``CHILD_ENDED``: The child has ended with another result.
            InvalidRequestError: There is no result, and the child's model has said nothing; or the parent has no such
                open call.
        """
        request = v1.EndChildRequest(
            session_id=self._id,
            call_id=self._call_id if call is None else _id_of(call),
            result=result,
            is_error=is_error,
            request_id=request_id or new_request_id(),
        )
        answer = await self._calls.unary(self._calls.sessions.EndChild, request, timeout)
        self._ended = ChildEnded(answer.index, answer.point, answer.answers_call, answer.report)
        if self._parent is not None:
            self._parent._position.wrote(answer.index, answer.index + 1)
            if answer.answers_call:
                self._parent._turns.answered.add(request.call_id)
        return self._ended

    def children(self, *, page_size: int = 0, timeout: float | None = None) -> AsyncIterator[v1.Session]:
        """Iterate over the children of this session, newest first, including those that have ended.

        Args:
            page_size: Sessions per response, up to 1,000. Default 100.
            timeout: The timeout of each response in seconds. Default: the client's.
        """
        request = v1.ListSessionsRequest(parent_session_id=self._id, page_size=page_size)
        return self._pages(self._calls.sessions.ListSessions, request, lambda page: page.sessions, timeout)


class AsyncChild(Protocol):
    """A session that is a child."""

    @property
    def ended(self) -> ChildEnded | None:
        """How it was ended; None where it was not."""
        ...

    async def end(self, result: str = "", *, is_error: bool = False) -> ChildEnded:
        """End it."""
        ...


C = TypeVar("C", bound=AsyncChild)


class AsyncChildBlock(Generic[C]):
    """A block in which a child lives: entering it makes the child, leaving it ends the child."""

    def __init__(self, start: Callable[[], Awaitable[C]]) -> None:
        """Make a block for ``AsyncSession.child``. ``start`` makes the child."""
        self._start = start
        self._child: C | None = None

    async def __aenter__(self) -> C:
        self._child = await self._start()
        return self._child

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        child = self._child
        if child is None or child.ended is not None:
            return
        if error is None:
            await child.end()
            return
        try:
            await child.end(_failure(error), is_error=True)
        except CompactordError:
            # The caller must see the error that ended the block.
            return


def _id_of(call: ToolCall | str) -> str:
    return call if isinstance(call, str) else call.id


def _failure(error: BaseException) -> str:
    """The result of a child whose block an exception ended, for the parent's model."""
    if not isinstance(error, Exception):
        return model_text("child_stopped")
    return model_text("child_failed", error=str(error)[:_RESULT_BYTES] or type(error).__name__)
