"""A session: one conversation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from compactord import connection, messages, v1, words
from compactord._async.agent_tools import AsyncAgentTools
from compactord._async.client.children import AsyncChildBlock, AsyncSessionChildren
from compactord._async.turn.loop import AsyncTurnLoop
from compactord._async.turn.options import CallModel, ExtraBlocks, OnEvent, RunTool, TurnOptions, WriteSummary
from compactord._async.wire.calls import AsyncCalls
from compactord.arguments import checked_arguments, listed
from compactord.connection import new_request_id
from compactord.tools import ToolCall
from compactord.turns import Turn
from compactord.words import Thinking


@checked_arguments
class AsyncSession(AsyncSessionChildren):
    """A session: one conversation. Make it with ``create_session``, ``open_session`` or ``session`` of a client.

    Several threads or tasks may use it at once.
    """

    def __init__(
        self,
        calls: AsyncCalls,
        session_id: str,
        dialect: v1.Dialect.ValueType,
        found: Iterable[v1.PolicyWarning] = (),
    ) -> None:
        super().__init__(calls, session_id, dialect)
        self._chosen(found)

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
        extra_blocks: ExtraBlocks = (),
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
                ``send_dmail`` or ``fold_since`` among the tools, each step has an announced checkpoint anyway.
            thinking: As for :meth:`view`.
            mark_cache_breakpoints: As for :meth:`view`.
            extra_blocks: As for :meth:`view`, or a function that returns them anew for each view of the turn. After a
                paused answer the turn leaves them out, since they would end what the model goes on with.

        Returns:
            The result of the turn.

        Raises:
            CompactordError: ``TURN_RUNNING``: A turn of this session object is already running.
            TurnAbortedError: The turn was aborted, by :meth:`abort_turn` or by a compaction.
            WrongNextIndexError: Another process, or another session object, has written to the session during the turn.
                Nothing of the rejected append was written, and the next turn does not go on with the step.
            ContextOverflowError: The context is too long, and compacting does not help or is not possible. Its
                ``__cause__`` is the exception of ``call_model``.
            ValueError: ``max_steps`` is below 1, or the stream of the answer had no events.
            CompactordError: A call to the daemon failed, or the compaction after an overflow failed.
        """
        if not callable(call_model):
            raise TypeError(f"call_model: must be a function, not of the type {type(call_model).__name__}")
        options = TurnOptions(
            run_tool=run_tool,
            tools=tools,
            max_steps=max_steps,
            on_event=on_event,
            summarize_with=summarize_with,
            checkpoint_steps=checkpoint_steps,
            thinking=thinking,
            mark_cache_breakpoints=mark_cache_breakpoints,
            extra_blocks=extra_blocks if callable(extra_blocks) else tuple(listed("extra_blocks", extra_blocks)),
        )
        return await AsyncTurnLoop(self, self._calls, self._turns, call_model, options).run(given)

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
        request = v1.ForkSessionRequest(
            session_id=self._id,
            new_session_id=new_session_id or connection.new_session_id(),
            policy=words.policy(policy),
            labels=labels,
            title=title,
            request_id=request_id or new_request_id(),
        )
        _set_point(request, at_checkpoint, point)
        answer = await self._calls.unary(self._calls.sessions.ForkSession, request, timeout)
        return AsyncSession(self._calls, answer.session.session_id, self._dialect, answer.warnings)

    def child(
        self,
        session_id: str | None = None,
        *,
        sees: words.Sees = "nothing",
        messages: Iterable[int] = (),
        blocks: Iterable[str] = (),
        instructions: bool = False,
        at_checkpoint: int | None = None,
        point: int | None = None,
        call: ToolCall | str | None = None,
        policy: words.Policy | None = None,
        labels: Mapping[str, str] | None = None,
        title: str = "",
        timeout: float | None = None,
    ) -> AsyncChildBlock[AsyncSession]:
        """Make a child for a ``with`` block: a session of its own for a part of the work, such as a sub-agent.

        Leaving the block ends the child, and appends its result to this session's log: the text of the child's newest
        ASSISTANT message, unless :meth:`end` gave another one. Where an exception ends the block, the result is an
        error that says so, with the text of the exception, and the exception is raised further. The child sees nothing
        of this session but what is chosen here, and no other child. This session can recall the child's log, by
        references such as ``SESSION_ID#12``.

        Args:
            session_id: Its id. Default: a new UUID.
            sees: ``"everything"`` for a copy of the whole log, or ``"nothing"``.
            messages: Indexes of the messages that it sees. With a message come the others of its tool group.
            blocks: Names of the context blocks that it sees.
            instructions: Whether it begins with this session's instructions.
            at_checkpoint: The checkpoint at which it begins.
            point: The point at which it begins. Default: the end of the log.
            call: The open tool call that its result answers, or the call's id. A turn of this session object knows then
                that the call is answered, whatever ``run_tool`` returns. Default: the result is a USER message.
            policy: Its policy. Default: that of this session.
            labels: Its labels. Default: those of this session.
            title: Its title, which its result names.
            timeout: The timeout in seconds. Default: the client's.

        Returns:
            A context manager, whose value is the child's :class:`AsyncSession`, in the same dialect.

        Raises:
            ValueError: ``messages`` or ``blocks`` were given with ``"everything"``, or both ``at_checkpoint`` and
                ``point``.
        """

        async def start() -> AsyncSession:
            return await self.start_child(
                session_id,
                sees=sees,
                messages=messages,
                blocks=blocks,
                instructions=instructions,
                at_checkpoint=at_checkpoint,
                point=point,
                call=call,
                policy=policy,
                labels=labels,
                title=title,
                timeout=timeout,
            )

        return AsyncChildBlock(start)

    async def start_child(
        self,
        session_id: str | None = None,
        *,
        sees: words.Sees = "nothing",
        messages: Iterable[int] = (),
        blocks: Iterable[str] = (),
        instructions: bool = False,
        at_checkpoint: int | None = None,
        point: int | None = None,
        call: ToolCall | str | None = None,
        policy: words.Policy | None = None,
        labels: Mapping[str, str] | None = None,
        title: str = "",
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> AsyncSession:
        """Make a child that lives on until :meth:`end`, also beyond this program.

        The arguments are those of :meth:`child`, and ``request_id`` makes the call safe to repeat.
        """
        sight = _sight(sees, listed("messages", messages), listed("blocks", blocks), instructions)
        request = v1.ForkSessionRequest(
            session_id=self._id,
            new_session_id=session_id or connection.new_session_id(),
            policy=words.policy(policy),
            labels=labels,
            title=title,
            child=sight,
            request_id=request_id or new_request_id(),
        )
        _set_point(request, at_checkpoint, point)
        answer = await self._calls.unary(self._calls.sessions.ForkSession, request, timeout)
        made = AsyncSession(self._calls, answer.session.session_id, self._dialect, answer.warnings)
        made._parent = self
        made._call_id = "" if call is None else call if isinstance(call, str) else call.id
        return made


def _sight(sees: str, indexes: list[int], blocks: list[str], instructions: bool) -> v1.ChildContext:
    """What a child sees."""
    if sees not in ("everything", "nothing"):
        raise ValueError(f"sees: {sees!r} is unknown: use everything or nothing, or name messages and blocks")
    if sees == "everything":
        if indexes or blocks or instructions:
            raise ValueError("child: with sees='everything' it sees the messages, blocks and instructions anyway")
        return v1.ChildContext(sees=v1.ChildSees.CHILD_SEES_EVERYTHING)
    chosen = v1.ChildSees.CHILD_SEES_CHOSEN if indexes or blocks else v1.ChildSees.CHILD_SEES_NOTHING
    return v1.ChildContext(sees=chosen, indexes=indexes, blocks=blocks, instructions=instructions)


def _set_point(request: v1.ForkSessionRequest, at_checkpoint: int | None, point: int | None) -> None:
    if at_checkpoint is not None and point is not None:
        raise ValueError("give at_checkpoint or point, not both")
    if at_checkpoint is not None:
        request.checkpoint_id = at_checkpoint
    elif point is not None:
        request.point = point
