"""What the adapter of Google's ADK keeps of contents, and how it calls models."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai import types
from google.genai.errors import ClientError
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import PrivateAttr
from typing_extensions import override

import compactord
from compactord.google_adk import CompactordPlugin
from compactord.google_adk_contents import shown
from generated import texts
from programs import recordings

# Without edits of long results: the contents that come back are those that were given.
POLICY: Any = {"context_window": 10_000_000, "on_append": {}}
PICTURES = [
    types.Part(inline_data=types.Blob(mime_type="image/png", data=b"\xfb\xff a cat", display_name="cat.png")),
    types.Part(file_data=types.FileData(mime_type="video/mp4", file_uri="https://example.com/cat.mp4")),
]


@st.composite
def turns(draw: st.DrawFn, number: int) -> list[types.Content]:
    """What a user says, an answer with parallel calls, and one content with their responses."""
    asked = [types.Part(text=draw(texts())), *draw(st.lists(st.sampled_from(PICTURES), max_size=2))]
    turn = [types.Content(role="user", parts=asked)]
    named = draw(st.booleans())
    calls = [
        types.FunctionCall(
            id=f"adk-{number}-{at}" if named else None,
            name=f"look_{at}",
            args=draw(st.dictionaries(texts(), texts() | st.floats(allow_nan=False, allow_infinity=False), max_size=2)),
        )
        for at in range(draw(st.integers(0, 3)))
    ]
    said = [types.Part(text=draw(texts()))]
    if draw(st.booleans()):
        said.insert(0, types.Part(text=draw(texts()), thought=True, thought_signature=b"\xfb thought"))
    said += [
        types.Part(function_call=call, thought_signature=None if at else b"\xff\xfe sealed")
        for at, call in enumerate(calls)
    ]
    turn.append(types.Content(role="model", parts=said))
    if calls:
        results: list[dict[str, Any]] = [{"result": "A cat."}, {"rows": [number]}]
        responses = [
            types.FunctionResponse(id=call.id, name=call.name, response=draw(st.sampled_from(results)))
            for call in calls
        ]
        turn.append(types.Content(role="user", parts=[types.Part(function_response=one) for one in responses]))
        turn.append(types.Content(role="model", parts=[types.Part(text=draw(texts()), thought_signature=b"\xfe end")]))
    return turn


@st.composite
def conversations(draw: st.DrawFn) -> list[types.Content]:
    return [content for number in range(draw(st.integers(1, 4))) for content in draw(turns(number))]


def viewed(session: compactord.Session, contents: list[types.Content], *, thoughts: bool = True) -> list[types.Content]:
    synced = session.sync(elements(contents), compact=False)
    assert synced.view is not None
    return shown(synced.view.messages_json, contents, thoughts=thoughts)


@settings(deadline=None, max_examples=60)
@given(contents=conversations())
def test_contents_come_back_as_they_are(client: compactord.Client, contents: list[types.Content]) -> None:
    session = client.create_session(dialect="gemini", policy=POLICY)
    # The last content of a request is never the model's.
    contents = [*contents, types.Content(role="user", parts=[types.Part(text="Go on.")])]
    back = viewed(session, contents)
    assert all(one is other for one, other in zip(back, contents, strict=True))
    # Without the program's own ones, all but the thoughts is in the view.
    synced = session.sync(elements(contents), compact=False)
    assert (synced.appended, synced.put_aside) == (0, 0)
    assert synced.view is not None
    spoken = [
        types.Content(role=one.role, parts=[part for part in one.parts or [] if not part.thought]) for one in contents
    ]
    assert shown(synced.view.messages_json, [], thoughts=False) == spoken
    assert viewed(session, contents, thoughts=False) == spoken


def elements(contents: list[types.Content]) -> list[Any]:
    return [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in contents]


@pytest.mark.parametrize("name", recordings(), ids=lambda path: path.stem)
def test_recorded_conversations_come_back_as_they_are(client: compactord.Client, name: Path) -> None:
    contents = recorded([json.loads(line) for line in name.read_text(encoding="utf-8").splitlines()])
    session = client.create_session(dialect="gemini", policy=POLICY)
    back = viewed(session, contents)
    # Where a call has no response, the view has one that says so. Neighbours are one content.
    parts = [part for content in back for part in content.parts or []]
    assert all(part in parts for content in contents for part in content.parts or [])
    synced = session.sync(elements(contents), compact=False, view=False)
    assert (synced.appended, synced.put_aside) == (0, 0)


def recorded(lines: list[Any]) -> list[types.Content]:
    """A recorded conversation as contents, with the responses to the calls of one answer together."""
    made: list[types.Content] = []
    names: dict[str, str] = {}
    for line in lines:
        content = line.get("content") or ""
        if not isinstance(content, str):
            content = " ".join(part.get("text", "an image") for part in content)
        said = [types.Part(text=content)] if content.strip() else []
        match line["role"]:
            case "user" if said:
                made.append(types.Content(role="user", parts=said))
            case "assistant":
                for call in line.get("tool_calls") or []:
                    names[call["id"]] = call["function"]["name"]
                    said.append(types.Part(function_call=types.FunctionCall(id=call["id"], **arguments(call))))
                made += [types.Content(role="model", parts=said)] if said else []
            case "tool":
                one = line["tool_call_id"]
                response = types.FunctionResponse(id=one, name=names.get(one, "tool"), response={"result": content})
                part = types.Part(function_response=response)
                if made and made[-1].parts and made[-1].parts[-1].function_response:
                    made[-1].parts.append(part)
                else:
                    made.append(types.Content(role="user", parts=[part]))
            case _:
                pass
    # A request is never without the user's last word.
    return [*made, types.Content(role="user", parts=[types.Part(text="Go on.")])]


def arguments(call: Any) -> dict[str, Any]:
    try:
        read = json.loads(call["function"]["arguments"])
    except ValueError:
        read = {"text": call["function"]["arguments"]}
    return {"name": call["function"]["name"], "args": read if isinstance(read, dict) else {"value": read}}


class Scripted(BaseLlm):
    """A model that says what it is told to, and keeps what it was asked."""

    _answers: list[types.Content | Exception] = PrivateAttr(default_factory=list)
    _asked: list[list[types.Content]] = PrivateAttr(default_factory=list)

    @override
    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        said = self._answers.pop(0)
        if isinstance(said, Exception):
            raise said
        self._asked.append(llm_request.contents)
        yield LlmResponse(content=said)


def answering(*answers: str | types.Part | Exception) -> Scripted:
    made = Scripted(model="scripted")
    for one in answers:
        if isinstance(one, Exception):
            made._answers.append(one)
        else:
            part = types.Part(text=one) if isinstance(one, str) else one
            made._answers.append(types.Content(role="model", parts=[part]))
    return made


def asked(model: Scripted) -> list[list[types.Content]]:
    return model._asked


def call(name: str, **given: str) -> types.Part:
    return types.Part(function_call=types.FunctionCall(name=name, args=given))


def talk(agent: LlmAgent, plugin: CompactordPlugin, *messages: str) -> None:
    async def run() -> None:
        runner = InMemoryRunner(app=App(name="app", root_agent=agent, plugins=[plugin]))
        await runner.run_debug(list(messages), user_id="ada", session_id="one", quiet=True)
        await runner.close()

    asyncio.run(run())


def test_an_overflow_is_compacted_and_asked_once_more(client: compactord.Client) -> None:
    policy: Any = {"context_window": 100_000, "strategy": {"summarize": {"recent_tokens": 1_000}}}
    plugin = CompactordPlugin(client, policy=policy)
    message = "The input token count (200001) exceeds the maximum number of tokens allowed (200000)."
    overflow = ClientError(400, {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}})
    model = answering("word " * 5_000, "word " * 5_000, overflow, "Done.", "Yes.")
    talk(LlmAgent(name="overflow", model=model), plugin, "One.", "Two.", "Three.", "Sure?")
    assert len(str(asked(model)[-2])) < 20_000
    session = plugin.session(app_name="app", user_id="ada", session_id="one", agent="overflow")
    assert len(list(session.compactions())) == 1
    assert not list(session.records(kinds=["revert"]))
    assert texts_of(session)[-4:] == ["Three.", "Done.", "Sure?", "Yes."]


def texts_of(session: compactord.Session) -> list[str]:
    return [part.text.text for one in session.messages() for part in one.message.parts if part.HasField("text")]


def test_another_error_is_not_asked_again(client: compactord.Client) -> None:
    model = answering(ClientError(500, {"error": {"message": "The model is on holiday."}}), "Never said.")
    with pytest.raises(ClientError, match="holiday"):
        talk(LlmAgent(name="holiday", model=model), CompactordPlugin(client, policy=POLICY), "One.")


# The runner that ADK makes for an agent that is a tool takes its plugins in a way that ADK calls old.
@pytest.mark.filterwarnings("ignore:The `plugins` argument is deprecated")
def test_agents_have_sessions_of_their_own(client: compactord.Client) -> None:
    """One that is a tool of another one, and one to which the conversation is handed."""
    plugin = CompactordPlugin(client, policy=POLICY)
    tool = LlmAgent(name="tool", model=answering("I am the tool."), description="Helps.")
    heir = LlmAgent(name="heir", model=answering("I go on.", "Still here."), description="Goes on.")
    first = answering(call("tool", request="Look."), call("transfer_to_agent", agent_name="heir"))
    outer = LlmAgent(name="outer", model=first, instruction="Be brief.", tools=[AgentTool(tool)], sub_agents=[heir])
    talk(outer, plugin, "Ask.", "And now?")
    for agent, said in (("outer", "Ask."), ("heir", "And now?")):
        session = plugin.session(app_name="app", user_id="ada", session_id="one", agent=agent)
        assert said in texts_of(session)
        assert not list(session.records(kinds=["revert"]))
    assert texts_of(session)[-3:] == ["I go on.", "And now?", "Still here."]


def test_names_do_not_run_together(client: compactord.Client) -> None:
    plugin = CompactordPlugin(client, policy=POLICY)
    one = plugin.session(app_name="app", user_id="ada/one", session_id="two", agent="reader")
    other = plugin.session(app_name="app", user_id="ada", session_id="one/two", agent="reader")
    assert one.id != other.id


def test_the_model_looks_up_its_own_conversation(client: compactord.Client) -> None:
    plugin = CompactordPlugin(client, policy=POLICY)
    for own, other in (("hall-7", "hall-8"), ("hall-8", "hall-7")):
        lookups = [call("search_messages", words="crate"), call("recall_content", refrence="#0")]
        model = answering(*lookups, "Done.")
        agent = LlmAgent(name=own.replace("-", "_"), model=model, tools=plugin.recall_tools())
        talk(agent, plugin, f"The crate is in {own}.")
        responses = [part.function_response for content in asked(model)[-1] for part in content.parts or []]
        found, wrong = [one.response or {} for one in responses if one]
        assert own in found["output"] and other not in found["output"]
        assert wrong["error"].startswith("Nothing was read: ")


def test_a_session_of_too_few_names_says_what_it_takes(client: compactord.Client) -> None:
    session: Any = CompactordPlugin(client, policy=POLICY).session
    with pytest.raises(TypeError, match="'user_id', 'session_id', and 'agent'"):
        session("support-42")
