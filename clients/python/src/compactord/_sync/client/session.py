# Generated from src/compactord/_async/client/session.py by scripts/unasync.py. Do not edit.
"""A session: one conversation."""

from __future__ import annotations

from collections.abc import Mapping

from compactord import connection, messages, v1, words
from compactord._sync.agent_tools import AgentTools
from compactord._sync.turn.loop import TurnLoop
from compactord._sync.turn.options import CallModel, OnEvent, RunTool, TurnOptions, WriteSummary
from compactord._sync.turn.turns import SessionTurns
from compactord.connection import new_request_id
from compactord.turns import Turn
from compactord.words import Thinking


class Session(SessionTurns):
    """A session: one conversation. Make it with ``create_session``, ``open_session`` or ``session`` of a client.

    Several threads or tasks may use it at once.
    """

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
        """Run an agent's turn: compact when due, call the model, append its answer, run its tool calls, and repeat.

        After a context overflow, reported by the provider's error or its answer, the turn compacts and calls the model
        again. It does so once; after new messages, and after an answer without an error, it may do so again. Where a
        compaction at the trigger fails, the turn continues without it. The turn does not try it again, and
        ``compactions`` of the result has the error.

        After an exception, call ``run_turn`` without messages to continue the turn where it stopped. Answers of the
        model and results of tools up to then are kept. While a compaction of this session object is running, the turn
        appends its messages at once, but waits for the compaction's end before it calls the model.

        Args:
            call_model: Calls the model with a view and returns its answer: the object of the provider's package, a
                dict, bytes, a neutral message, or a text. For a streamed answer it returns an iterable of the events,
                or is a generator of them. An exception that is not an overflow is raised to the caller unchanged, and
                nothing is appended.
            given: Messages to append first, in one append.
            run_tool: Runs a tool call and returns its result: a text, a :class:`ToolOutput`, a TOOL message or a
                message in the session's dialect; a dict or list with data, whose JSON is the result; or None, which is
                an empty result. An exception becomes an error result for the model. A :class:`ToolRejected` ends the
                turn after the step. Default: the turn ends with the calls in ``tool_calls``.
            tools: Tools that are asked to run a call before ``run_tool``.
            max_steps: How many times the model may answer, at least 1. Default: no limit.
            on_event: Called with each event of the turn's compactions. An exception that it raises ends the turn.
            summarize_with: Lets the agent's own model write summaries, as :meth:`compact_with` does. An exception that
                it raises fails the compaction.
            checkpoint_steps: Whether to make a checkpoint before each step, which the model is not shown. With
                ``send_dmail`` among the tools, each step has an announced checkpoint anyway.
            thinking: As for :meth:`view`.
            mark_cache_breakpoints: As for :meth:`view`.

        Returns:
            The result of the turn.

        Raises:
            TurnRunningError: A turn of this session object is already running.
            TurnAbortedError: The turn was aborted, by :meth:`abort_turn` or by a compaction.
            ContextOverflowError: The context is too long, and compacting does not help or is not possible. Its
                ``__cause__`` is the exception of ``call_model``.
            ValueError: ``max_steps`` is below 1, or the stream of the answer had no events.
            CompactordError: A call to the daemon failed, or the compaction after an overflow failed.
        """
        options = TurnOptions(
            run_tool=run_tool,
            tools=tools,
            max_steps=max_steps,
            on_event=on_event,
            summarize_with=summarize_with,
            checkpoint_steps=checkpoint_steps,
            thinking=thinking,
            mark_cache_breakpoints=mark_cache_breakpoints,
        )
        return TurnLoop(self, self._calls, self._turns, call_model, options).run(given)

    def fork(
        self,
        new_session_id: str | None = None,
        *,
        at_checkpoint: int | None = None,
        point: int | None = None,
        policy: words.Policy | None = None,
        labels: Mapping[str, str] | None = None,
        title: str = "",
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> Session:
        """Make a new session with a copy of this one's log up to a point: the same messages, records and indexes.

        Args:
            new_session_id: Its id. Default: a new UUID.
            at_checkpoint: The checkpoint up to which to copy.
            point: The point up to which to copy. Default: the end of the log.
            policy: Its policy. Default: the policy of this session at the point.
            labels: Its labels. Default: those of this session.
            title: Its title. Default: that of this session.
            request_id: Makes the call safe to repeat. Default: a new one.
            timeout: The timeout in seconds. Default: the client's.

        Returns:
            The new session, in the same dialect.

        Raises:
            SessionExistsError: The id is in use.
            ValueError: Both ``at_checkpoint`` and ``point`` were given.
        """
        if at_checkpoint is not None and point is not None:
            raise ValueError("fork: give at_checkpoint or point, not both")
        request = v1.ForkSessionRequest(
            session_id=self._id,
            new_session_id=new_session_id or connection.new_session_id(),
            policy=words.policy(policy),
            labels=labels,
            title=title,
            request_id=request_id or new_request_id(),
        )
        if at_checkpoint is not None:
            request.checkpoint_id = at_checkpoint
        elif point is not None:
            request.point = point
        answer = self._calls.unary(self._calls.sessions.ForkSession, request, timeout)
        return Session(self._calls, answer.session.session_id, self._dialect)
