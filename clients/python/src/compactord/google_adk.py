"""The adapter of Google's Agent Development Kit, which the extra ``google-adk`` of this package installs.

:class:`CompactordPlugin` gives the models of an app the view of a session in place of all contents.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.llm_agent import ToolUnion
from google.adk.models import Gemini
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins import BasePlugin
from google.adk.tools import BaseTool, ToolContext
from google.genai import types
from typing_extensions import override

from compactord._sync.client.client import Client
from compactord._sync.client.session import Session
from compactord.google_adk_contents import element, instruction, shown
from compactord.opened import OpenedSessions
from compactord.recall_tools import RecallTool, neutral_tools
from compactord.view import View
from compactord.whole_list import made_room, session_id, synced_on_thread
from compactord.words import Policy


class CompactordPlugin(BasePlugin):
    """What models are sent: the view of a session, in place of all contents of the conversation.

    ADK's own session keeps all events, as without it. Each agent that has a model of its own sees other contents, so
    each has a session for each conversation. Put it first among the plugins: then what others add for one call alone
    does not come into the log.
    """

    def __init__(self, client: Client, *, policy: Policy, name: str = "compactord") -> None:
        """Make a plugin.

        Args:
            client: The client of a daemon.
            policy: When and how sessions are compacted. It should have at least ``{"context_window": 1_000_000}``. A
                conversation that exists with another one gets it.
            name: The name of the plugin in its app.
        """
        super().__init__(name)
        self._client = client
        self._sessions = OpenedSessions(client, policy)

    def session(self, app_name: str, user_id: str, session_id: str, agent: str) -> Session:
        """The session of an agent in a conversation, to read its log, to pin, or to go back.

        It is made where there is none. The first three arguments are those of ``get_session`` of ADK's services.

        Args:
            app_name: The name of the app.
            user_id: The user.
            session_id: The id of ADK's session.
            agent: The name of the agent.
        """
        return self._opened([app_name, user_id, session_id, agent])

    def recall_tools(self) -> list[ToolUnion]:
        """The tools ``recall_content`` and ``search_messages``, with which a model reads what the view leaves out.

        Give them to each agent: ``LlmAgent(tools=[..., *window.recall_tools()])``. They read the session of the agent
        that calls them, in the conversation in which it does.
        """
        return [_Tool(tool, self._session_of) for tool in neutral_tools()]

    @override
    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        """Bring the session in line with the contents, compact where that is due, and send the view.

        ADK raises what a plugin raises as the cause of a ``RuntimeError``.

        Raises:
            SyncConflictError: Another process has written to the session what the contents lack.
            UnavailableError: No daemon answers.
        """
        own = llm_request.contents
        if not own:
            return
        session = await asyncio.to_thread(self._session_of, callback_context)
        system = instruction(llm_request.config.system_instruction)
        synced = await synced_on_thread(session, [element(one) for one in own], system=system)
        if synced.view is not None:
            _show(synced.view, llm_request, callback_context)

    @override
    async def after_model_callback(self, *, callback_context: CallbackContext, llm_response: LlmResponse) -> None:
        """Append the last answer, which no model call follows, with the usage that the provider reports."""
        content = llm_response.content
        if llm_response.partial or not content or not content.parts or llm_response.get_function_calls():
            return
        answer: dict[str, Any] = {"candidates": [{"content": element(content)}]}
        if usage := llm_response.usage_metadata:
            answer["usageMetadata"] = usage.model_dump(mode="json", by_alias=True, exclude_none=True)
        session = await asyncio.to_thread(self._session_of, callback_context)
        await asyncio.to_thread(session.append, answer, model=llm_response.model_version or "")

    @override
    async def on_model_error_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest, error: Exception
    ) -> LlmResponse | None:
        """Compact the session where the provider says that the context is too long, and ask once more."""
        agent = callback_context.get_invocation_context().agent
        session = await asyncio.to_thread(self._session_of, callback_context)
        if not isinstance(agent, LlmAgent) or not await asyncio.to_thread(made_room, self._client, session, error):
            return None
        _show(await asyncio.to_thread(session.view), llm_request, callback_context)
        # ADK hands the answer to after_model_callback, too.
        return [one async for one in agent.canonical_model.generate_content_async(llm_request)][-1]

    def _session_of(self, context: CallbackContext) -> Session:
        # Where agents work side by side, or one in a task of its own, each has contents of its own.
        apart = [one for one in (context.branch, context.isolation_scope) if one]
        kept = context.session
        return self._opened([kept.app_name, kept.user_id, kept.id, context.agent_name, *apart])

    def _opened(self, names: Sequence[str]) -> Session:
        # Whoever chooses one name cannot make another one of it.
        return self._sessions.get(session_id("/".join(quote(one, safe="") for one in names)), dialect="gemini")


class _Tool(BaseTool):
    """A tool that reads the session of the agent that calls it."""

    def __init__(self, tool: RecallTool, session: Callable[[CallbackContext], Session]) -> None:
        super().__init__(name=tool.name, description=tool.description)
        self._tool = tool
        self._session = session

    @override
    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self._tool.parameters
        )

    @override
    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> dict[str, str]:
        session = await asyncio.to_thread(self._session, tool_context)
        output = await self._tool.output_on_thread(session, args)
        return {"error" if output.is_error else "output": output.text}


def _show(view: View, request: LlmRequest, context: CallbackContext) -> None:
    agent = context.get_invocation_context().agent
    is_gemini = isinstance(agent, LlmAgent) and isinstance(agent.canonical_model, Gemini)
    request.contents = shown(view.messages_json, request.contents, thoughts=not is_gemini)
    if request.config.system_instruction and view.system:
        (system,) = view.system
        request.config.system_instruction = "\n\n".join(part["text"] for part in system["parts"])
