# Generated from src/compactord/_async/turns.py by scripts/unasync.py. Do not edit.
"""The part of a session that runs an agent's turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from typing_extensions import override

from compactord import messages, v1
from compactord._sync.agent_tools import AgentTools
from compactord._sync.calls import Calls
from compactord._sync.core import SessionCore
from compactord._sync.turn import TurnLoop, CallModel, OnEvent, RunTool, WriteSummary
from compactord._sync.turn_state import Announce, TurnState
from compactord.results import CompactionResult
from compactord.turns import Turn
from compactord.words import Thinking

if TYPE_CHECKING:
    from compactord._sync.session import Session


class Turns(SessionCore):
    """The part of a session that runs an agent's turns, one at a time."""

    def __init__(self, calls: Calls, session_id: str, dialect: v1.Dialect.ValueType) -> None:
        super().__init__(calls, session_id, dialect)
        self._turns = TurnState()

    @property
    def announce(self) -> Announce | None:
        """Says what the model must be told again after a compaction: running tasks, the state of a plan, attachments.

        It is called with the result of each compaction that this session object completed, by a turn or by hand. A
        ``str`` that it returns is appended as a DEVELOPER message, messages as they are; None is nothing. That happens
        before the model is called again, and not as long as calls wait for their results. Where it raises, the
        compaction is done all the same: it is asked again before the model is called next, and what it raises then
        comes out of :meth:`run_turn`.
        """
        return self._turns.announce

    @announce.setter
    def announce(self, announce: Announce | None) -> None:
        self._turns.announce = announce

    def run_turn(
        self,
        call_model: CallModel,
        *given: messages.Appendable,
        run_tool: RunTool | None = None,
        tools: AgentTools | None = None,
        max_steps: int | None = None,
        on_event: OnEvent | None = None,
        summarize_with: WriteSummary | None = None,
        checkpoint_steps: bool = False,
        thinking: Thinking | None = None,
        mark_cache_breakpoints: bool = False,
    ) -> Turn:
        """Run an agent's turn: compact when it is due, call the model, log its answer, answer its calls, and so on.

        A context overflow, by the provider's error or by its answer, is compacted, and the model called once more. The
        permission for that comes back with new messages and with each answer that ended well. A compaction that was
        only due and fails does not end the turn: it is not tried again in it, and ``compactions`` of the turn holds the
        error.

        After an exception the session can go on: ``run_turn`` without messages takes the turn up where it stopped, with
        what the model and the tools had answered by then. While a compaction of this session object runs, the turn
        appends its messages at once and calls the model after its end, however that was.

        Args:
            call_model: Calls the model with a view, and returns its answer: what the provider's package gave, a dict,
                bytes, a neutral message, or for a plain answer its text. For a streamed answer it returns an iterable
                of the events, or is a generator that hands them through. What it raises and is no overflow comes out of
                this call as it is, and nothing is appended.
            given: What is appended first, in one append.
            run_tool: Answers a tool call: with text, a :class:`ToolOutput`, a TOOL message or a message in the
                session's dialect; with a dict or a list of data, whose JSON is the result; or with None, which is an
                empty one. What it raises becomes an error for the model; a :class:`ToolRejected` ends the turn
                after the step. Default: the turn ends with the calls in ``tool_calls``.
            tools: Tools that are asked first.
            max_steps: How many times the model may answer, at least 1. Default: as often as it calls tools.
            on_event: Called with each event of the turn's compactions. What it raises ends the turn.
            summarize_with: Has the agent's own model write summaries, as :meth:`compact_with` does. What it raises is
                the failure of that compaction.
            checkpoint_steps: Whether each step begins with a checkpoint, which the model is not shown. With
                ``send_dmail`` among the tools each begins with one that is announced.
            thinking: As for :meth:`view`.
            mark_cache_breakpoints: As for :meth:`view`.

        Returns:
            What became of the turn.

        Raises:
            TurnRunningError: A turn of this session object runs.
            TurnAbortedError: It was aborted, by :meth:`abort_turn` or by a compaction.
            ContextOverflowError: The context is too long, and compacting does not help, or there is nothing to
                compact. Its cause is what ``call_model`` raised.
            ValueError: ``max_steps`` is below 1, or the answer's stream had no events.
            CompactordError: The daemon failed, or the compaction after an overflow.
        """
        turn = TurnLoop(
            cast("Session", self),
            self._calls,
            self._turns,
            call_model,
            run_tool=run_tool,
            tools=tools,
            max_steps=max_steps,
            on_event=on_event,
            summarize_with=summarize_with,
            checkpoint_steps=checkpoint_steps,
            thinking=thinking,
            mark_cache_breakpoints=mark_cache_breakpoints,
        )
        return turn.run(given)

    def abort_turn(self) -> None:
        """Abort the turn of this session object, if one runs: its ``run_turn`` raises :class:`TurnAbortedError`.

        What its model and its tools say from now on is dropped; once this returns nothing more of it is appended. Calls
        that are open then get a result in views that says so, with the next message of the user.
        """
        self._turns.abort()

    @override
    def _taken_back(self) -> None:
        self._turns.forget()

    def _before_compaction(self, abort_running: bool) -> bool:
        """Hold up turns that begin, before a compaction of this session object, and abort the one that runs.

        Returns:
            Whether a compaction of that one was cancelled, which may take the daemon a moment.
        """
        self._turns.hold()
        try:
            return abort_running and self._turns.abort()
        except BaseException:
            self._turns.release()
            raise

    def _after_compaction(self, result: CompactionResult | None) -> None:
        """Let turns go on after a compaction, which with None has failed."""
        self._turns.release()
        if result is not None:
            self._turns.compacted(cast("Session", self), result)
