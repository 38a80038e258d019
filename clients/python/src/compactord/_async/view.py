"""Fetching the view of a session."""

from __future__ import annotations

from collections.abc import Iterable

from typing_extensions import override

from compactord import v1, words
from compactord import view as views
from compactord._async.wire.calls import AsyncCalls
from compactord.arguments import checked_arguments
from compactord.view import View
from compactord.words import Dialect, dialect_name


@checked_arguments
class AsyncSessionView:
    """The part of a session that fetches its view. It keeps the last one, so that the daemon only sends what is new."""

    def __init__(self, calls: AsyncCalls, session_id: str, dialect: v1.Dialect.ValueType) -> None:
        self._calls = calls
        self._id = session_id
        self._dialect = dialect
        self._kept = views.empty(dialect)

    @override
    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._id!r}, dialect={self.dialect!r})"

    @property
    def id(self) -> str:
        """The session's id."""
        return self._id

    @property
    def dialect(self) -> Dialect | None:
        """The provider's shape of messages that are appended and returned; None for neutral messages."""
        return dialect_name(self._dialect)

    async def view(
        self,
        *,
        thinking: words.Thinking | None = None,
        mark_cache_breakpoints: bool = False,
        extra_blocks: Iterable[v1.ContextBlock] = (),
        as_of: int | None = None,
        max_bytes: int | None = None,
        timeout: float | None = None,
    ) -> View:
        """Fetch the view: the messages that the model needs to go on. The daemon only sends what is new.

        Args:
            thinking: Which thinking to show, in place of the policy's setting.
            mark_cache_breakpoints: Whether the daemon marks cache breakpoints in the messages, where the dialect has
                them.
            extra_blocks: Context blocks for this view alone, such as documents that were found, or the time. They are
                the end of the view, and are stored nowhere. :func:`block` makes them, without place, turns and
                operator.
            as_of: The point whose view to return. Default: the end of the log.
            max_bytes: The most bytes of one response; a larger view is fetched in several. Default: half of the
                client's ``max_message_bytes``, and at most 32 MiB.
            timeout: The timeout of each response in seconds. Default: the client's.

        Returns:
            The complete view.

        Raises:
            ToolCallsOpenError: Tool calls are open, and a rendered view or extra blocks need their results first.
            CompactordError: ``VIEW_INVALID``: The view would break a rule of the provider.
        """
        request = v1.GetLLMViewRequest(
            session_id=self._id,
            dialect=self._dialect,
            as_of=as_of,
            thinking=None if thinking is None else words.thinking(thinking),
            mark_cache_breakpoints=mark_cache_breakpoints,
            max_bytes=max_bytes or self._calls.settings.page_bytes,
            extra_blocks=extra_blocks,
        )
        view = await self._rest_of(self._kept if as_of is None else views.empty(self._dialect), request, timeout)
        if as_of is None:
            self._kept = view
        return view

    async def _rest_of(self, view: View, request: v1.GetLLMViewRequest, timeout: float | None, sent: int = 0) -> View:
        """Fetch what a view lacks, page by page. ``sent`` is how many messages the pages before had."""
        while True:
            request.view_token = view.token
            page = await self._calls.unary(self._calls.compactions.GetLLMView, request, timeout)
            view = view.joined(page, sent_before=sent)
            if view.complete:
                return view
            sent = view.messages_sent
