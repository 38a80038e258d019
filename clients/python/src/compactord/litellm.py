"""The adapter of LiteLLM's proxy, which the extra ``litellm`` of this package installs.

:class:`CompactordCallback` sends models the view of a session in place of all messages of a request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from litellm.integrations.custom_logger import CustomLogger
from typing_extensions import override

from compactord._sync.client.client import Client
from compactord._sync.client.session import Session
from compactord.opened import OpenedSessions
from compactord.warned import warn
from compactord.whole_list import made_room, session_id, synced_on_thread
from compactord.words import Dialect, Policy

if TYPE_CHECKING:
    from litellm.proxy._types import UserAPIKeyAuth

_DIALECTS: Mapping[str, tuple[Dialect, str, str | None]] = {
    "completion": ("openai_chat", "messages", None),
    "acompletion": ("openai_chat", "messages", None),
    "anthropic_messages": ("anthropic", "messages", "system"),
    "aresponses": ("openai_responses", "input", "instructions"),
}
"""Of each kind of call: its dialect, and the fields of the request with the list and with the system prompt."""


def session_of_metadata(data: Mapping[str, Any]) -> str | None:
    """The session that a request names: by ``session_id`` of its metadata, or by a header that LiteLLM reads."""
    for field in ("metadata", "litellm_metadata"):
        held = data.get(field)
        if isinstance(held, Mapping):
            if held.get("litellm_session_id_generated"):
                return None
            if named := held.get("session_id"):
                return str(named)
    return data.get("litellm_session_id")


class CompactordCallback(CustomLogger):
    """What models are sent: the view of a session, in place of all messages of a request.

    A request that names no session is sent as it is, and of the first one a :class:`compactord.CompactordWarning` says
    so. The sessions of one user of the proxy are apart from those of others; without users, those of one key are.
    """

    def __init__(
        self,
        client: Client,
        *,
        policy: Policy,
        session: Callable[[Mapping[str, Any]], str | None] = session_of_metadata,
    ) -> None:
        """Make a callback.

        Args:
            client: The client of a daemon.
            policy: When and how sessions are compacted. It should have at least ``{"context_window": 200_000}``, where
                200,000 is the smallest window of the models. A conversation that exists with another one
                gets it.
            session: Names the conversation of a request, or says by None that it has none. Default: by its metadata.
        """
        super().__init__()
        self._client = client
        self._named = session
        self._has_warned = session is not session_of_metadata
        self._sessions = OpenedSessions(client, policy)

    @override
    async def async_pre_call_hook(
        self, user_api_key_dict: UserAPIKeyAuth, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        """Bring the session in line with the messages, compact where that is due, and send the view.

        Raises:
            SyncConflictError: Another client has written to the session what the messages lack.
            UnavailableError: No daemon answers.
        """
        _, listed, system = _DIALECTS.get(call_type, ("openai_chat", "", None))
        if not isinstance(data.get(listed), list) or data.get("previous_response_id"):
            return data
        session = await self._session_of(user_api_key_dict, data, call_type)
        if session is None:
            self._warn_of_no_session()
            return data
        synced = await synced_on_thread(session, data[listed], system=data.get(system) if system else None)
        # Calls without results: the provider says what is wrong.
        return data if synced.view is None else synced.view.request(**data)

    @override
    async def async_post_call_failure_hook(
        self,
        request_data: dict[str, Any],
        original_exception: Exception,
        user_api_key_dict: UserAPIKeyAuth,
        traceback_str: str | None = None,
    ) -> None:
        """Compact the session where the provider says that the context is too long, so that the next request fits."""
        if not _has_conversation(request_data):
            return
        session = await self._session_of(user_api_key_dict, request_data, "acompletion")
        if session is not None:
            await asyncio.to_thread(made_room, self._client, session, original_exception)

    def _warn_of_no_session(self) -> None:
        """Warn once: a proxy may have clients that need no session."""
        if not self._has_warned:
            self._has_warned = True
            warn(
                "a request names no session, so it is sent as it is, without compaction: have the client send the "
                "header x-litellm-session-id"
            )

    async def _session_of(self, user: UserAPIKeyAuth, data: Mapping[str, Any], call_type: str) -> Session | None:
        named = self._named(data)
        if not named:
            return None
        # Whoever chooses the one name cannot make another one of it.
        owner = user.user_id or user.token or ""
        name = session_id(f"{quote(owner, safe='')}/{quote(named, safe='')}")
        return await asyncio.to_thread(self._sessions.get, name, dialect=_DIALECTS[call_type][0])


def _has_conversation(data: Mapping[str, Any]) -> bool:
    """Whether a failed request has the whole list of a conversation. The input of embeddings is a list of texts."""
    if data.get("previous_response_id"):
        return False
    listed = data.get("messages", data.get("input"))
    return isinstance(listed, list) and all(isinstance(one, Mapping) for one in cast("list[object]", listed))
