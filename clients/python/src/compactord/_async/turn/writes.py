"""The appends of a turn, which no message of another process may separate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from compactord import v1
from compactord._async.session.log import AsyncSessionLog
from compactord._async.session.position import AsyncPosition
from compactord.connection import new_request_id
from compactord.errors import WrongNextIndexError
from compactord.results import Appended
from compactord.unanswered import leaves_open
from compactord.view import View

_SENT_BY_CLIENTS = (v1.Origin.ORIGIN_UNSPECIFIED, v1.Origin.ORIGIN_CLIENT, v1.Origin.ORIGIN_IMPORT)
"""The origins of what programs append. All others mark what the daemon adds to a request that is not an append."""

_CONFLICT = (
    "another process, or another session object of this one, has written to the session during this turn: nothing of "
    "the rejected append was written; run the turns of a session in one process at a time, and start this turn anew"
)


@dataclass(eq=False)
class Write:
    """An append of a turn. Its request id makes it safe to send again.

    Attributes:
        messages: The messages.
        view: The view that a model's answer was made from.
        model_answer: Whether it is a model's answer.
        given: Whether the messages are arguments of ``run_turn``.
        request_id: The request id.
        expected_next_index: The index that its first message must get; None for any.
        unanswered: Whether it is unknown if the daemon executed it. It is then sent again unchanged, since the daemon
            refuses another request with the same id.
    """

    messages: tuple[Any, ...]
    view: View | None = None
    model_answer: bool = False
    given: bool = False
    request_id: str = field(default_factory=new_request_id)
    expected_next_index: int | None = None
    unanswered: bool = False


async def send(session: AsyncSessionLog, write: Write) -> Appended:
    """Execute an append."""
    write.unanswered = True
    try:
        appended = await session.append(
            *write.messages,
            view=write.view,
            model_answer=write.model_answer,
            expected_next_index=write.expected_next_index,
            request_id=write.request_id,
        )
    except Exception as error:
        write.unanswered = leaves_open(error)
        raise
    write.unanswered = False
    return appended


async def send_in_turn(session: AsyncSessionLog, position: AsyncPosition, write: Write) -> Appended:
    """Execute an append that must directly follow what this session object knows of the log.

    Raises:
        WrongNextIndexError: Another process has written to the session.
    """
    while True:
        if not write.unanswered:
            write.expected_next_index = position.next_index
        try:
            return await send(session, write)
        except WrongNextIndexError as refused:
            await _take_in(session, position, refused.next_index or 0)
            if (position.next_index or 0) <= (write.expected_next_index or 0):
                refused.message = _CONFLICT
                raise


async def _take_in(session: AsyncSessionLog, position: AsyncPosition, end: int) -> None:
    """Move the position to the end of the log, unless another process has appended to it.

    The response to an append of another thread or task may come later than the refusal. What the daemon adds by itself,
    such as the message after a compaction that lets the agent go on, belongs to no turn.
    """
    await position.settled()
    if position.next_index is None or position.next_index >= end:
        return
    async for logged in session.messages(from_index=position.next_index):
        if logged.index >= end:
            break
        if logged.message.origin in _SENT_BY_CLIENTS and not position.is_own(logged.index):
            return
    position.start(end)
