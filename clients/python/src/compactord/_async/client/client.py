"""The client of a daemon."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from types import TracebackType

from typing_extensions import Self, override

from compactord import connection, messages, v1, words
from compactord._async.client.compacted import AsyncListCompactions
from compactord._async.client.session import AsyncSession
from compactord._async.session.limits import warned_of_limit
from compactord._async.wire.calls import AsyncCalls
from compactord._async.wire.stubs import AsyncCompactionStub, AsyncSessionStub
from compactord.arguments import checked_arguments
from compactord.connection import TLS
from compactord.errors import SessionExistsError
from compactord.tokens import Token


@checked_arguments
class AsyncClient(AsyncListCompactions):
    """The client of a daemon. It connects at the first use.

    Several threads or tasks may use it at once. It does not work after a fork: make one in each process. With asyncio
    it only works in the event loop where it is first used.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        tls: TLS | bool | None = None,
        token: Token | None = None,
        allow_plaintext_token: bool = False,
        timeout: float = connection.TIMEOUT,
        compaction_timeout: float = connection.COMPACTION_TIMEOUT,
        max_message_bytes: int = connection.MAX_MESSAGE_BYTES,
        keepalive: float = connection.KEEPALIVE,
        retry: bool = True,
    ) -> None:
        """Make a client. No connection is made yet.

        Args:
            address: ``HOST:PORT`` or ``unix:PATH``. Default: ``COMPACTORD_ADDR``, else ``127.0.0.1:7440``.
            tls: True or a :class:`TLS`, where a proxy in front of the daemon uses TLS.
            token: The token for ``authorization: Bearer TOKEN`` of each call, or a function that returns it. Default:
                that of ``COMPACTORD_TOKEN``, of the file ``COMPACTORD_TOKEN_FILE``, or of the user's own daemon.
            allow_plaintext_token: Whether a token may be sent without TLS to an address of another machine.
            timeout: The timeout of a call in seconds. Each call can override it.
            compaction_timeout: The timeout of a call that may write a summary, in seconds.
            max_message_bytes: The size of the largest request and response in bytes. The daemon has its own limits.
            keepalive: Seconds without data on a call before the client sends a keepalive ping. At least 10, since the
                daemon closes a connection that pings more often.
            retry: Whether to send calls again: those that are safe to repeat where no daemon answers, and others than
                streams where the daemon was too busy, when it says.

        Raises:
            ValueError: The address is not valid, a number is out of range, or the token would be sent without TLS.
        """
        self._calls = AsyncCalls(
            connection.settings(
                address,
                tls=tls,
                token=token,
                allow_plaintext_token=allow_plaintext_token,
                timeout=timeout,
                compaction_timeout=compaction_timeout,
                max_message_bytes=max_message_bytes,
                keepalive=keepalive,
                retry=retry,
            )
        )

    @override
    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.address!r})"

    @property
    def address(self) -> str:
        """The daemon's address."""
        return self._calls.settings.address

    @property
    def sessions(self) -> AsyncSessionStub:
        """The raw stub of SessionService.

        Requests and responses are messages of the contract. Errors are those of gRPC;
        :func:`compactord.errors.from_rpc_error` converts them. Deadlines, token, request ids and retries are those of
        this client.
        """
        return self._calls.sessions

    @property
    def compactions(self) -> AsyncCompactionStub:
        """The raw stub of CompactionService. :attr:`sessions` says how it behaves."""
        return self._calls.compactions

    async def create_session(
        self,
        session_id: str | None = None,
        *,
        policy: words.Policy | None = None,
        dialect: words.Dialect | None = None,
        labels: Mapping[str, str] | None = None,
        title: str = "",
        estimator: words.Estimator | None = None,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> AsyncSession:
        """Create a session.

        What is probably not meant in its policy is in ``warnings`` of the session.

        Args:
            session_id: Its id. Default: a new UUID.
            policy: When and how the session is compacted. It should have at least ``{"context_window": 200_000}``.
            dialect: The provider's shape of messages that are appended and returned. Default: neutral messages.
            labels: Labels, by which :meth:`list_sessions` can filter.
            title: Its title.
            estimator: How tokens are counted. Default ``"chars4"``.
            request_id: Makes the call safe to repeat. Default: a new one.
            timeout: The timeout in seconds. Default: the client's.

        Raises:
            SessionExistsError: The id is in use.
            InvalidRequestError: The policy is not valid.
        """
        shape = words.dialect(dialect)
        request = v1.CreateSessionRequest(
            session_id=session_id or connection.new_session_id(),
            policy=words.policy(policy),
            labels=labels,
            title=title,
            estimator=words.estimator(estimator),
            request_id=request_id or connection.new_request_id(),
        )
        answer = await self._calls.unary(self._calls.sessions.CreateSession, request, timeout)
        return AsyncSession(self._calls, answer.session.session_id, shape, answer.warnings)

    async def open_session(
        self,
        session_id: str,
        *,
        policy: words.Policy | None = None,
        dialect: words.Dialect | None = None,
        labels: Mapping[str, str] | None = None,
        title: str = "",
        estimator: words.Estimator | None = None,
        timeout: float | None = None,
    ) -> AsyncSession:
        """Open a session, or create it where it does not exist.

        The arguments are those of :meth:`create_session`, but the id is required. Labels, title and estimator are only
        used for a new session. What a policy sets must be so in the one that the session has; ``update`` of the session
        replaces it. A policy that names one of the daemon's operator is not compared: the session keeps it written out.

        Raises:
            SessionExistsError: The session exists with another policy: the text names the fields that differ.
            ValueError: The id is empty.
        """
        try:
            return await self.create_session(
                words.session_id(session_id),
                policy=policy,
                dialect=dialect,
                labels=labels,
                title=title,
                estimator=estimator,
                timeout=timeout,
            )
        except SessionExistsError as exists:
            session = self.session(session_id, dialect=dialect)
            given = words.policy(policy)
            if given is not None:
                held = (await session.info(timeout=timeout)).session.policy
                differing = words.differing_fields(given, held)
                if differing and not await self._is_operators(given.preset, timeout):
                    exists.message = (
                        f"policy: the session {session_id} exists with another policy, which differs in "
                        f"{', '.join(differing)}: open it without a policy, and replace its policy with update"
                    )
                    raise
            return session

    async def _is_operators(self, name: str, timeout: float | None) -> bool:
        """Whether a policy that is named like a preset is one of the daemon's operator."""
        presets = (await self.strategies(timeout=timeout)).presets
        return any(preset.name == name and preset.policy.preset != name for preset in presets)

    def session(self, session_id: str, *, dialect: words.Dialect | None = None) -> AsyncSession:
        """Make an object for a session that exists. No call is made.

        Raises:
            ValueError: The id is empty.
        """
        return AsyncSession(self._calls, words.session_id(session_id), words.dialect(dialect))

    async def list_sessions(
        self,
        *,
        labels: Mapping[str, str] | None = None,
        forked_from: str | None = None,
        order: words.Order = "created",
        page_size: int = 0,
        timeout: float | None = None,
    ) -> AsyncIterator[v1.Session]:
        """Iterate over the sessions, newest first.

        Args:
            labels: Only sessions with all of these labels.
            forked_from: Only the forks of the session with this id, without its children. There is no index of forks:
                the daemon looks through all sessions that were created since that one.
            order: Whether to sort by creation or by last change.
            page_size: Sessions per response, up to 1,000. Default 100.
            timeout: The timeout of each response in seconds. Default: the client's.

        Raises:
            SessionNotFoundError: There is no session ``forked_from``.
        """
        request = v1.ListSessionsRequest(
            labels=labels, forked_from_session_id=forked_from or "", order=words.order(order), page_size=page_size
        )
        while True:
            page = await self._calls.unary(self._calls.sessions.ListSessions, request, timeout)
            for found in page.sessions:
                yield found
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def delete_session(
        self, session_id: str, *, children: words.OnDelete = "keep", timeout: float | None = None
    ) -> None:
        """Remove a session and its log for ever. Its running compaction is cancelled.

        Args:
            session_id: Its id.
            children: What becomes of its children: ``"keep"``, ``"delete"``, or ``"refuse"`` where it has some.
            timeout: The timeout in seconds. Default: the client's.

        Raises:
            SessionNotFoundError: The session does not exist.
            CompactordError: ``HAS_CHILDREN``: It has children, and ``children`` is ``"refuse"``.
        """
        await self.session(session_id).delete(children=children, timeout=timeout)

    async def classify_error(
        self,
        error_text: str = "",
        *,
        http_status: int = 0,
        stop_reason: words.StopReason | None = None,
        provider_stop_reason: str = "",
        usage: v1.Usage | None = None,
        context_window: int = 0,
        session_id: str = "",
        timeout: float | None = None,
    ) -> v1.ClassifyErrorResponse:
        """Ask the daemon whether a provider's error is a context overflow. Give all that is known about the error.

        Where its text says how many tokens the model accepts, ``limit_tokens`` of the answer has the figure. A context
        window of the session above that is a :class:`compactord.CompactordWarning`.

        Args:
            error_text: The text of the error, or the whole body that the provider sent.
            http_status: The HTTP status.
            stop_reason: Why the model stopped, where it answered: ``"end"``, ``"length"``, ...
            provider_stop_reason: The stop reason in the provider's own word.
            usage: The usage that the provider reported, where the model answered.
            context_window: The model's context window in tokens. Default: the session's.
            session_id: The session whose context window is used.
            timeout: The timeout in seconds. Default: the client's.
        """
        request = v1.ClassifyErrorRequest(
            error_text=error_text,
            http_status=http_status,
            stop_reason=words.stop_reason(stop_reason),
            provider_stop_reason=provider_stop_reason,
            usage=usage,
            context_window=context_window,
            session_id=session_id,
        )
        verdict = await self._calls.unary(self._calls.compactions.ClassifyError, request, timeout)
        if session_id:
            await warned_of_limit(self._calls, session_id, verdict, timeout)
        return verdict

    async def count_tokens(
        self,
        *given: messages.Appendable,
        text: str | None = None,
        session_id: str | None = None,
        dialect: words.Dialect | None = None,
        estimator: words.Estimator | None = None,
        timeout: float | None = None,
    ) -> v1.CountTokensResponse:
        """Count the tokens of messages, of a text, or of a session's view.

        Args:
            given: Messages, as for :meth:`AsyncSession.append`.
            text: A text, in place of messages.
            session_id: A session, in place of messages: its view is counted.
            dialect: The provider's shape of the messages.
            estimator: How tokens are counted. Default: as the session does, else ``"chars4"``.
            timeout: The timeout in seconds. Default: the client's.

        Raises:
            ValueError: None or several of messages, ``text`` and ``session_id`` were given.
        """
        if bool(given) + (text is not None) + (session_id is not None) != 1:
            raise ValueError("count_tokens: give exactly one of messages, a text and a session_id")
        request = v1.CountTokensRequest(estimator=words.estimator(estimator))
        if session_id is not None:
            request.session_id = session_id
        elif text is not None:
            request.text = text
        else:
            shape = words.dialect(dialect)
            content = messages.content(given, shape)
            request.messages.messages.extend(content.messages)
            if content.json is not None:
                request.messages.provider_json.CopyFrom(v1.ProviderJson(dialect=shape, json=content.json))
        return await self._calls.unary(self._calls.compactions.CountTokens, request, timeout)

    async def strategies(
        self,
        *,
        context_window: int | None = None,
        max_output_tokens: int | None = None,
        max_input_tokens: int | None = None,
        timeout: float | None = None,
    ) -> v1.ListStrategiesResponse:
        """List the strategies, the presets with their numbers for a model, and the summarizers.

        Args:
            context_window: The model's context window in tokens.
            max_output_tokens: The model's output limit in tokens.
            max_input_tokens: The model's input limit in tokens, where it is not the context window.
            timeout: The timeout in seconds. Default: the client's.
        """
        request = v1.ListStrategiesRequest(
            context_window=context_window, max_output_tokens=max_output_tokens, max_input_tokens=max_input_tokens
        )
        return await self._calls.unary(self._calls.compactions.ListStrategies, request, timeout)

    async def health(self, *, timeout: float | None = None) -> bool:
        """Ask the daemon whether it serves. False where it cannot be reached."""
        return await self._calls.healthy(self._calls.settings.timeout if timeout is None else timeout)

    async def close(self) -> None:
        """End all calls and close the connection. Safe to call again."""
        await self._calls.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
