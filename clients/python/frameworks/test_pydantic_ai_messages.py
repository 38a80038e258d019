"""What the adapter of Pydantic AI keeps of messages, and how it calls models."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai import Agent, ModelMessagesTypeAdapter
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryFeedbackPart,
    RetryInfo,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

import compactord
from compactord import v1
from compactord.pydantic_ai import CompactordCapability
from compactord.pydantic_ai_messages import neutral, shown
from generated import texts
from programs import recordings

# Without edits of long results: the messages that come back are those that were given.
POLICY: Any = {"context_window": 10_000_000, "on_append": {}}


@st.composite
def turns(draw: st.DrawFn, number: int) -> list[ModelMessage]:
    """A prompt, an answer with parallel calls, and one request with their results."""
    image = draw(
        st.sampled_from([ImageUrl("https://example.com/cat.png"), BinaryContent(b"cat", media_type="image/png")])
    )
    prompt: Any = draw(st.one_of(texts(), texts().map(lambda text: [text, image])))
    asked: list[Any] = [UserPromptPart(prompt)]
    if number == 0 and draw(st.booleans()):
        asked.insert(0, SystemPromptPart(draw(texts())))
    said: list[Any] = [TextPart(draw(texts()), id=f"msg_{number}", provider_name="openai")]
    if draw(st.booleans()):
        said.insert(0, ThinkingPart(draw(texts()), signature="sealed", provider_name="anthropic"))
    # Ids of calls need not be the only ones of their kind, nor do texts.
    ids = [f"call_{at}" for at in range(draw(st.integers(0, 3)))]
    for one in ids:
        arguments: Any = draw(st.dictionaries(texts(), texts(), max_size=2))
        said.append(ToolCallPart("look", draw(st.sampled_from([arguments, json.dumps(arguments)])), one))
    answer = ModelResponse(said, usage=RequestUsage(input_tokens=9, output_tokens=5), model_name="m")
    returns: list[Any] = []
    for one in ids:
        content: Any = draw(st.one_of(texts(), st.just({"rows": [number]}), st.just(["A cat:", image])))
        outcome: Any = draw(st.sampled_from(["success", "failed", "denied", "retried"]))
        returns.append(ToolReturnPart("look", content, one, metadata={"kept": number}, outcome=outcome))
    if not returns:
        return [ModelRequest(asked), answer]
    if draw(st.booleans()):
        returns.append(RetryFeedbackPart("Once more.", retry=RetryInfo("model_retry")))
    return [ModelRequest(asked), answer, ModelRequest(returns), ModelResponse([TextPart(draw(texts()))])]


@st.composite
def conversations(draw: st.DrawFn) -> list[ModelMessage]:
    return [message for number in range(draw(st.integers(1, 4))) for message in draw(turns(number))]


def viewed(session: compactord.Session, messages: list[ModelMessage]) -> list[ModelMessage]:
    synced = session.sync(neutral(messages), compact=False)
    assert synced.messages is not None
    return shown(synced.messages, messages)


@settings(deadline=None, max_examples=60)
@given(messages=conversations())
def test_messages_come_back_as_they_are(client: compactord.Client, messages: list[ModelMessage]) -> None:
    session = client.create_session(policy=POLICY)
    before = ModelMessagesTypeAdapter.dump_json(messages)
    back = viewed(session, messages)
    assert ModelMessagesTypeAdapter.dump_json(back) == before
    assert all(one is other for one, other in zip(back, messages, strict=True))
    # What a program has stored and read is the same conversation.
    again = ModelMessagesTypeAdapter.validate_json(before)
    synced = session.sync(neutral(again), compact=False, view=False)
    assert (synced.appended, synced.put_aside) == (0, 0)


@settings(deadline=None, max_examples=100)
@given(messages=conversations())
def test_a_message_that_was_made_anew_says_the_same(messages: list[ModelMessage]) -> None:
    said = neutral(messages)
    anew = shown([v1.ViewMessage(message=message) for message in said], [])
    plain = [message for message in said if message.role != v1.Role.ROLE_SYSTEM]
    for one, other in zip(neutral(anew), plain, strict=True):
        if one.role == v1.Role.ROLE_TOOL:
            # Data is text then, and of a result the files are not made anew.
            assert one.parts[0].tool_result.call_id == other.parts[0].tool_result.call_id
        else:
            assert list(one.parts) == list(other.parts)


@pytest.mark.parametrize("name", recordings(), ids=lambda path: path.stem)
def test_recorded_messages_come_back_as_they_are(client: compactord.Client, name: Path) -> None:
    messages = [made for line in name.read_text(encoding="utf-8").splitlines() if (made := recorded(json.loads(line)))]
    session = client.create_session(policy=POLICY)
    back = viewed(session, messages)
    # All parts are there, in their order. Where a call has no result, the view has one that says so between them.
    places = {id(part): place for place, part in enumerate(part for message in back for part in message.parts)}
    found = [places[id(part)] for message in messages for part in message.parts]
    assert found == sorted(found)
    synced = session.sync(neutral(messages), compact=False, view=False)
    assert (synced.appended, synced.put_aside) == (0, 0)


def recorded(line: Any) -> ModelMessage | None:
    """A recorded message as one of Pydantic AI."""
    content = line.get("content") or ""
    if not isinstance(content, str):
        content = " ".join(part.get("text", "an image") for part in content)
    match line["role"]:
        case "user" if content.strip():
            return ModelRequest([UserPromptPart(content)])
        case "assistant":
            said: list[Any] = [TextPart(content)] if content.strip() else []
            calls = line.get("tool_calls") or []
            said += [ToolCallPart(one["function"]["name"], one["function"]["arguments"], one["id"]) for one in calls]
            return ModelResponse(said) if said else None
        case "tool":
            return ModelRequest([ToolReturnPart(line.get("name") or "tool", content, line["tool_call_id"])])
        case _:
            return None


def test_what_a_view_shows_shorter_is_a_copy(client: compactord.Client) -> None:
    policy: Any = {
        "strategy": {"summarize": {"recent_tokens": 1_000}},
        "prune_strategy": {"hide_tool_results": {"keep_groups": 1}},
    }
    session = client.create_session(policy=policy)
    messages: list[ModelMessage] = []
    for number in range(8):
        long = f"Result {number}. " + "word " * 2_000
        messages += [
            ModelRequest([UserPromptPart(f"Look {number}.")]),
            ModelResponse([ThinkingPart("Hm.", signature="sealed"), ToolCallPart("look", {}, f"call_{number}")]),
            ModelRequest([ToolReturnPart("look", long, f"call_{number}", metadata=number)]),
            ModelResponse([TextPart(f"Seen {number}.")]),
        ]
    viewed(session, messages)
    session.prune()
    back = viewed(session, messages)
    assert len(back) == len(messages)
    (shorter,) = back[2].parts
    assert isinstance(shorter, ToolReturnPart)
    assert (shorter.tool_call_id, shorter.metadata) == ("call_0", 0)
    assert len(str(shorter.content)) < 200
    assert session.compact()
    back = viewed(session, messages)
    assert len(back) < len(messages)
    assert back[-1] is messages[-1]


def answering(*answers: str | Exception) -> tuple[FunctionModel, list[list[ModelMessage]]]:
    """Pydantic AI's model for tests, and what it was asked."""
    asked: list[list[ModelMessage]] = []
    rest = iter(answers)

    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        said = next(rest)
        if isinstance(said, Exception):
            raise said
        asked.append(messages)
        return ModelResponse([TextPart(said)])

    return FunctionModel(answer), asked


def test_an_overflow_is_compacted_and_asked_once_more(client: compactord.Client) -> None:
    policy: Any = {"context_window": 100_000, "strategy": {"summarize": {"recent_tokens": 1_000}}}
    capability = CompactordCapability(client, policy=policy)
    overflow = ModelHTTPError(400, "m", "prompt is too long: 200001 tokens > 200000 maximum")
    model, asked = answering("word " * 5_000, "word " * 5_000, overflow, "Done.")
    agent = Agent(model, capabilities=[capability])

    async def talk() -> list[ModelMessage]:
        history: list[ModelMessage] = []
        for text in ("One.", "Two.", "Three."):
            result = await agent.run(text, message_history=history, conversation_id="overflow")
            history = result.all_messages()
        assert result.output == "Done."
        return history

    assert len(asyncio.run(talk())) == 6
    assert len(str(asked[-1])) < 20_000
    assert len(list(capability.session("overflow").compactions())) == 1


def test_another_error_is_not_asked_again(client: compactord.Client) -> None:
    model, _ = answering(ModelHTTPError(500, "m", "The model is on holiday."), "Never said.")
    agent = Agent(model, capabilities=[CompactordCapability(client, policy=POLICY)])
    with pytest.raises(ModelHTTPError, match="holiday"):
        asyncio.run(agent.run("One."))


def test_an_agent_within_a_tool_has_a_session_of_its_own(client: compactord.Client) -> None:
    capability = CompactordCapability(client, policy=POLICY)
    inner = Agent(answering("I am the inner one.")[0], capabilities=[capability])

    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        if len(messages) == 1:
            return ModelResponse([ToolCallPart("ask_inner", {"text": "Look."}, "call_1")])
        return ModelResponse([TextPart("Done.")])

    outer = Agent(FunctionModel(answer), instructions="Be brief.", capabilities=[capability])

    @outer.tool_plain
    async def ask_inner(text: str) -> str:
        return (await inner.run(text)).output

    asyncio.run(outer.run("Ask.", conversation_id="outer"))
    session = capability.session("outer")
    kinds = [part.WhichOneof("kind") for one in session.messages() for part in one.message.parts]
    assert kinds == ["text", "text", "tool_call", "tool_result", "text"]
    assert not list(session.records(kinds=["revert"]))


@pytest.mark.parametrize("recall", [True, False])
def test_the_model_looks_up_its_own_conversation(client: compactord.Client, recall: bool) -> None:
    offered: list[set[str]] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        offered.append({tool.name for tool in info.function_tools})
        if not recall or len(messages) == 5:
            return ModelResponse([TextPart("Done.")])
        if len(messages) == 1:
            return ModelResponse([ToolCallPart("search_messages", {"words": "crate"}, "call_1")])
        return ModelResponse([ToolCallPart("recall_content", {"refrence": "#0"}, "call_2")])

    agent = Agent(FunctionModel(answer), capabilities=[CompactordCapability(client, policy=POLICY, recall=recall)])
    for own, other in (("hall-7", "hall-8"), ("hall-8", "hall-7")):
        result = agent.run_sync(f"The crate is in {own}.", conversation_id=f"look-up-{own}-{recall}")
        assert result.output == "Done."
        parts = [part for message in result.all_messages() for part in message.parts]
        read = [str(part.content) for part in parts if isinstance(part, ToolReturnPart)]
        if recall:
            found, wrong = read
            assert own in found and other not in found
            assert wrong.startswith("Nothing was read: ")
    assert offered[0] == ({"recall_content", "search_messages"} if recall else set())
