"""What the adapter of LangChain keeps of messages, and how it calls models."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain.tools import tool
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.utils import convert_to_messages
from langgraph.checkpoint.memory import InMemorySaver
from typing_extensions import override

import compactord
from compactord import v1
from compactord.langchain import CompactordMiddleware
from compactord.langchain_messages import langchain, neutral, shown
from generated import texts
from programs import recordings

# Without edits of long results: the messages that come back are those that were given.
POLICY: Any = {"context_window": 10_000_000, "on_append": {}}
IMAGE = "iVBORw0KGgo="


@st.composite
def turns(draw: st.DrawFn, number: int) -> list[AnyMessage]:
    """A message of the user, an answer with parallel calls, and their results."""
    asked: list[Any] = [{"type": "text", "text": draw(texts())}]
    asked += draw(
        st.lists(
            st.sampled_from(
                [
                    {"type": "image", "url": "https://example.com/cat.png"},
                    {"type": "image", "base64": IMAGE, "mime_type": "image/png"},
                    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}},
                    {"type": "file", "file_id": "file-1"},
                    {"type": "audio", "base64": IMAGE, "mime_type": "audio/wav"},
                ]
            ),
            max_size=2,
        )
    )
    said: list[Any] = [{"type": "text", "text": draw(texts())}]
    if draw(st.booleans()):
        said.insert(0, {"type": "thinking", "thinking": draw(texts()), "signature": "sealed"})
    ids = [f"call_{number}_{at}" for at in range(draw(st.integers(0, 3)))]
    calls: list[Any] = [
        {"type": "tool_call", "id": one, "name": "look", "args": draw(st.dictionaries(texts(), texts(), max_size=2))}
        for one in ids
    ]
    answer = AIMessage(
        said,
        id=f"ai-{number}",
        tool_calls=calls,
        usage_metadata={"input_tokens": 9, "output_tokens": 5, "total_tokens": 14},
        response_metadata={"model_name": "m", "model_provider": "anthropic"},
    )
    results = [
        ToolMessage(
            draw(st.one_of(texts(), st.just([{"type": "text", "text": "A cat:"}, asked[-1]]))),
            tool_call_id=one,
            name="look",
            id=f"tool-{one}",
            artifact={"rows": [number]},
            status=draw(st.sampled_from(["success", "error"])),
        )
        for one in ids
    ]
    content: Any = asked[0]["text"] if len(asked) == 1 else asked
    return [HumanMessage(content, id=f"human-{number}", name=draw(st.sampled_from([None, "Ada"]))), answer, *results]


@st.composite
def conversations(draw: st.DrawFn) -> list[AnyMessage]:
    return [message for number in range(draw(st.integers(1, 4))) for message in draw(turns(number))]


def viewed(session: compactord.Session, messages: list[AnyMessage]) -> list[AnyMessage]:
    synced = session.sync([neutral(message) for message in messages], compact=False)
    assert synced.messages is not None
    return shown(synced.messages, messages)


@settings(deadline=None, max_examples=60)
@given(messages=conversations())
def test_messages_come_back_as_they_are(client: compactord.Client, messages: list[AnyMessage]) -> None:
    session = client.create_session(policy=POLICY)
    before = [message.model_copy(deep=True) for message in messages]
    back = viewed(session, messages)
    assert back == before
    assert all(one is other for one, other in zip(back, messages, strict=True))


@settings(deadline=None, max_examples=200)
@given(messages=conversations())
def test_a_message_that_was_made_anew_says_the_same(messages: list[AnyMessage]) -> None:
    for message in messages:
        said, again = neutral(message), neutral(langchain(neutral(message)))
        assert list(again.parts) == list(said.parts)
        assert (again.role, again.name) == (said.role, said.name)


@pytest.mark.parametrize("name", recordings(), ids=lambda path: path.stem)
def test_recorded_messages_come_back_as_they_are(client: compactord.Client, name: Path) -> None:
    lines = [json.loads(line) for line in name.read_text(encoding="utf-8").splitlines()]
    given = [
        line | {"content": line.get("content") or ""} for line in lines if line["role"] in ("user", "assistant", "tool")
    ]
    messages: Any = convert_to_messages(given)
    for at, message in enumerate(messages):
        message.id = f"message-{at}"
    session = client.create_session(policy=POLICY)
    back = viewed(session, messages)
    own = {message.id for message in messages}
    # Where a call has no result, the view has one that says so; an empty message of the user is not shown.
    assert [message for message in back if message.id in own] == messages
    synced = session.sync([neutral(message) for message in messages], compact=False, view=False)
    assert (synced.appended, synced.put_aside) == (0, 0)


def test_what_a_view_shows_shorter_is_a_copy(client: compactord.Client) -> None:
    """A result that is hidden keeps its id, its call and its artifact; what follows the summary stays itself."""
    policy: Any = {
        "strategy": {"summarize": {"recent_tokens": 1_000}},
        "prune_strategy": {"hide_tool_results": {"keep_groups": 1}},
    }
    session = client.create_session(policy=policy)
    messages: list[AnyMessage] = []
    for number in range(8):
        call: Any = {"type": "tool_call", "id": f"call_{number}", "name": "look", "args": {}}
        long = f"Result {number}. " + "word " * 2_000
        messages += [
            HumanMessage(f"Look {number}.", id=f"human-{number}"),
            AIMessage("I look.", id=f"ai-{number}", tool_calls=[call]),
            ToolMessage(long, tool_call_id=call["id"], id=f"tool-{number}", name="look", artifact=number),
            AIMessage(f"Seen {number}.", id=f"end-{number}"),
        ]
    viewed(session, messages)
    session.prune()
    back = viewed(session, messages)
    assert [message.id for message in back] == [message.id for message in messages]
    first, own = back[2], messages[2]
    assert isinstance(first, ToolMessage) and isinstance(own, ToolMessage)
    assert (first.tool_call_id, first.artifact, first.name) == ("call_0", 0, "look")
    assert len(first.text) < len(own.text)
    assert session.compact()
    back = viewed(session, messages)
    assert isinstance(back[0], HumanMessage) and back[0].id is None
    assert back[-1] is messages[-1]
    assert len(back) < len(messages)


def test_usage_counts_what_caches_had_apart() -> None:
    details: Any = {"cache_read": 100, "cache_creation": 20}
    usage: Any = {"input_tokens": 150, "output_tokens": 7, "total_tokens": 157, "input_token_details": details}
    made = neutral(AIMessage("Hello.", usage_metadata=usage, response_metadata={"model_name": "m"}))
    assert made.usage == v1.Usage(input_tokens=30, output_tokens=7, cache_read_tokens=100, cache_write_tokens=20)
    assert made.model == "m"
    output: Any = {"input_tokens": 0, "output_tokens": 7, "total_tokens": 7}
    assert not neutral(AIMessage("Hello.", usage_metadata=output)).HasField("usage")


class Model(GenericFakeChatModel):
    """LangChain's model for tests, which says what it was asked."""

    asked: list[list[Any]]

    @override
    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    @override
    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        self.asked.append(list(messages))
        return super()._generate(messages, *args, **kwargs)


class TooLong(Exception):
    """What a provider's package raises."""

    status_code = 400


def test_an_overflow_is_compacted_and_asked_once_more(client: compactord.Client) -> None:
    policy: Any = {"context_window": 100_000, "strategy": {"summarize": {"recent_tokens": 1_000}}}
    middleware = CompactordMiddleware(client, policy=policy)
    overflows = iter([False, False, True, False])

    class Short(Model):
        @override
        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            if next(overflows):
                raise TooLong("prompt is too long: 200001 tokens > 200000 maximum")
            return super()._generate(messages, *args, **kwargs)

    model = Short(messages=iter([AIMessage("word " * 5_000), AIMessage("word " * 5_000), AIMessage("Done.")]), asked=[])
    agent: Any = create_agent(model, tools=[], middleware=[middleware], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "overflow"}}
    for text in ("One.", "Two.", "Three."):
        result = agent.invoke({"messages": [HumanMessage(text)]}, config)
    assert result["messages"][-1].text == "Done."
    assert len(result["messages"]) == 6
    assert len(str(model.asked[-1])) < 20_000
    assert len(list(middleware.session("overflow").compactions())) == 1


def test_another_error_is_not_asked_again(client: compactord.Client) -> None:
    class Broken(Model):
        @override
        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            self.asked.append(messages)
            raise RuntimeError("The model is on holiday.")

    model = Broken(messages=iter([]), asked=[])
    agent: Any = create_agent(model, tools=[], middleware=[CompactordMiddleware(client, policy=POLICY)])
    with pytest.raises(RuntimeError, match="holiday"):
        agent.invoke({"messages": [HumanMessage("One.")]}, {"configurable": {"thread_id": "broken"}})
    assert len(model.asked) == 1


def test_in_an_event_loop(client: compactord.Client) -> None:
    middleware = CompactordMiddleware(client, policy=POLICY)
    model = Model(messages=iter([AIMessage("One."), AIMessage("Two.")]), asked=[])
    agent: Any = create_agent(
        model, tools=[], system_prompt="Be brief.", middleware=[middleware], checkpointer=InMemorySaver()
    )
    config = {"configurable": {"thread_id": "loop"}}
    for text in ("Say one.", "Say two."):
        result = asyncio.run(agent.ainvoke({"messages": [HumanMessage(text)]}, config))
    assert [message.text for message in model.asked[-1]] == ["Be brief.", "Say one.", "One.", "Say two."]
    assert result["messages"][-1].text == "Two."
    said = [part.text.text for one in middleware.session("loop").messages() for part in one.message.parts]
    assert said == ["Be brief.", "Say one.", "One.", "Say two.", "Two."]


def test_an_agent_that_is_a_tool_has_a_session_of_its_own(client: compactord.Client) -> None:
    middleware = CompactordMiddleware(client, policy=POLICY)
    inner: Any = create_agent(
        Model(messages=iter([AIMessage("I am the inner one.")]), asked=[]), tools=[], middleware=[middleware]
    )

    @tool
    def ask_inner(text: str) -> str:
        """Asks the inner one."""
        answer: str = inner.invoke({"messages": [HumanMessage(text)]})["messages"][-1].text
        return answer

    call: Any = {"type": "tool_call", "id": "call_1", "name": "ask_inner", "args": {"text": "Look."}}
    model = Model(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("Done.")]), asked=[])
    agent: Any = create_agent(model, tools=[ask_inner], middleware=[middleware], checkpointer=InMemorySaver())
    agent.invoke({"messages": [HumanMessage("Ask.")]}, {"configurable": {"thread_id": "outer"}})
    said = [part.WhichOneof("kind") for one in middleware.session("outer").messages() for part in one.message.parts]
    assert said == ["text", "tool_call", "tool_result", "text"]
    assert not list(middleware.session("outer").records(kinds=["revert"]))


def test_a_thread_is_needed(client: compactord.Client) -> None:
    model = Model(messages=iter([]), asked=[])
    agent: Any = create_agent(model, tools=[], middleware=[CompactordMiddleware(client, policy=POLICY)])
    with pytest.raises(ValueError, match="thread_id"):
        agent.invoke({"messages": [HumanMessage("One.")]})


def test_any_thread_has_a_session(client: compactord.Client) -> None:
    middleware = CompactordMiddleware(client, policy=POLICY)
    assert middleware.session("plain").id == "plain"
    assert len(middleware.session("with spaces, and ü").id) == 64
    assert middleware.session("plain") is middleware.session("plain")


def test_instructions_are_those_of_the_request(client: compactord.Client) -> None:
    session = client.create_session(policy=POLICY)
    list_ = [SystemMessage("Be brief."), HumanMessage("Hello.", id="one")]
    synced = session.sync([neutral(message) for message in list_])
    assert synced.messages is not None
    assert [message.message.role for message in synced.messages] == [v1.Role.ROLE_SYSTEM, v1.Role.ROLE_USER]


def test_the_model_looks_up_its_own_thread(client: compactord.Client) -> None:
    def calls(name: str, **given: str) -> AIMessage:
        return AIMessage("", tool_calls=[{"type": "tool_call", "id": f"call_{name}", "name": name, "args": given}])

    answers = [calls("search_messages", words="crate"), calls("recall_content", refrence="#0"), AIMessage("Done.")]
    model = Model(messages=iter(answers * 2), asked=[])
    middleware = CompactordMiddleware(client, policy=POLICY)
    agent: Any = create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())

    def ask(hall: str) -> tuple[list[HumanMessage], Any]:
        return [HumanMessage(f"The crate is in {hall}.")], {"configurable": {"thread_id": f"look-up-{hall}"}}

    messages, config = ask("hall-7")
    first = agent.invoke({"messages": messages}, config)["messages"]
    messages, config = ask("hall-8")
    second = asyncio.run(agent.ainvoke({"messages": messages}, config))["messages"]
    for said, own, other in ((first, "hall-7", "hall-8"), (second, "hall-8", "hall-7")):
        found, wrong = [message for message in said if message.type == "tool"]
        assert found.status == "success" and own in found.text and other not in found.text
        assert wrong.status == "error" and wrong.text.startswith("Nothing was read: ")
        assert said[-1].text == "Done."


def test_an_agent_can_be_without_the_tools(client: compactord.Client) -> None:
    assert not CompactordMiddleware(client, policy=POLICY, recall=False).tools
