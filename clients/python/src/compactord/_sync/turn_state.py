# Generated from src/compactord/_async/turn_state.py by scripts/unasync.py. Do not edit.
"""What a session keeps between turns, and who may run one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from compactord import v1
from compactord._sync.turn_runtime import Condition, Result, resolve
from compactord.connection import new_request_id
from compactord.errors import (
    DeadlineExceededError,
    OperationCancelledError,
    TurnRunningError,
    UnavailableError,
)
from compactord.messages import developer
from compactord.results import Appended, CompactionResult
from compactord.tools import ToolCall
from compactord.view import View

if TYPE_CHECKING:
    from compactord._sync.session import Session
    from compactord._sync.turn import TurnLoop

Announce: TypeAlias = Callable[[CompactionResult], Result[Any]]
"""Says what the model must be told again after a compaction: running tasks, the state of a plan, attachments.

A ``str`` is appended as a DEVELOPER message; messages, or a list of them, as they are; None is nothing.
"""

_inside: ContextVar[object] = ContextVar("compactord_turn", default=None)


@dataclass(frozen=True)
class Write:
    """An append of a turn. Its request id makes it safe to send again.

    Attributes:
        messages: What is appended.
        view: The view that a model's answer was made from.
        model_answer: Whether it is a model's answer.
        request_id: Names it.
    """

    messages: tuple[Any, ...]
    view: View | None = None
    model_answer: bool = False
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


class TurnState:
    """What a session keeps between turns.

    One turn runs at a time. While one runs, it alone changes ``unsent``, ``step`` and ``overflow_spent``; it has to
    hold its own gate for that, and so has who aborts it.

    Attributes:
        changed: Is notified where a compaction ends and where a turn is aborted.
        unsent: An append of which it is not known whether the daemon has it.
        step: The answer whose calls are not all answered.
        overflow_spent: Whether the permission to take a turn again after an overflow was used.
        announce: What is asked after each completed compaction; None for nothing.
    """

    def __init__(self) -> None:
        """Begin with no turn."""
        self.changed = Condition()
        self.unsent: Write | None = None
        self.step: Step | None = None
        self.overflow_spent = False
        self.announce: Announce | None = None
        self._running: TurnLoop | None = None
        self._compactions = 0
        self._announcements: list[Write] = []
        # Never held across anything that waits.
        self._mutex = threading.Lock()

    def begin(self, turn: TurnLoop) -> object:
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

    def end(self, turn: TurnLoop, token: Any) -> None:
        """Let the next one run."""
        _inside.reset(token)
        with self._mutex:
            if self._running is turn:
                self._running = None

    def abort(self) -> bool:
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
        compacting = turn.abort()
        with self._mutex:
            if self._running is turn:
                self._running = None
        return compacting

    @property
    def inside(self) -> bool:
        """Whether it is a function of the running turn that asks."""
        return self._running is not None and _inside.get() is self._running

    def settled(self, turn: TurnLoop) -> None:
        """Wait until no compaction that was begun outside of a turn is running, or the turn is aborted."""
        with self.changed:
            self.changed.wait_for(lambda: self._compactions == 0 or turn.aborted)

    def hold(self) -> None:
        """Count a compaction that begins: turns that begin wait for its end."""
        with self._mutex:
            self._compactions += 1

    def release(self) -> None:
        """Count a compaction that has ended."""
        with self.changed:
            with self._mutex:
                self._compactions -= 1
            self.changed.notify_all()

    def compacted(self, session: Session, result: CompactionResult) -> None:
        """Ask what the model must be told after a compaction, and append it once no call waits for its result.

        Args:
            session: The session.
            result: What the compaction came to.
        """
        if self.announce is None or result.completed is None:
            return
        said = resolve(self.announce(result))
        if said is None:
            return
        messages = cast("list[object]", said) if isinstance(said, list) else [said]
        write = Write(tuple(developer(one) if isinstance(one, str) else one for one in messages))
        with self._mutex:
            self._announcements.append(write)
            idle = self._running is None
        if idle and result.completed.report.open_call_count == 0:
            self.tell(session)

    def tell(self, session: Session) -> v1.ContextReport | None:
        """Append what waits to be told.

        Returns:
            How full the context is then; None where nothing waited.
        """
        report: v1.ContextReport | None = None
        while True:
            with self._mutex:
                if not self._announcements:
                    return report
                write = self._announcements[0]
            try:
                report = (send(session, write)).report
            except Exception as error:
                if not is_open(error):
                    self._told(write)
                raise
            self._told(write)

    def _told(self, write: Write) -> None:
        with self._mutex:
            # Two may have told it at once; its request id made one append of them.
            self._announcements = [other for other in self._announcements if other is not write]

    def finish(self, step: Step) -> None:
        """Be done with a step, unless another turn's has taken its place."""
        with self._mutex:
            if self.step is step:
                self.step = None


def send(session: Session, write: Write) -> Appended:
    """Append what a turn has to append."""
    return session.append(
        *write.messages, view=write.view, model_answer=write.model_answer, request_id=write.request_id
    )


def is_open(error: BaseException) -> bool:
    """Whether an error leaves open if the daemon did what it was asked for."""
    return isinstance(error, UnavailableError | DeadlineExceededError | OperationCancelledError)
