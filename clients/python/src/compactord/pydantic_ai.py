"""The adapter of Pydantic AI, which the extra ``pydantic-ai`` of this package installs.

:class:`CompactordCapability` gives an agent's model the view of a session in place of all messages of a conversation.
"""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

from pydantic_ai import FunctionToolset, RunContext, Tool
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import RetryModelRequest
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.run import AgentRunResult
from typing_extensions import override

from compactord import messages
from compactord._sync.client.client import Client
from compactord._sync.client.session import Session
from compactord.opened import OpenedSessions
from compactord.pydantic_ai_messages import neutral, shown
from compactord.recall_tools import RecallTool, neutral_tools
from compactord.whole_list import made_room, session_id, synced_on_thread
from compactord.words import Policy


class CompactordCapability(AbstractCapability[Any]):
    """What a model is sent: the view of a session, in place of all messages of the conversation.

    The run's history keeps all messages, as without it. Each conversation is a session of its own, with the
    conversation's id; so is each run of another agent within a tool.

    It brings the agent the tools ``recall_content`` and ``search_messages``, with which the model reads what the view
    leaves out.
    """

    def __init__(self, client: Client, *, policy: Policy, recall: bool = True) -> None:
        """Make a capability.

        Args:
            client: The client of a daemon.
            policy: When and how sessions are compacted. It should have at least ``{"context_window": 200_000}``. A
                conversation that exists with another one gets it.
            recall: Whether the agent gets the tools. Leave them out for a model that takes none.
        """
        self._client = client
        self._sessions = OpenedSessions(client, policy)
        made = [self._made(tool) for tool in neutral_tools()]
        self._toolset: FunctionToolset[Any] | None = FunctionToolset(made, id="compactord") if recall else None

    def session(self, conversation_id: str) -> Session:
        """The session of a conversation, to read its log, to pin, or to go back. It is made where there is none."""
        return self._sessions.get(session_id(conversation_id))

    @override
    def get_toolset(self) -> FunctionToolset[Any] | None:
        """The tools that read the conversation's session."""
        return self._toolset

    def _made(self, tool: RecallTool) -> Tool[Any]:
        async def call(ctx: RunContext[Any], /, **arguments: Any) -> str:
            return (await tool.output_on_thread(await self._session_of(ctx), arguments)).text

        return Tool.from_schema(call, tool.name, tool.description, tool.parameters, takes_ctx=True)

    @override
    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Bring the session in line with the messages, compact where that is due, and send the view.

        Raises:
            SyncConflictError: Another process has written to the session what the messages lack.
            UnavailableError: No daemon answers.
        """
        session = await self._session_of(ctx)
        own = list(request_context.messages)
        listed = neutral(own)
        instructions = request_context.model_request_parameters.instruction_parts or []
        if text := "\n\n".join(part.content for part in instructions if part.content):
            listed = [messages.system(text), *listed]
        synced = await synced_on_thread(session, listed)
        return dataclasses.replace(request_context, messages=shown(synced.messages or [], own))

    @override
    async def on_model_request_error(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, error: Exception
    ) -> ModelResponse:
        """Compact the session where the provider says that the context is too long, and ask once more."""
        if request_context.attempt > 1:
            raise error
        session = await self._session_of(ctx)
        if await asyncio.to_thread(made_room, self._client, session, error):
            raise RetryModelRequest
        raise error

    @override
    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Append the last answer, which no model call follows."""
        session = await self._session_of(ctx)
        await asyncio.to_thread(session.sync, neutral(result.all_messages()), compact=False, view=False)
        return result

    async def _session_of(self, ctx: RunContext[Any]) -> Session:
        if not ctx.conversation_id:
            raise ValueError("the run has no conversation_id")
        return await asyncio.to_thread(self.session, ctx.conversation_id)
