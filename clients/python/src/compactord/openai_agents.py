"""The adapter of the OpenAI Agents SDK, which the extra ``openai-agents`` of this package installs.

:class:`CompactordFilter` makes the input of each model call the view of a session, beside the program's own Agents
session. :class:`CompactordSession` is an Agents session itself, which keeps its items in the daemon's log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from agents.memory import SessionABC, SessionSettings
from agents.run import CallModelData, ModelInputData
from agents.tool_context import ToolContext

from agents import FunctionTool, RunConfig, RunContextWrapper, Tool, TResponseInputItem
from compactord._sync.client.session import Session
from compactord.openai_agents_items import items_of
from compactord.opened import checked
from compactord.recall_tools import RecallTool, neutral_tools
from compactord.warned import warn
from compactord.whole_list import synced_on_thread

_running: ContextVar[tuple[CompactordFilter, asyncio.Task[Any] | None]] = ContextVar("compactord_running")
"""The filter that was called last, and the task in which: the tools of the run begin with a copy of it."""


class CompactordFilter:
    """What a run sends to the model: the view of a session, in place of all items.

    Give it as ``call_model_input_filter`` of a ``RunConfig``. Take one filter for a conversation, and give it to each
    run of the conversation. An agent that is used as a tool inherits the configuration of the run. Its items are none
    of the conversation's: they are sent as they are.

    Attributes:
        session: The conversation's session.
        was_called: Whether a call of the model went through the filter, in the newest run where a
            :class:`CompactordSession` has the filter.
    """

    def __init__(self, session: Session) -> None:
        """Make a filter.

        Args:
            session: The conversation's session, with the dialect ``"openai_responses"`` and a policy with a context
                window: ``client.open_session(ID, dialect="openai_responses", policy={"context_window": 200_000})``.

        Raises:
            TypeError: This is no session of ``Client``, such as one of ``AsyncClient``.
            ValueError: The session has another dialect.
        """
        session = checked(session, Session, "session: must be a session of compactord.Client")
        if session.dialect != "openai_responses":
            raise ValueError(f"session: the dialect must be 'openai_responses', and is {session.dialect!r}")
        self.session = session
        self.was_called = False
        self._items: list[TResponseInputItem] = []
        self._begun: list[TResponseInputItem] = []

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """Bring the session in line with the items, compact where that is due, and return the view.

        Where the compaction fails, a :class:`compactord.CompactordWarning` says why, and the view is not compacted.

        Raises:
            SyncConflictError: Another process has written to the session what the items lack.
            UnavailableError: No daemon answers.
        """
        given = data.model_data
        self.was_called = True
        if self._is_another_agents(given.input):
            return given
        self._items, self._begun = list(given.input), []
        synced = await synced_on_thread(self.session, self._items, system=given.instructions or None)
        if synced.view is None:
            # Calls without outputs: the provider says what is wrong.
            return given
        request = synced.view.request()
        return ModelInputData(request["input"], given.instructions and request.get("instructions"))

    def begins_with(self, items: list[TResponseInputItem]) -> None:
        """Note what the next run begins with: after a compaction that is a view, and not the last call's items."""
        self._begun = list(items)

    def forget(self) -> None:
        """Forget the last call's items, which the session no longer holds: the next call is the conversation's."""
        self._items, self._begun = [], []

    def holds(self, items: list[TResponseInputItem]) -> bool:
        """Whether the items are the first of those of the last model call."""
        return self._items[: len(items)] == items

    def _is_another_agents(self, items: list[TResponseInputItem]) -> bool:
        """Whether this is a run within a tool of the conversation's run, which begins with another item.

        A later run of the conversation can look like one: its first turn is in a task of its own, within the task of
        the run before. What follows the first item may be another after an edit, or after a run that has failed.

        A list that a program has cut at its front cannot be told from the end of the list that a tool gives to its
        agent. So it is another agent's, and a warning says so: as the conversation's, it could put the log aside.
        """
        task = asyncio.current_task()
        outer, its_task = _running.get((None, None))
        if outer is self and its_task is not None and its_task is not task and not its_task.done():
            firsts = [*self._items[:1], *self._begun[:1]]
            if not firsts or any(item in firsts for item in items[:1]):
                return False
            if any(_without_id(item) in map(_without_id, self._items) for item in items[:1]):
                warn(
                    f"a list begins with a later item of session {self.session.id} than its own list, as that of an "
                    "agent in a tool may, so it is sent as it is: give runs of the conversation the whole list, and an "
                    "agent in a tool a run_config of its own"
                )
            return True
        _running.set((self, task))
        return False


class CompactordSession(SessionABC):
    """An Agents session that keeps its items in a session of the daemon, and gives runs its view.

    Give runs :attr:`model_input` as the ``call_model_input_filter``, too: without it nothing is ever compacted.
    """

    def __init__(self, session: Session) -> None:
        """Make a session.

        Args:
            session: As for :class:`CompactordFilter`.

        Raises:
            TypeError: As for :class:`CompactordFilter`.
            ValueError: The session has another dialect.
        """
        self.model_input = CompactordFilter(session)
        self.session_id = session.id
        self.session_settings = SessionSettings()
        self._session = session
        self._items: list[TResponseInputItem] | None = None

    # That all of these methods take the context of a run has the SDK give it to them.

    async def get_items(
        self, limit: int | None = None, *, wrapper: RunContextWrapper[Any] | None = None
    ) -> list[TResponseInputItem]:
        """Return the view: what came before its summary is in the log, but not here.

        Args:
            limit: Return only the newest items. Default: all.
            wrapper: The context of the run that begins with the items. Default: no run does.
        """
        if wrapper is not None and limit is None:
            self.model_input.was_called = False
        items = await self._read()
        self.model_input.begins_with(items)
        return items[-limit:] if limit else [] if limit == 0 else list(items)

    async def add_items(
        self, items: list[TResponseInputItem], *, wrapper: RunContextWrapper[Any] | None = None
    ) -> None:
        """Append items, which are on disk then. What a model call has appended already is not appended again.

        Where a model has answered in a run without the filter, a :class:`compactord.CompactordWarning` says so. By
        default, Python shows it once for a session.

        Args:
            items: The items.
            wrapper: The context of the run that adds them. Default: no run does.
        """
        held = await self._held()
        if wrapper is not None and not self.model_input.was_called and any(map(_is_answer, items)):
            warn(
                f"a run of session {self.session_id} has no filter, so it is not compacted: give each run both, the "
                "session and run_config=RunConfig(call_model_input_filter=session.model_input)"
            )
        items = [*held, *items]
        if not self.model_input.holds(items):
            await self._bring(items)
        self._items = items

    async def pop_item(self, *, wrapper: RunContextWrapper[Any] | None = None) -> TResponseInputItem | None:
        """Put aside the newest item, and return it; None where there is none. The log keeps it."""
        del wrapper
        held = await self._held()
        if not held:
            return None
        if len(held) == 1:
            await self.clear_session()
        else:
            await self._bring(held[:-1])
            self._items = held[:-1]
            self.model_input.forget()
        return held[-1]

    async def clear_session(self, *, wrapper: RunContextWrapper[Any] | None = None) -> None:
        """Put aside all items. The log keeps them."""
        del wrapper
        await asyncio.to_thread(self._session.clear)
        self._items = []
        self.model_input.forget()

    async def _held(self) -> list[TResponseInputItem]:
        return await self._read() if self._items is None else self._items

    async def _read(self) -> list[TResponseInputItem]:
        self._items = await asyncio.to_thread(items_of, self._session)
        return self._items

    async def _bring(self, items: list[TResponseInputItem]) -> None:
        await asyncio.to_thread(self._session.sync, items, compact=False, view=False)


def _without_id(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item without the id that the provider gave it, which runs may take from it."""
    return {name: value for name, value in item.items() if name != "id"}


def _is_answer(item: Mapping[str, Any]) -> bool:
    """Whether a model has made an item. What programs write as an answer has no type."""
    kind = item.get("type")
    return kind in ("function_call", "reasoning") or (kind == "message" and item.get("role") == "assistant")


def recall_tools() -> list[Tool]:
    """The tools ``recall_content`` and ``search_messages``, with which a model reads what the view leaves out.

    Give them to each agent: ``Agent(tools=[..., *recall_tools()])``. They read the session of the run's filter, so one
    agent has them for all conversations.
    """
    return [_made(tool) for tool in neutral_tools()]


def _made(tool: RecallTool) -> FunctionTool:
    async def call(context: ToolContext[Any], arguments: str) -> str:
        running = _filter_of(context.run_config)
        if running is None:
            raise ValueError(f"{tool.name}: give the run a CompactordFilter as its call_model_input_filter")
        return (await tool.output_on_thread(running.session, arguments)).text

    return FunctionTool(tool.name, tool.description, tool.parameters, call, strict_json_schema=False)


def _filter_of(config: RunConfig | None) -> CompactordFilter | None:
    """The filter of a run, which may be within a function of the program: then it is the one that was called last."""
    given = config.call_model_input_filter if config else None
    if given is None or isinstance(given, CompactordFilter):
        return given
    running, _its_task = _running.get((None, None))
    return running
