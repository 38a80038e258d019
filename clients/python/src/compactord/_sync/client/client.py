# Generated from src/compactord/_async/client/client.py by scripts/unasync.py. Do not edit.
"""The client of a daemon."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import TracebackType

from typing_extensions import Self, override

from compactord import connection, messages, v1, words
from compactord._sync.client.session import Session
from compactord._sync.wire.calls import Calls
from compactord._sync.wire.stubs import CompactionStub, SessionStub
from compactord.connection import TLS, Token
from compactord.errors import SessionExistsError


class Client:
    """The client of a daemon. It connects when it is first used.

    Several threads or tasks may use it at once. It does not survive a fork: make one in each process. With asyncio it
    belongs to the event loop that it is first used in.
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
        """Say how to reach the daemon.

        Args:
            address: ``HOST:PORT`` or ``unix:PATH``. Default: that in ``COMPACTORD_ADDR``, else ``127.0.0.1:7440``.
            tls: True, or whom to trust, where a proxy before the daemon encrypts.
            token: Goes with each call as ``authorization: Bearer TOKEN``; or what answers it.
            allow_plaintext_token: Whether a token may be sent without TLS to what is no Unix socket.
            timeout: Seconds that a call may take. Each call can have its own.
            compaction_timeout: Seconds that a call may take in which a summary is written.
            max_message_bytes: Bytes of the largest request and answer. The daemon has limits of its own.
            keepalive: Seconds of silence during a call after which the daemon is asked whether it is there. The daemon
                takes such a question every 10 seconds, and no more: that is the least.
            retry: Whether calls that are safe to send again are sent again where no daemon answers.

        Raises:
            ValueError: The address is none, a figure is out of range, or the token would be sent in the clear.
        """
        self._calls = Calls(
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
    def sessions(self) -> SessionStub:
        """The raw stub of SessionService.

        Messages of the contract go in and come out, and errors are gRPC's own (:func:`compactord.errors.from_rpc_error`
        makes ours of them); deadlines, token, request ids and retries are this client's.
        """
        return self._calls.sessions

    @property
    def compactions(self) -> CompactionStub:
        """The raw stub of CompactionService, likewise."""
        return self._calls.compactions

    def create_session(
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
    ) -> Session:
        """Begin a session.

        Args:
            session_id: Its id. Default: a new UUID.
            policy: When and how it is compacted: ``{"context_window": 200_000}`` at the least.
            dialect: The provider's shape that messages come and go in. Default: neutral messages.
            labels: Labels to find it by.
            title: What it is called.
            estimator: How its tokens are counted. Default ``"chars4"``.
            request_id: Makes the call safe to make again. Default: a new one.
            timeout: Seconds that it may take. Default: the client's.

        Raises:
            SessionExistsError: The id is in use.
            InvalidRequestError: The policy contradicts itself.
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
        answer = self._calls.unary(self._calls.sessions.CreateSession, request, timeout)
        return Session(self._calls, answer.session.session_id, shape)

    def open_session(
        self,
        session_id: str,
        *,
        policy: words.Policy | None = None,
        dialect: words.Dialect | None = None,
        labels: Mapping[str, str] | None = None,
        title: str = "",
        estimator: words.Estimator | None = None,
        timeout: float | None = None,
    ) -> Session:
        """Go on with a session, or begin it where there is none. Policy, labels, title and estimator are for a new one.

        The arguments are those of :meth:`create_session`, but that the id must be given.

        Raises:
            ValueError: The id is empty.
        """
        try:
            return self.create_session(
                words.session_id(session_id),
                policy=policy,
                dialect=dialect,
                labels=labels,
                title=title,
                estimator=estimator,
                timeout=timeout,
            )
        except SessionExistsError:
            return self.session(session_id, dialect=dialect)

    def session(self, session_id: str, *, dialect: words.Dialect | None = None) -> Session:
        """Take up a session that there is. No call is made.

        Raises:
            ValueError: The id is empty.
        """
        return Session(self._calls, words.session_id(session_id), words.dialect(dialect))

    def list_sessions(
        self,
        *,
        labels: Mapping[str, str] | None = None,
        order: words.Order = "created",
        page_size: int = 0,
        timeout: float | None = None,
    ) -> Iterator[v1.Session]:
        """Go through the sessions, the newest first.

        Args:
            labels: Only those that have all of these labels.
            order: By creation, or by last change.
            page_size: Sessions that one answer holds, up to 1,000. Default 100.
            timeout: Seconds that each answer may take. Default: the client's.
        """
        request = v1.ListSessionsRequest(labels=labels, order=words.order(order), page_size=page_size)
        while True:
            page = self._calls.unary(self._calls.sessions.ListSessions, request, timeout)
            for found in page.sessions:
                yield found
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def delete_session(self, session_id: str, *, timeout: float | None = None) -> None:
        """Remove a session and its log for good. What runs for it is cancelled.

        Raises:
            SessionNotFoundError: There is none.
        """
        self.session(session_id).delete(timeout=timeout)

    def classify_error(
        self,
        error_text: str = "",
        *,
        http_status: int = 0,
        stop_reason: str | None = None,
        provider_stop_reason: str = "",
        usage: v1.Usage | None = None,
        context_window: int = 0,
        session_id: str = "",
        timeout: float | None = None,
    ) -> v1.ClassifyErrorResponse:
        """Ask whether a provider's error is a context overflow. Give what is known.

        Args:
            error_text: The text of the error, or the whole body that the provider answered.
            http_status: The HTTP status.
            stop_reason: Why the model stopped, where it answered: ``"end"``, ``"length"``, ...
            provider_stop_reason: The same as the provider writes it.
            usage: What the provider reported, where the model answered.
            context_window: The model's context window in tokens. Default: the session's.
            session_id: The session, for its window.
            timeout: Seconds that it may take. Default: the client's.
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
        return self._calls.unary(self._calls.compactions.ClassifyError, request, timeout)

    def count_tokens(
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
            given: The messages, as for :meth:`Session.append`.
            text: In place of messages, one text.
            session_id: In place of messages, a session.
            dialect: The provider's shape of the messages.
            estimator: How to count. Default: the session's own, else ``"chars4"``.
            timeout: Seconds that it may take. Default: the client's.

        Raises:
            ValueError: Not just one thing to count was given.
        """
        if bool(given) + (text is not None) + (session_id is not None) != 1:
            raise ValueError("count_tokens: give messages, a text or a session_id")
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
        return self._calls.unary(self._calls.compactions.CountTokens, request, timeout)

    def strategies(
        self,
        *,
        context_window: int | None = None,
        max_output_tokens: int | None = None,
        max_input_tokens: int | None = None,
        timeout: float | None = None,
    ) -> v1.ListStrategiesResponse:
        """Get what there is to choose from: strategies, presets with their numbers for a model, and summarizers.

        Args:
            context_window: The model's context window in tokens.
            max_output_tokens: The model's output limit in tokens.
            max_input_tokens: The model's input limit in tokens, where it differs from the window.
            timeout: Seconds that it may take. Default: the client's.
        """
        request = v1.ListStrategiesRequest(
            context_window=context_window, max_output_tokens=max_output_tokens, max_input_tokens=max_input_tokens
        )
        return self._calls.unary(self._calls.compactions.ListStrategies, request, timeout)

    def health(self, *, timeout: float | None = None) -> bool:
        """Ask whether the daemon serves."""
        return self._calls.healthy(self._calls.settings.timeout if timeout is None else timeout)

    def close(self) -> None:
        """End all calls and close the connection. It may be called again."""
        self._calls.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
