"""A session: one conversation, with all that it can do."""

from __future__ import annotations

from collections.abc import Mapping

from compactord import connection, messages, v1, words
from compactord._async.agent_tools import AsyncAgentTools
from compactord._async.turn.compactions import OnEvent, WriteSummary
from compactord._async.turn.loop import AsyncTurnLoop, CallModel
from compactord._async.turn.steps import RunTool
from compactord._async.turn.turns import AsyncSessionTurns
from compactord.connection import new_request_id
from compactord.turns import Turn
from compactord.words import Thinking


class AsyncSession(AsyncSessionTurns):
    """One conversation. A client makes it: :meth:`AsyncClient.create_session`, ``open_session`` or ``session``.

    Several threads or tasks may use it at once.
    """

    async def run_turn(
        self,
        call_model: CallModel,
        *given: messages.Appendable,
        run_tool: RunTool | None = None,
        tools: AsyncAgentTools | None = None,
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
        turn = AsyncTurnLoop(
            self,
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
        return await turn.run(given)

    async def fork(
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
    ) -> AsyncSession:
        """Make a new session of this one's log up to a point: the same messages, records, indexes and views.

        Args:
            new_session_id: Its id. Default: a new UUID.
            at_checkpoint: Up to this checkpoint.
            point: Up to this point. Default: all of the log.
            policy: Its policy. Default: the one in force at the point.
            labels: Its labels. Default: those of this session.
            title: Its title. Default: that of this session.
            request_id: Makes the call safe to make again. Default: a new one.
            timeout: Seconds that it may take. Default: the client's.

        Returns:
            The new session, in the same dialect.

        Raises:
            SessionExistsError: The id is in use.
            ValueError: Both a checkpoint and a point were given.
        """
        if at_checkpoint is not None and point is not None:
            raise ValueError("fork: give at_checkpoint or point")
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
        answer = await self._calls.unary(self._calls.sessions.ForkSession, request, timeout)
        return AsyncSession(self._calls, answer.session.session_id, self._dialect)
