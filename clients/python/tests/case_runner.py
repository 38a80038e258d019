"""Runs a case of the table with a client, be it synchronous or asynchronous."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar, cast

from google.protobuf import json_format
from google.protobuf.message import Message

import compactord
from case_table import Answers, Case, Json, failure
from compactord import v1

Client: TypeAlias = compactord.Client | compactord.AsyncClient
Session: TypeAlias = compactord.Session | compactord.AsyncSession
Tools: TypeAlias = compactord.AgentTools | compactord.AsyncAgentTools
Step: TypeAlias = Callable[["Runner", Json], Awaitable[Json]]
T = TypeVar("T")
M = TypeVar("M", bound=Message)

Key: TypeAlias = tuple[str, str | None, str]

_OWN = frozenset({"do", "session", "dialect", "program", "fails", "leave_out"})


class Runner:
    """What a program would keep between the steps of a case: its session objects and their last views."""

    def __init__(self, client: Client, case: Case) -> None:
        self.client = client
        self.plan = v1.PlanCompactionResponse()
        self._case = case
        self.list_state = ""
        """The state of the last list that was compacted without a session."""
        self._sessions: dict[Key, Session] = {}
        self._views: dict[Key, compactord.View] = {}
        self._tools: dict[Key, Tools] = {}

    async def run(self, steps: Mapping[str, Step]) -> list[Json]:
        """Run the case. Its sessions are deleted behind it.

        Args:
            steps: What can be done, by its name.

        Returns:
            What its steps answer.
        """
        answers: list[Json] = []
        comparable = Answers().comparable
        try:
            for step in self._case.steps:
                answers.append(comparable(await self._answer(steps[step["do"]], step), step.get("leave_out", ())))
            return answers
        finally:
            for session_id in {session_id for session_id, _, _ in self._sessions}:
                with contextlib.suppress(compactord.SessionNotFoundError, compactord.InvalidRequestError):
                    await settled(self.client.delete_session(session_id))

    async def _answer(self, does: Step, step: Json) -> Json:
        try:
            return await does(self, step)
        except compactord.CompactordError as error:
            if not step.get("fails"):
                raise
            return failure(error)

    def session(self, step: Json) -> Session:
        """The session object of the step's session, dialect and program."""
        key = self._key(step)
        if key not in self._sessions:
            self._sessions[key] = self.client.session(key[0], dialect=cast(Any, key[1]))
        return self._sessions[key]

    def dialect(self, step: Json) -> Any:
        """The dialect of a step; None for neutral messages."""
        return step.get("dialect", self._case.dialect) or None

    def keep_session(self, step: Json, session: Session) -> None:
        """Keep a session object that a step made, in place of one that there was."""
        self._sessions[session.id, self.dialect(step), ""] = session

    def tools(self, step: Json) -> Tools:
        """The agent's tools of the step's session object."""
        key, session = self._key(step), self.session(step)
        if key not in self._tools:
            self._tools[key] = (
                compactord.AgentTools(session, dmail=True, fold=True)
                if isinstance(session, compactord.Session)
                else compactord.AsyncAgentTools(session, dmail=True, fold=True)
            )
        return self._tools[key]

    def keep_view(self, step: Json, view: compactord.View) -> None:
        """Keep the last view of a session object."""
        self._views[self._key(step)] = view

    def last_view(self, step: Json) -> compactord.View | None:
        """The last view of the step's session object."""
        return self._views.get(self._key(step))

    def _key(self, step: Json) -> Key:
        return step["session"], self.dialect(step), step.get("program", "")


async def settled(value: Awaitable[T] | T) -> T:
    """What a call of either client answers."""
    if inspect.isawaitable(value):
        return await cast("Awaitable[T]", value)
    return value


async def everything(items: Iterable[T] | AsyncIterable[T]) -> list[T]:
    """All that either client goes through."""
    if isinstance(items, AsyncIterable):
        return [item async for item in items]
    return list(items)


def request(step: Json, message: M, *but: str) -> M:
    """A request of those arguments of a step that are fields of it."""
    fields = {name: value for name, value in step.items() if name not in _OWN.union(but)}
    return json_format.ParseDict(fields, message)


def content(step: Json) -> list[compactord.Appendable]:
    """What a step appends: neutral messages, a provider's values, or a provider's text."""
    if "messages" in step:
        return [_neutral(given) for given in step["messages"]]
    if "raw" in step:
        return [step["raw"].encode()]
    return step["items"] if "items" in step else [step["json"]]


def _neutral(given: Any) -> compactord.Appendable:
    match given:
        case str():
            return given
        case {"system": text}:
            return compactord.system(text)
        case {"developer": text}:
            return compactord.developer(text)
        case {"user": text}:
            return compactord.user(text)
        case {"assistant": text}:
            return compactord.assistant(text)
        case {"tool_result": {"call_id": call, "text": text}}:
            return compactord.tool_result(call, text, is_error=given["tool_result"].get("is_error", False))
        case _:
            return json_format.ParseDict(given, v1.Message())
