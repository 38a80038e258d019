"""The adapter of LangChain and LangGraph, which the extra ``langchain`` of this package installs.

:class:`CompactordMiddleware` gives an agent's model the view of a session in place of all messages of the thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain_core.messages import AnyMessage, SystemMessage
from langchain_core.tools import BaseTool, ToolException
from langgraph.config import get_config
from langgraph.runtime import Runtime
from pydantic import PrivateAttr
from typing_extensions import override

from compactord import v1
from compactord._sync.client.client import Client
from compactord._sync.client.session import Session
from compactord.langchain_messages import neutral, shown
from compactord.opened import OpenedSessions
from compactord.recall_tools import RecallTool, neutral_tools
from compactord.whole_list import made_room, session_id, synced, synced_on_thread
from compactord.words import Policy

_INSTRUCTIONS = (v1.Role.ROLE_SYSTEM, v1.Role.ROLE_DEVELOPER)


class CompactordMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """What a model is sent: the view of a session, in place of all messages of the thread.

    The state of the graph keeps all messages, as without it. Each thread is a session of its own, with the thread's id;
    so is each call of an agent that is a tool of another one. Put it first among the middleware: then what others add
    for one call alone does not come into the log.

    It brings the agent the tools ``recall_content`` and ``search_messages``, with which the model reads what the view
    leaves out.
    """

    def __init__(self, client: Client, *, policy: Policy, recall: bool = True) -> None:
        """Make a middleware.

        Args:
            client: The client of a daemon.
            policy: When and how sessions are compacted. It should have at least ``{"context_window": 200_000}``. A
                thread that exists with another one gets it.
            recall: Whether the agent gets the tools. Leave them out for a model that takes none.
        """
        super().__init__()
        self._client = client
        self._sessions = OpenedSessions(client, policy)
        self.tools = [_Tool(tool, self.session) for tool in neutral_tools()] if recall else []

    def session(self, thread_id: str) -> Session:
        """The session of a thread, to read its log, to pin messages, or to go back. It is made where there is none."""
        return self._sessions.get(session_id(thread_id))

    @override
    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Bring the thread's session in line with its messages, compact where that is due, and send the view.

        Where the provider says that the context is too long, the session is compacted and the model called once more.

        Raises:
            ValueError: The configuration has no thread.
            SyncConflictError: Another process has written to the session what the messages lack.
            UnavailableError: No daemon answers.
        """
        session = self.session(_thread())
        made = synced(session, _listed(request.messages, request.system_message))
        try:
            return handler(_viewed(request, made.messages))
        except Exception as error:
            if not made_room(self._client, session, error):
                raise
        return handler(_viewed(request, session.view().messages))

    @override
    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Do the same in an event loop."""
        session = await asyncio.to_thread(self.session, _thread())
        made = await synced_on_thread(session, _listed(request.messages, request.system_message))
        try:
            return await handler(_viewed(request, made.messages))
        except Exception as error:
            if not await asyncio.to_thread(made_room, self._client, session, error):
                raise
        return await handler(_viewed(request, (await asyncio.to_thread(session.view)).messages))

    @override
    def after_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Append the last answer, which no model call follows."""
        session = self.session(_thread())
        session.sync(_listed(state["messages"], None), compact=False, view=False)

    @override
    async def aafter_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Do the same in an event loop."""
        session = await asyncio.to_thread(self.session, _thread())
        await asyncio.to_thread(session.sync, _listed(state["messages"], None), compact=False, view=False)


class _Tool(BaseTool):
    """A tool that reads the session of the thread in which it is called."""

    _tool: RecallTool = PrivateAttr()
    _session: Callable[[str], Session] = PrivateAttr()

    def __init__(self, tool: RecallTool, session: Callable[[str], Session]) -> None:
        super().__init__(
            name=tool.name, description=tool.description, args_schema=tool.parameters, handle_tool_error=True
        )
        self._tool = tool
        self._session = session

    @override
    def _run(self, **arguments: Any) -> str:
        output = self._tool.output(self._session(_thread()), arguments)
        if output.is_error:
            raise ToolException(output.text)
        return output.text


def _thread() -> str:
    """What the messages belong to: the thread, and the call of a tool within which the agent runs."""
    configurable: Mapping[str, Any] = get_config().get("configurable") or {}
    thread = configurable.get("thread_id")
    if not thread:
        raise ValueError('give the thread: config={"configurable": {"thread_id": "..."}}')
    outer = str(configurable.get("checkpoint_ns") or "").split("|")[:-1]
    return "|".join([str(thread), *outer])


def _listed(messages: list[AnyMessage], system: SystemMessage | None) -> list[v1.Message]:
    return [neutral(message) for message in ([system] if system else []) + messages]


def _viewed(request: ModelRequest[Any], view: list[v1.ViewMessage] | None) -> ModelRequest[Any]:
    """The request with the messages of a view. Its instructions are those of the request."""
    rest = view or []
    while rest and rest[0].message.role in _INSTRUCTIONS:
        rest = rest[1:]
    return request.override(messages=shown(rest, request.messages))
