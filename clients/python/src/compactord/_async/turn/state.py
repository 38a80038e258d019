"""What a session keeps between turns, and who may run one."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, cast

from compactord import v1
from compactord._async.session.log import AsyncSessionLog
from compactord._async.turn.runtime import Condition
from compactord._async.wire.runtime import Result, resolve
from compactord.connection import new_request_id
from compactord.errors import TurnRunningError
from compactord.messages import developer
from compactord.results import Appended, Checkpoint, CompactionResult
from compactord.tools import ToolCall
from compactord.unanswered import leaves_open
from compactord.view import View

Announce: TypeAlias = Callable[[CompactionResult], Result[Any]]
"""Says what the model must be told again after a compaction: running tasks, the state of a plan, attachments.

A ``str`` is appended as a DEVELOPER message; messages, or a list of them, as they are; None is nothing. Where it
raises, the compaction is done all the same: it is asked again before the model is called next, and what it raises then
comes out of ``run_turn``.
"""

_inside: ContextVar[object] = ContextVar("compactord_turn", default=None)


@dataclass(frozen=True)
class Write:
    """An append of a turn. Its request id makes it safe to send again.

    Attributes:
        messages: What is appended.
        view: The view that a model's answer was made from.
        model_answer: Whether it is a model's answer.
        given: Whether it is what ``run_turn`` was given.
        request_id: Names it.
    """

    messages: tuple[Any, ...]
    view: View | None = None
    model_answer: bool = False
    given: bool = False
    request_id: str = field(default_factory=new_request_id)


@dataclass
class Step:
    """An answer of the model, and how far it is dealt with.

    Attributes:
        answer: The answer.
        calls: Its calls, in order; None where they have not been looked for.
        results: What is to be appended for each call; None where its tool has not answered yet.
        writes: The appends of the results, those that are still to be made; None as long as tools run.
        rejected: Whether a call was rejected.
        feedback: Whether all that were rejected came with feedback.
    """

    answer: v1.ModelAnswer
    calls: list[ToolCall] | None = None
    results: list[object] = field(default_factory=list[object])
    writes: list[Write] | None = None
    rejected: bool = False
    feedback: bool = True


class AsyncRunningTurn(Protocol):
    """A turn that runs, as who lets turns begin and aborts them sees it.

    Attributes:
        aborted: Whether it was aborted.
    """

    aborted: bool

    async def abort(self) -> bool:
        """Abort it, from outside.

        Returns:
            Whether a compaction of it was cancelled.
        """
        ...


class AsyncTurnState:
    """What a session keeps between turns.

    One turn runs at a time. While one runs, it alone changes ``unsent``, ``step``, ``paused`` and ``overflow_spent``,
    but for who reverts the session; it has to hold its own gate for that, and so has who aborts it.

    Attributes:
        changed: Is notified where a compaction ends and where a turn is aborted.
        unsent: The appends that are to be made, or of which it is not known whether the daemon has them, in order.
        step: The answer whose calls are not all answered.
        paused: Whether the last answer is to be gone on with.
        overflow_spent: Whether the permission to take a turn again after an overflow was used.
        announce: What is asked after each completed compaction; None for nothing.
    """

    def __init__(self) -> None:
        """Begin with no turn."""
        self.changed = Condition()
        self.unsent: list[Write] = []
        self.step: Step | None = None
        self.paused = False
        self.overflow_spent = False
        self.announce: Announce | None = None
        self._running: AsyncRunningTurn | None = None
        self._compactions = 0
        # The compactions that are to be announced, each with what was said of it, once that was asked.
        self._announcements: list[tuple[CompactionResult, Write | None]] = []
        self._telling = False
        self._checkpoint: tuple[bool, str] | None = None
        # Never held across anything that waits.
        self._mutex = threading.Lock()

    def begin(self, turn: AsyncRunningTurn) -> object:
        """Let a turn run.

        Returns:
            For ``end``.

        Raises:
            TurnRunningError: Another runs.
        """
        with self._mutex:
            if self._running is not None:
                raise TurnRunningError("a turn of this session is running: wait for it, or call abort_turn")
            self._running = turn
        return _inside.set(turn)

    def end(self, turn: AsyncRunningTurn, token: Any) -> None:
        """Let the next one run."""
        _inside.reset(token)
        with self._mutex:
            if self._running is turn:
                self._running = None

    async def abort(self) -> bool:
        """Abort the turn that runs: what its model and its tools still say is dropped.

        None of it is appended once this returns. Called by the turn's own functions it ends the turn behind them.

        Returns:
            Whether a compaction of the turn was cancelled, which may take the daemon a moment.
        """
        with self._mutex:
            turn = self._running
        if turn is None:
            return False
        if self.inside:
            turn.aborted = True
            return False
        compacting = await turn.abort()
        with self._mutex:
            if self._running is turn:
                self._running = None
        return compacting

    @property
    def inside(self) -> bool:
        """Whether it is a function of the running turn that asks."""
        return self._running is not None and _inside.get() is self._running

    async def settled(self, turn: AsyncRunningTurn) -> None:
        """Wait until no compaction that was begun outside of a turn is running, or the turn is aborted."""
        async with self.changed:
            await self.changed.wait_for(lambda: self._compactions == 0 or turn.aborted)

    async def hold(self) -> None:
        """Count a compaction that begins: turns that begin wait for its end."""
        with self._mutex:
            self._compactions += 1

    async def release(self) -> None:
        """Count a compaction that has ended."""
        async with self.changed:
            with self._mutex:
                self._compactions -= 1
            self.changed.notify_all()

    async def compacted(self, session: AsyncSessionLog, result: CompactionResult) -> None:
        """Take note of a compaction that the model must be told of; do that now where no turn runs and no call waits.

        Args:
            session: The session.
            result: What the compaction came to.
        """
        if self.announce is None or result.completed is None:
            return
        with self._mutex:
            self._announcements.append((result, None))
            # One that is being told looks again at its end; it may be the one that has compacted.
            idle = self._running is None and not self._telling
        if idle and not self.paused and result.completed.report.open_call_count == 0:
            # The compaction is done, whether it can be told now or not: the next turn tries again.
            with contextlib.suppress(Exception):
                await self.tell(session, again=True)

    async def tell(self, session: AsyncSessionLog, *, again: bool = False) -> v1.ContextReport | None:
        """Append what waits to be told.

        Args:
            session: The session.
            again: Whether what the daemon refuses is asked for again the next time, and not dropped.

        Returns:
            How full the context is then; None where nothing waited.
        """
        report: v1.ContextReport | None = None
        self._telling = True
        try:
            while True:
                with self._mutex:
                    due = self._announcements[:1]
                if not due:
                    return report
                report = await self._announced(session, *due[0], again=again) or report
        finally:
            self._telling = False

    async def _announced(
        self, session: AsyncSessionLog, result: CompactionResult, write: Write | None, *, again: bool
    ) -> v1.ContextReport | None:
        if write is None:
            said = None if self.announce is None else await resolve(self.announce(result))
            if said is None:
                self._told(result)
                return None
            messages = cast("list[object]", said) if isinstance(said, list) else [said]
            write = Write(tuple(developer(one) if isinstance(one, str) else one for one in messages))
            self._said(result, write)
        try:
            report = (await send(session, write)).report
        except Exception as error:
            if not leaves_open(error):
                if again:
                    self._said(result, None)
                else:
                    self._told(result)
            raise
        self._told(result)
        return report

    def _said(self, result: CompactionResult, write: Write | None) -> None:
        with self._mutex:
            self._announcements = [
                (other, write if other is result else earlier) for other, earlier in self._announcements
            ]

    def _told(self, result: CompactionResult) -> None:
        with self._mutex:
            # Two may have told it at once; its request id made one append of them.
            self._announcements = [waiting for waiting in self._announcements if waiting[0] is not result]

    async def mark(self, session: AsyncSessionLog, *, announce: bool) -> Checkpoint:
        """Mark the place where a step begins. One of which it is not known whether it was made is not made twice."""
        if self._checkpoint is None or self._checkpoint[0] is not announce:
            self._checkpoint = (announce, new_request_id())
        try:
            made = await session.checkpoint(announce=announce, request_id=self._checkpoint[1])
        except Exception as error:
            if not leaves_open(error):
                self._checkpoint = None
            raise
        self._checkpoint = None
        return made

    def queue(self, given: tuple[Any, ...]) -> None:
        """Keep what a turn was given until it is appended. What is given once more is kept once."""
        if not (self.unsent and list(self.unsent[-1].messages) == list(given)):
            self.unsent.append(Write(given, given=True))

    def keep(self, write: Write) -> None:
        """Keep what is to be appended until it is."""
        if not any(other is write for other in self.unsent):
            self.unsent.append(write)

    def written(self, write: Write) -> None:
        """Take note that an append was made, or refused."""
        self.unsent = [other for other in self.unsent if other is not write]

    def appended(self) -> None:
        """Take note of an append of the session's user: who says something else has given up what could not be said.

        Answers and results are not given up.
        """
        with self._mutex:
            if self._running is None and not self._telling:
                self.unsent = [write for write in self.unsent if not write.given]

    def anew(self) -> None:
        """Begin with new messages: an earlier answer is not gone on with."""
        self.step = self._checkpoint = None
        self.paused = self.overflow_spent = False

    def forget_step(self) -> None:
        """Drop the step that a turn broke off in, with the results that it could not append."""
        self.step = None
        self.paused = False
        self.unsent = [write for write in self.unsent if write.given or write.model_answer]

    def forget(self) -> None:
        """Drop all that a turn was at: it was aborted, or the session was taken back."""
        self.step = self._checkpoint = None
        self.unsent = []
        self.paused = False

    def finish(self, step: Step) -> None:
        """Be done with a step, unless another turn's has taken its place."""
        with self._mutex:
            if self.step is step:
                self.step = None


async def send(session: AsyncSessionLog, write: Write) -> Appended:
    """Append what a turn has to append."""
    return await session.append(
        *write.messages, view=write.view, model_answer=write.model_answer, request_id=write.request_id
    )
