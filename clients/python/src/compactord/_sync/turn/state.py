# Generated from src/compactord/_async/turn/state.py by scripts/unasync.py. Do not edit.
"""The state that a session keeps between turns, and the rule that one turn runs at a time."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, cast

import grpc

from compactord import v1
from compactord._sync.session.log import SessionLog
from compactord._sync.session.position import Position
from compactord._sync.turn.runtime import Condition
from compactord._sync.turn.writes import Write, send, send_in_turn
from compactord._sync.wire.runtime import Result, resolve
from compactord.connection import new_request_id
from compactord.errors import CompactordError, WrongNextIndexError
from compactord.messages import developer
from compactord.results import Appended, Checkpoint, CompactionResult
from compactord.tools import ToolCall
from compactord.unanswered import leaves_open

Announce: TypeAlias = Callable[[CompactionResult], Result[Any]]
"""Returns what the model must know again after a compaction, such as running tasks or the state of a plan.

A ``str`` is appended as a DEVELOPER message; messages, or a list of them, unchanged; for None nothing is appended. The
compaction stays committed where the function raises an exception. The function is then called again before the next
model call, and ``run_turn`` raises its exception.
"""

ANSWERED = object()
"""Stands for the result of a call that the end of a child has answered."""

_inside: ContextVar[object] = ContextVar("compactord_turn", default=None)


@dataclass
class Step:
    """An answer of the model, and the progress of its tool calls.

    Attributes:
        answer: The answer.
        calls: Its calls, in order; None before they were read.
        results: The result to append for each call; None where there is none yet; ANSWERED where the log has it.
        writes: The appends of results that are not done yet; None while tools run.
        rejected: Whether a call was rejected.
        feedback: Whether all rejected calls have feedback.
    """

    answer: v1.ModelAnswer
    calls: list[ToolCall] | None = None
    results: list[object] = field(default_factory=list[object])
    writes: list[Write] | None = None
    rejected: bool = False
    feedback: bool = True


class RunningTurn(Protocol):
    """A running turn."""

    @property
    def aborted(self) -> bool:
        """Whether the turn was aborted."""
        ...

    def end_after_function(self) -> None:
        """Abort the turn after the caller's function that is running, which calls this."""
        ...

    def abort(self) -> bool:
        """Abort the turn, from another task or thread.

        Returns:
            Whether a compaction of the turn was cancelled.
        """
        ...


class TurnState:
    """The state that a session keeps between turns.

    One turn runs at a time. While a turn runs, only that turn changes ``unsent``, ``step``, ``paused`` and
    ``overflow_spent``, with its lock held. The exceptions are an abort, which takes the same lock, and a revert.

    Attributes:
        position: Where the session object is in the log.
        changed: Notified when a compaction ends and when a turn is aborted.
        unsent: In order, the appends that are not done yet, or that the daemon may or may not have executed.
        step: The answer that still has calls without results.
        paused: Whether the provider paused the last answer, so that the model must be called again to continue it.
        overflow_spent: Whether the one compaction after an overflow was already used.
        announce: The function that is called after each completed compaction; None for none.
        answered: The ids of calls that the end of a child answered, so that the turn must not answer them again.
    """

    def __init__(self, position: Position) -> None:
        """Start without a turn.

        Args:
            position: Where the session object is in the log.
        """
        self.position = position
        self.changed = Condition()
        self.unsent: list[Write] = []
        self.step: Step | None = None
        self.paused = False
        self.overflow_spent = False
        self.announce: Announce | None = None
        self.answered: set[str] = set()
        self._running: RunningTurn | None = None
        self._compactions = 0
        # The compactions that are not announced yet, each with its append once `announce` has returned it.
        self._announcements: list[tuple[CompactionResult, Write | None]] = []
        self._announcing = False
        self._checkpoint: tuple[bool, str] | None = None
        # Never held while waiting for anything.
        self._mutex = threading.Lock()

    def begin(self, turn: RunningTurn) -> object:
        """Start a turn.

        Returns:
            A token for ``end``.

        Raises:
            CompactordError: ``TURN_RUNNING``: Another turn is running.
        """
        with self._mutex:
            if self._running is not None:
                raise CompactordError(
                    "a turn of this session is already running: wait for it, or call abort_turn",
                    code=grpc.StatusCode.FAILED_PRECONDITION,
                    reason="TURN_RUNNING",
                )
            self._running = turn
        return _inside.set(turn)

    def end(self, turn: RunningTurn, token: Any) -> None:
        """End a turn, so that the next one can start."""
        _inside.reset(token)
        with self._mutex:
            if self._running is turn:
                self._running = None

    def abort(self) -> bool:
        """Abort the running turn. Later answers of its model and tools are dropped.

        The turn appends nothing after this has returned. Where one of the turn's own functions calls this, the turn
        ends after that function.

        Returns:
            Whether a compaction of the turn was cancelled, which may take the daemon a moment.
        """
        with self._mutex:
            turn = self._running
        if turn is None:
            return False
        if self.called_from_turn:
            turn.end_after_function()
            return False
        compacting = turn.abort()
        with self._mutex:
            if self._running is turn:
                self._running = None
        return compacting

    @property
    def called_from_turn(self) -> bool:
        """Whether the caller is a function that the running turn called."""
        return self._running is not None and _inside.get() is self._running

    def wait_for_compactions(self, turn: RunningTurn) -> None:
        """Wait until no compaction from outside of a turn is running, or the turn is aborted."""
        with self.changed:
            self.changed.wait_for(lambda: self._compactions == 0 or turn.aborted)

    def compaction_started(self) -> None:
        """Note the start of a compaction from outside of a turn. New turns wait for its end."""
        with self._mutex:
            self._compactions += 1

    def compaction_ended(self) -> None:
        """Note the end of a compaction from outside of a turn."""
        with self.changed:
            with self._mutex:
                self._compactions -= 1
            self.changed.notify_all()

    def compacted(self, session: SessionLog, result: CompactionResult) -> None:
        """Announce a completed compaction to the model: now where no turn is running and no call is open, else later.

        Args:
            session: The session.
            result: The result of the compaction.
        """
        if self.announce is None or result.completed is None:
            return
        with self._mutex:
            self._announcements.append((result, None))
            # A running append_announcements looks for new ones at its end. It may be the caller, where announce
            # compacts.
            idle = self._running is None and not self._announcing
        if idle and not self.paused and result.completed.report.open_call_count == 0:
            # An error here must not fail the compaction, which is committed: the next turn tries again.
            with contextlib.suppress(Exception):
                self.append_announcements(session, again=True)

    def append_announcements(self, session: SessionLog, *, again: bool = False) -> v1.ContextReport | None:
        """Append the announcements that wait.

        Args:
            session: The session.
            again: Whether to call ``announce`` again next time where the daemon refuses an append, in place of dropping
                the announcement.

        Returns:
            How full the context is after that; None where no announcement waited.
        """
        report: v1.ContextReport | None = None
        self._announcing = True
        try:
            while True:
                with self._mutex:
                    due = self._announcements[:1]
                if not due:
                    return report
                report = self._append_announcement(session, *due[0], again=again) or report
        finally:
            self._announcing = False

    def _append_announcement(
        self, session: SessionLog, result: CompactionResult, write: Write | None, *, again: bool
    ) -> v1.ContextReport | None:
        if write is None:
            said = None if self.announce is None else resolve(self.announce(result))
            if said is None:
                self._drop_announcement(result)
                return None
            messages = cast("list[object]", said) if isinstance(said, list) else [said]
            write = Write(tuple(developer(one) if isinstance(one, str) else one for one in messages))
            self._keep_announcement(result, write)
        try:
            # In a turn it is one of the turn's appends.
            sent = send(session, write) if again else self.send(session, write)
            report = (sent).report
        except Exception as error:
            if not leaves_open(error) and not isinstance(error, WrongNextIndexError):
                if again:
                    self._keep_announcement(result, None)
                else:
                    self._drop_announcement(result)
            raise
        self._drop_announcement(result)
        return report

    def _keep_announcement(self, result: CompactionResult, write: Write | None) -> None:
        with self._mutex:
            self._announcements = [
                (other, write if other is result else earlier) for other, earlier in self._announcements
            ]

    def _drop_announcement(self, result: CompactionResult) -> None:
        with self._mutex:
            # Two may have appended it at once; with the same request id that is one append.
            self._announcements = [waiting for waiting in self._announcements if waiting[0] is not result]

    def checkpoint(self, session: SessionLog, *, announce: bool) -> Checkpoint:
        """Make the checkpoint of a step. A retry after an error without a response does not make a second one."""
        if self._checkpoint is None or self._checkpoint[0] is not announce:
            self._checkpoint = (announce, new_request_id())
        try:
            made = session.checkpoint(announce=announce, request_id=self._checkpoint[1])
        except Exception as error:
            if not leaves_open(error):
                self._checkpoint = None
            raise
        self._checkpoint = None
        return made

    def send(self, session: SessionLog, write: Write) -> Appended:
        """Execute an append of the running turn.

        The messages that begin a turn may follow those of another process. All else must follow what the turn knows.

        Raises:
            WrongNextIndexError: Another process has written to the session, so the step cannot go on.
        """
        if write.given:
            appended = send(session, write)
            self.position.start(appended.next_index)
            return appended
        try:
            return send_in_turn(session, self.position, write)
        except WrongNextIndexError:
            self.forget_step()
            self.position.forget()
            raise

    def queue(self, given: tuple[Any, ...]) -> None:
        """Keep the messages of a new turn until they are appended. The same messages given again are kept once."""
        if not (self.unsent and list(self.unsent[-1].messages) == list(given)):
            self.unsent.append(Write(given, given=True))

    def keep(self, write: Write) -> None:
        """Keep an append until it is done."""
        if not any(other is write for other in self.unsent):
            self.unsent.append(write)

    def written(self, write: Write) -> None:
        """Forget an append that was executed or refused."""
        self.unsent = [other for other in self.unsent if other is not write]

    def appended(self) -> None:
        """Called when the program itself appends: messages of an earlier turn that could not be appended are given up.

        Answers and results are kept.
        """
        with self._mutex:
            if self._running is None and not self._announcing:
                self.unsent = [write for write in self.unsent if not write.given]

    def start_over(self) -> None:
        """Start over with new messages: an earlier answer is not continued."""
        self.step = self._checkpoint = None
        self.paused = self.overflow_spent = False

    def forget_step(self) -> None:
        """Forget an unfinished step, with the results that could not be appended."""
        self.step = None
        self.paused = False
        self.unsent = [write for write in self.unsent if write.given or write.model_answer]

    def forget(self) -> None:
        """Forget all unfinished work after an abort or a revert."""
        self.step = self._checkpoint = None
        self.unsent = []
        self.paused = False

    def finish(self, step: Step) -> None:
        """Forget a finished step, unless it was already replaced by that of another turn."""
        with self._mutex:
            if self.step is step:
                self.step = None
