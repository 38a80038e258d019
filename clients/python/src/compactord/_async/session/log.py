"""A session as far as its log goes: what is appended, read, gone back in and watched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from google.protobuf.field_mask_pb2 import FieldMask

from compactord import messages, v1, warned, words
from compactord._async.session.context import AsyncSessionContext
from compactord._async.session.points import AsyncPoints
from compactord._async.session.watch import AsyncWatch
from compactord._async.wire.calls import AsyncCalls
from compactord.arguments import checked_arguments
from compactord.connection import new_request_id
from compactord.results import Appended, SessionInfo
from compactord.unanswered import Unanswered, leaves_open
from compactord.view import View


@checked_arguments
class AsyncSessionLog(AsyncSessionContext, AsyncPoints):
    """The part of a session that appends to its log, reads and changes its settings, and deletes it."""

    def __init__(self, calls: AsyncCalls, session_id: str, dialect: v1.Dialect.ValueType) -> None:
        super().__init__(calls, session_id, dialect)
        self._unanswered = Unanswered()
        self._unbounded = False
        self._warnings: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is probably not meant in the session's policy, in sentences.

        The daemon says it where this object has created, forked or updated the session. Each was a
        :class:`compactord.CompactordWarning`, too.
        """
        return self._warnings

    def _chosen(self, found: Iterable[v1.PolicyWarning]) -> None:
        """Note what the daemon says of a policy that was chosen, and warn of it."""
        self._warnings = warned.of_policy(found)

    async def append(
        self,
        *given: messages.Appendable,
        view: View | None = None,
        model_answer: bool = False,
        strict: bool = False,
        expected_next_index: int | None = None,
        usage: v1.Usage | None = None,
        model: str = "",
        stop_reason: words.StopReason | None = None,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> Appended:
        """Append messages to the log: all of them or, on any error, none. They are on disk before the call returns.

        Where the daemon ended or the call was interrupted, it is unknown whether the append was executed. Append the
        same content again then: it is not duplicated. This holds for 10 minutes and until something else is appended.
        To append equal content a second time on purpose, give a ``request_id``.

        Args:
            given: The messages: text of the user, a provider's JSON as dicts, SDK objects or bytes, or neutral
                messages. See :data:`compactord.Appendable`.
            view: The view that the model's answer was made from.
            model_answer: Whether the last message is what a model has just answered. The daemon then checks whether
                it is an overflow, and describes it in ``answer``.
            strict: Whether to refuse malformed input even where its meaning is clear.
            expected_next_index: The index that the first message must get.
            usage: The usage that the provider reported, where its JSON does not have it.
            model: The model, where the provider's JSON does not name it.
            stop_reason: Why the model stopped (``"end"``, ``"aborted"``, ...), where the provider's JSON does not say.
            request_id: Makes the call safe to repeat. Default: a new one.
            timeout: The timeout in seconds. Default: the client's.

        Raises:
            WrongNextIndexError: The first message would get another index than ``expected_next_index``.
            ConflictError: ``HISTORY_REVERTED``: A revert came after the view: fetch a new view and repeat the turn.
            InvalidRequestError: The messages are malformed.
            TypeError: One argument cannot be appended, or neutral messages and provider JSON are mixed.
        """
        content = messages.content(given, self._dialect)
        kind = type(cast(object, view))
        if view is not None and not issubclass(kind, View):
            raise TypeError(f"view: must be a View, as session.view() returns it, not of the type {kind.__name__}")
        request = v1.AppendMessagesRequest(
            session_id=self._id,
            messages=content.messages,
            expected_next_index=expected_next_index,
            view_token=view.token if view is not None else "",
            strict=strict,
            model_answer=model_answer,
        )
        if content.json is not None:
            request.provider_json.CopyFrom(
                v1.ProviderJson(
                    dialect=self._dialect,
                    json=content.json,
                    usage=usage,
                    model=model,
                    stop_reason=words.stop_reason(stop_reason),
                )
            )
        elif usage is not None or model or stop_reason is not None:
            raise TypeError(
                "give usage, model and stop_reason only with provider JSON; neutral messages have fields for them"
            )
        if request_id:
            request.request_id = request_id
        else:
            request = self._unanswered.first(request) or request
            request.request_id = request.request_id or new_request_id()
        with self._position.sending():
            answer = await self._appended(request, timeout, own_id=not request_id)
            self._position.wrote(answer.first_index, answer.next_index)
        self._written()
        self._grown(answer.report)
        return Appended(
            first_index=answer.first_index,
            next_index=answer.next_index,
            point=answer.point,
            report=answer.report,
            findings=answer.findings,
            answer=answer.answer if answer.HasField("answer") else None,
        )

    def _grown(self, report: v1.ContextReport) -> None:
        """Warn once of a session that has no context window and grows."""
        text = "" if self._unbounded else warned.unbounded(report)
        self._unbounded = self._unbounded or bool(text)
        warned.warn(text)

    def _written(self) -> None:
        """Called after each append. A subclass overrides it."""

    async def _appended(
        self, request: v1.AppendMessagesRequest, timeout: float | None, *, own_id: bool
    ) -> v1.AppendMessagesResponse:
        """Append. A request with an id of this client is remembered until there is a response."""
        try:
            answer = await self._calls.unary(self._calls.sessions.AppendMessages, request, timeout)
        except Exception as error:
            if own_id and leaves_open(error):
                self._unanswered.keep(request)
            elif own_id:
                self._unanswered.drop(request)
            raise
        except BaseException:
            # The program was interrupted or the task was cancelled.
            if own_id:
                self._unanswered.keep(request)
            raise
        self._unanswered.clear()
        return answer

    async def info(self, *, timeout: float | None = None) -> SessionInfo:
        """Get the session with its policy, and a report of how full its context is."""
        request = v1.GetSessionRequest(session_id=self._id)
        answer = await self._calls.unary(self._calls.sessions.GetSession, request, timeout)
        return SessionInfo(answer.session, answer.report)

    async def update(
        self,
        *,
        policy: words.Policy | None = None,
        context_window: int | None = None,
        labels: Mapping[str, str] | None = None,
        title: str | None = None,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> v1.Session:
        """Replace the policy, the labels or the title. Each one that is given is replaced as a whole.

        What is probably not meant in the new policy is in :attr:`warnings`.

        Args:
            policy: The new policy. Its defaults are filled in again.
            context_window: The new context window in tokens, in place of a policy: all else of the policy stays, also
                what others change at the same time.
            labels: The new labels.
            title: The new title.
            request_id: Makes the call safe to repeat. Default: a new one.
            timeout: The timeout in seconds. Default: the client's.

        Returns:
            The session after the change.

        Raises:
            ValueError: Both ``policy`` and ``context_window`` were given.
        """
        if context_window is not None:
            if policy is not None:
                raise ValueError("context_window: give it in the policy, or without one")
            policy = v1.Policy(context_window=context_window)
        field = "policy" if context_window is None else "policy.context_window"
        named = {field: policy, "labels": labels, "title": title}
        request = v1.UpdateSessionRequest(
            session_id=self._id,
            update_mask=FieldMask(paths=[path for path, value in named.items() if value is not None]),
            policy=words.policy(policy),
            labels=labels,
            title=title or "",
            request_id=request_id or new_request_id(),
        )
        answer = await self._calls.unary(self._calls.sessions.UpdateSession, request, timeout)
        if policy is not None:
            self._chosen(answer.warnings)
        return answer.session

    async def delete(self, *, children: words.OnDelete = "keep", timeout: float | None = None) -> None:
        """Remove the session and its log for ever. Its running compaction is cancelled.

        Args:
            children: What becomes of its children: ``"keep"``, ``"delete"``, or ``"refuse"`` where it has some.
            timeout: The timeout in seconds. Default: the client's.

        Raises:
            SessionNotFoundError: The session does not exist.
            CompactordError: ``HAS_CHILDREN``: It has children, and ``children`` is ``"refuse"``.
        """
        request = v1.DeleteSessionRequest(session_id=self._id, children=words.children_on_delete(children))
        await self._calls.unary(self._calls.sessions.DeleteSession, request, timeout)
        # A session that gets this id later has another log.
        self._position.forget()

    def watch(
        self, *, from_sequence: int | None = None, events: bool = False, without_content: bool = False
    ) -> AsyncWatch:
        """Watch the session's log: new messages and records, from any client.

        Args:
            from_sequence: The sequence where to begin; 0 for the whole log. Default: the current end of the log.
            events: Whether to include the events of compactions.
            without_content: Whether to leave out the parts of messages.

        Returns:
            An iterator of :class:`compactord.v1.LoggedMessage`, :class:`compactord.v1.Record` and
            :class:`compactord.v1.CompactionEvent`. It is also a context manager that starts and ends the watch.
        """
        request = v1.WatchSessionRequest(
            session_id=self._id, from_sequence=from_sequence, events=events, without_content=without_content
        )
        return AsyncWatch(self._calls, request)
