"""Bringing a session in line with the complete list of messages that an agent holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from typing_extensions import override

from compactord import lists, v1
from compactord._async.compaction.compacting import AsyncSessionCompactions
from compactord._async.wire import runtime
from compactord._async.wire.calls import AsyncCalls
from compactord._async.wire.runtime import Result, resolve
from compactord.arguments import checked_arguments
from compactord.connection import backoffs, busy_for, explained, limit_of
from compactord.deadlines import Deadline
from compactord.errors import CompactordError, InvalidRequestError, SyncConflictError, UnavailableError, internal
from compactord.lists import ElementList
from compactord.results import CompactionResult, SessionInfo, result_of
from compactord.synced import Synced
from compactord.unanswered import leaves_open
from compactord.view import View
from compactord.warned import fallback, warn

# A list is sent at most so often: what the daemon lacks, it says once, or twice where its view is in the way.
_ROUNDS = 3

# How long to wait, in seconds, until the daemon reports the end of a cancelled compaction.
_CANCEL_TIMEOUT = 5.0

_ENDS = ("completed", "skipped", "failed", "cancelled")

OnEvent = Callable[[v1.CompactionEvent], Result[object]]


@checked_arguments
class AsyncSessionSync(AsyncSessionCompactions):
    """The part of a session that takes an agent's complete list."""

    def __init__(self, calls: AsyncCalls, session_id: str, dialect: v1.Dialect.ValueType) -> None:
        super().__init__(calls, session_id, dialect)
        # The last list that the daemon took from this object.
        self._held: ElementList | None = None
        # The newest point that this object knows of; None where it does not know what it wrote last.
        self._known_point: int | None = None

    async def sync(
        self,
        messages: Iterable[Any],
        *,
        system: object = None,
        compact: bool = True,
        view: bool = True,
        on_event: OnEvent | None = None,
        mark_cache_breakpoints: bool = False,
        max_bytes: int | None = None,
        timeout: float | None = None,
    ) -> Synced:
        """Bring the session in line with the complete list that an agent holds, and return the view to send.

        The daemon compares the list with the log by what messages say. It appends what is new, and goes back where the
        agent changed or dropped the end. The same list a second time changes nothing. A list may also begin with a view
        that the session returned, as where a framework stores ``messages`` of the result. Only what the daemon lacks is
        sent with its content.

        Where another client has written what the list lacks since the last sync of this session object, nothing is
        written: a :class:`SyncConflictError` says so, and :meth:`refresh` what to do. The first sync of an object takes
        the list as it is.

        Interrupting the call (Ctrl-C, cancelling its task) cancels the compaction and waits until the daemon has ended
        it. A running turn of this session object is aborted. Where the compaction fails, the log holds the list
        nevertheless: ``compact=False`` returns the view.

        Args:
            messages: All messages: dicts or SDK objects in the session's dialect, which are the elements of
                ``messages`` (OpenAI Chat, Anthropic), ``input`` (OpenAI Responses) or ``contents`` (Gemini). Without a
                dialect: neutral messages, also those of views. At most 100,000, of which 10,000 may be new.
            system: The system prompt, where the dialect has it apart: a text, or the provider's object or list of them
                (Anthropic's blocks, Gemini's content). Where it differs from the session's instructions, it replaces
                them. Default, also for an empty one: the session keeps what it has.
            compact: Whether to compact after the list is in the log, if that is due. Nothing is done where another
                client compacts already, or where a compaction cannot help.
            view: Whether to return the view.
            on_event: Called with each event of the compaction, in order. An exception that it raises cancels the
                compaction.
            mark_cache_breakpoints: As for :meth:`view`.
            max_bytes: As for :meth:`view`.
            timeout: The timeout in seconds. Default: the client's for compactions.

        Raises:
            SyncConflictError: Another client has written to the session what the list lacks.
            InvalidRequestError: The messages are malformed.
            TypeError: ``messages`` is no list, or an element is no object.
            ValueError: ``system`` was given in a dialect that has the system prompt among the messages.
            CompactordError: The compaction failed. The class depends on the reason.
        """
        listed = lists.listed(messages, self._dialect)
        request = v1.SyncMessagesRequest(
            session_id=self._id,
            dialect=self._dialect,
            system_json=lists.system_json(system, self._dialect),
            compact=compact,
            leave_out_view=not view,
            mark_cache_breakpoints=mark_cache_breakpoints,
            max_bytes=max_bytes or self._calls.settings.page_bytes,
        )
        await self._suspend_turns(True)
        result: CompactionResult | None = None
        try:
            synced = await self._synced(listed, request, on_event, timeout)
            result = synced.compaction_result
        finally:
            await self._release_turns(result)
        return synced

    async def refresh(self, *, timeout: float | None = None) -> SessionInfo:
        """Take note of all that the session holds now, so that the next sync is no conflict because of it.

        Call it after a :class:`SyncConflictError`, and read what others have written then, with :meth:`view` or
        :meth:`messages`. What the next list leaves out of it is put aside.

        Args:
            timeout: The timeout in seconds. Default: the client's.

        Returns:
            The session, and a report of how full its context is.
        """
        info = await self.info(timeout=timeout)
        self._known_point = info.session.point
        return info

    @override
    def _went_back(self, answer: v1.RevertToCheckpointResponse | v1.ClearSessionResponse) -> None:
        # What others have written before it stays a conflict.
        if answer.HasField("record") and self._known_point == answer.record.sequence - 1:
            self._known_point = answer.point

    async def _synced(
        self, listed: ElementList, request: v1.SyncMessagesRequest, on_event: OnEvent | None, timeout: float | None
    ) -> Synced:
        """Send the list until the daemon lacks nothing of it, and note that it has it."""
        kept = self._kept
        request.view_token = kept.token
        if self._known_point is not None:
            request.known_point = self._known_point
        elements = listed.first_sent(self._held)
        sent = 0
        for _ in range(_ROUNDS):
            del request.elements[:]
            request.elements.extend(elements)
            sent += sum(not element.HasField("digest") for element in elements)
            call = AsyncSyncCall(self._calls, request, timeout, self._calls.left(self._id), on_event)
            try:
                lacking = await call.run()
            except InvalidRequestError as error:
                if not request.HasField("known_point") or "known_point" not in [
                    one.field for one in error.field_violations
                ]:
                    raise
                # Another session has the id now, or an older state of it was restored.
                request.ClearField("known_point")
                continue
            except SyncConflictError as error:
                error.message = (
                    f"{error.message}: call session.refresh(), take what you need of session.view() into your list, "
                    "and sync again"
                )
                raise
            except BaseException as error:
                if leaves_open(error) or not isinstance(error, CompactordError):
                    # The daemon may have written what no answer told of.
                    self._known_point = None
                raise
            finally:
                self._note(listed, call.synced)
            if lacking is None:
                return await self._result(call, kept, request, sent, timeout)
            elements = listed.sent_after(lacking)
        raise internal(f"the daemon lacks elements of the list after {_ROUNDS} calls")

    def _note(self, listed: ElementList, synced: v1.SyncedMessages | None) -> None:
        """Note what the daemon has, where it has said so."""
        if synced is None:
            return
        self._held = listed
        self._known_point = synced.point
        if synced.HasField("revert"):
            self._reverted()
        if synced.appended_messages:
            self._position.wrote(synced.next_index - synced.appended_messages, synced.next_index)
            self._written()

    async def _result(
        self, call: AsyncSyncCall, kept: View, request: v1.SyncMessagesRequest, sent: int, timeout: float | None
    ) -> Synced:
        done = call.synced
        if done is None:
            raise internal("the stream of the sync ended before it said what it has done")
        view: View | None = None
        if call.page is not None:
            view = kept.joined(call.page)
            if not view.complete:
                rest = v1.GetLLMViewRequest(
                    session_id=self._id,
                    dialect=self._dialect,
                    mark_cache_breakpoints=request.mark_cache_breakpoints,
                    max_bytes=request.max_bytes,
                )
                view = await self._rest_of(view, rest, timeout, view.messages_sent)
            self._kept = view
        ended = call.compaction
        if ended is not None:
            warn(fallback(ended.fallback_cause))
        self._grown(done.report)
        return Synced(
            view=view,
            appended=done.appended_messages,
            put_aside=done.messages_put_aside,
            known=done.known_elements,
            sent=sent,
            instructions_replaced=done.instructions_replaced,
            begins_with_view=done.begins_with_view,
            next_index=done.next_index,
            point=done.point,
            findings=done.findings,
            report=view.report if view is not None else (ended.report if ended is not None else None) or done.report,
            compaction_result=ended,
        )


class AsyncSyncCall:
    """One call of a sync, with what the daemon has said in it.

    Attributes:
        synced: What the daemon has done to the log; None before it has said so.
        compaction: How the compaction ended; None where there was none.
        page: The first page of the view; None where it sent none.
    """

    def __init__(
        self,
        calls: AsyncCalls,
        request: v1.SyncMessagesRequest,
        timeout: float | None,
        left: set[str],
        on_event: OnEvent | None,
    ) -> None:
        """Make a call. ``left`` has the operation ids of the session's cancelled compactions."""
        self._calls = calls
        self._request = request
        self._timeout = timeout
        self._left = left
        self._on_event = on_event
        self._operation_id = ""
        self._ended = False
        self.synced: v1.SyncedMessages | None = None
        self.compaction: CompactionResult | None = None
        self.page: v1.GetLLMViewResponse | None = None

    async def run(self) -> v1.LackingElements | None:
        """Make the call, and again where no daemon answers or it is busy: a second one changes nothing more.

        Returns:
            What the daemon lacks; None where it lacks nothing.
        """
        await self._calls.find_daemon(limit_of(self._calls.sessions.SyncMessages, self._timeout))
        waits = backoffs()
        while True:
            deadline = Deadline(limit_of(self._calls.sessions.SyncMessages, self._timeout))
            try:
                return await self._once()
            except CompactordError as error:
                failure = deadline.classified(error)
                wait = self._wait(failure, next(waits, None))
                if wait is None:
                    await self._end()
                    raise explained(failure, self._calls.settings) from None
            except BaseException:
                await self._end()
                raise
            await runtime.sleep(wait)

    def _wait(self, error: CompactordError, pause: float | None) -> float | None:
        """The seconds after which to make the call again; None where it must not be, or need not."""
        if not self._calls.settings.retry or pause is None:
            return None
        if isinstance(error, UnavailableError) and not error.from_daemon:
            return pause
        return busy_for(error)

    async def _once(self) -> v1.LackingElements | None:
        stream = runtime.Stream(self._calls.sessions.SyncMessages, self._request, self._timeout)
        try:
            while (step := await stream.read()) is not None:
                match step.WhichOneof("step"):
                    case "lacking":
                        return step.lacking
                    case "synced":
                        self.synced = _with(self.synced, step.synced)
                    case "compaction":
                        await self._told(step.compaction)
                    case "view":
                        self.page = step.view
                    case None:
                        pass  # A step of a newer daemon.
            return None
        finally:
            stream.cancel()

    async def _told(self, event: v1.CompactionEvent) -> None:
        self._operation_id = event.operation_id
        if event.HasField("started"):
            # One compaction of a session runs at a time: those before it have ended.
            self._left.clear()
        self.compaction = result_of(event) or self.compaction
        self._ended = event.WhichOneof("event") in _ENDS
        if self._on_event is not None:
            await resolve(self._on_event(event))

    async def _end(self) -> None:
        """End the compaction in the daemon, so that the next call finds none running."""
        if not self._request.compact or self._ended or self.synced is None:
            return
        self._left.add(self._operation_id)
        if not self._operation_id:
            return
        request = v1.CancelCompactionRequest(session_id=self._request.session_id, operation_id=self._operation_id)
        with suppress(CompactordError):
            await self._calls.unary(self._calls.compactions.CancelCompaction, request, _CANCEL_TIMEOUT)


def _with(before: v1.SyncedMessages | None, now: v1.SyncedMessages) -> v1.SyncedMessages:
    """What was done, where the answer of a call that did a part of it was not all that came."""
    if before is not None:
        now.appended_messages += before.appended_messages
        now.messages_put_aside += before.messages_put_aside
        now.instructions_replaced |= before.instructions_replaced
        now.findings.MergeFrom(before.findings)
    return now
