"""What the adapter of the OpenAI Agents SDK keeps of items, and which runs it leaves alone."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agents.testing import ScriptedModel, assistant_message, function_call
from agents.tool_context import ToolContext
from hypothesis import given, settings
from hypothesis import strategies as st

import compactord
from agents import (
    Agent,
    FunctionTool,
    RunConfig,
    Runner,
    SQLiteSession,
    TResponseInputItem,
    UserError,
    set_tracing_disabled,
)
from compactord.openai_agents import CompactordFilter, CompactordSession, recall_tools
from generated import texts
from programs import BINARY, recordings

DIALECT: compactord.Dialect = "openai_responses"
# Without edits of long results: the items that come back are those that were given.
POLICY: dict[str, Any] = {"context_window": 10_000_000, "on_append": {}}


@pytest.fixture(scope="module")
def client() -> Iterator[compactord.Client]:
    set_tracing_disabled(True)
    # Nothing listens at this port: the model refuses each summary.
    nobody = {
        "kind": "openai",
        "base_url": "http://127.0.0.1:9/v1",
        "model": "m",
        "context_window": 100_000,
        "tries": 1,
    }
    with compactord.embedded(BINARY, config={"summarizers": {"nobody": nobody}}) as made:
        yield made


@st.composite
def steps(draw: st.DrawFn, number: int) -> list[dict[str, Any]]:
    """What a model and its tools do in one step, with several calls at once."""
    items: list[dict[str, Any]] = []
    if draw(st.booleans()):
        thought = [{"type": "summary_text", "text": draw(texts())}] if draw(st.booleans()) else []
        items.append({"type": "reasoning", "id": f"rs_{number}", "summary": thought, "encrypted_content": "sealed"})
    said = {"type": "output_text", "text": draw(texts()), "annotations": [], "logprobs": []}
    head = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
    items.append(head | {"content": [said]})
    calls = [f"call_{number}_{at}" for at in range(draw(st.integers(0, 3)))]
    for at, call in enumerate(calls):
        arguments = json.dumps({"text": draw(texts())})
        made = {"type": "function_call", "id": f"fc_{number}_{at}", "call_id": call, "name": "look"}
        items.append(made | {"arguments": arguments, "status": "completed"})
    image = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=", "detail": "auto"}
    for call in calls:
        output = draw(st.one_of(texts(), st.just([image])))
        items.append({"type": "function_call_output", "call_id": call, "output": output})
    return items


@st.composite
def conversations(draw: st.DrawFn) -> list[list[dict[str, Any]]]:
    parts: list[list[dict[str, Any]]] = []
    for number in range(draw(st.integers(1, 5))):
        content: Any = draw(texts())
        if draw(st.booleans()):
            picture = {"type": "input_image", "image_url": "https://example.com/cat.png", "detail": "low"}
            content = [{"type": "input_text", "text": content}, picture]
        parts += [[{"role": "user", "content": content}], draw(steps(number))]
    return parts


@settings(deadline=None, max_examples=60)
@given(parts=conversations())
def test_a_session_gives_back_the_items_that_it_got(client: compactord.Client, parts: list[list[Any]]) -> None:
    """Added as the SDK adds them, and read by another process."""
    held = client.create_session(dialect=DIALECT, policy=POLICY)
    items = [item for part in parts for item in part]

    async def add() -> None:
        session = CompactordSession(held)
        for part in parts:
            await session.add_items(part)

    asyncio.run(add())
    again = CompactordSession(client.session(held.id, dialect=DIALECT))
    assert asyncio.run(again.get_items()) == items
    assert not list(held.records(kinds=["revert"]))


@pytest.mark.parametrize("name", recordings())
def test_a_session_gives_back_recorded_conversations(client: compactord.Client, name: Path) -> None:
    items = [item for message in lines(name) for item in items_of(message)]
    held = client.create_session(dialect=DIALECT, policy=POLICY)
    asyncio.run(CompactordSession(held).add_items(items))
    synced = held.sync(items, compact=False, view=False)
    assert (synced.appended, synced.put_aside) == (0, 0)
    if answered(items):
        assert asyncio.run(CompactordSession(client.session(held.id, dialect=DIALECT)).get_items()) == items


def answered(items: list[Any]) -> bool:
    """Whether each call has its output before anything else is said: else the view has one that says it has none."""
    waiting: set[str] = set()
    for item in items:
        match item.get("type"):
            case "function_call":
                waiting.add(item["call_id"])
            case "function_call_output":
                waiting.discard(item["call_id"])
            case _ if waiting:
                return False
            case _:
                pass
    return True


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def items_of(message: Any) -> list[Any]:
    """A recorded message as items."""
    match message["role"]:
        case "user" if message.get("content"):
            return [{"role": "user", "content": content_of(message["content"])}]
        case "assistant":
            said = [{"role": "assistant", "content": message["content"]}] if message.get("content") else []
            return said + [
                {"type": "function_call", "call_id": call["id"]} | call["function"]
                for call in message.get("tool_calls") or []
            ]
        case "tool":
            return [
                {
                    "type": "function_call_output",
                    "call_id": message["tool_call_id"],
                    "output": content_of(message["content"]),
                }
            ]
        case _:
            return []


def content_of(content: Any) -> Any:
    """The content of a recorded message as that of an item."""
    if content is None or isinstance(content, str):
        return content or ""
    return [
        {"type": "input_text", "text": part["text"]}
        if part["type"] == "text"
        else {"type": "input_image", "image_url": part["image_url"]["url"], "detail": "auto"}
        for part in content
    ]


def test_an_agent_that_is_a_tool_is_none_of_the_conversation(client: compactord.Client) -> None:
    inner = Agent(name="Inner", model=ScriptedModel([[assistant_message("I am the inner one.")]] * 2))
    calls = [
        function_call("inner", {"input": "Look."}, call_id="call_1"),
        function_call("inner", {"input": "Go."}, call_id="call_2"),
    ]
    model = ScriptedModel([calls, [assistant_message("Done.")], [assistant_message("Done again.")]])
    outer = Agent(name="Outer", model=model, tools=[inner.as_tool("inner", "Asks the inner one.")])
    held = client.create_session(dialect=DIALECT, policy=POLICY)
    config = RunConfig(call_model_input_filter=CompactordFilter(held))

    async def run() -> None:
        session = SQLiteSession("one")
        await Runner.run(outer, "Ask.", session=session, run_config=config)
        async for _ in Runner.run_streamed(outer, "Again.", session=session, run_config=config).stream_events():
            pass

    asyncio.run(run())
    said = [part.text.text for logged in held.messages() for part in logged.message.parts if part.HasField("text")]
    assert said == ["Ask.", "Done.", "Again."]
    assert not list(held.records(kinds=["revert"]))


def test_a_run_survives_a_compaction_that_fails(client: compactord.Client) -> None:
    policy = {
        "context_window": 3_000,
        "strategy": {"summarize": {"recent_tokens": 200}},
        "summary": {"summarizer": "nobody", "fallback": "SUMMARY_FALLBACK_FAIL"},
    }
    held = client.create_session(dialect=DIALECT, policy=policy)
    model = ScriptedModel([[assistant_message(text)] for text in ("word " * 2_000, "word " * 2_000, "Done.")])
    session = CompactordSession(held)

    async def run() -> list[object]:
        config, agent = RunConfig(call_model_input_filter=session.model_input), Agent(name="One", model=model)
        lines = ("One.", "Two.", "Three.")
        runs = [await Runner.run(agent, line, session=session, run_config=config) for line in lines]
        return [one.final_output for one in runs]

    with pytest.warns(compactord.CompactordWarning, match="could not be compacted"):
        assert asyncio.run(run())[-1] == "Done."
    assert list(held.records(kinds=["attempt"]))


def test_what_is_popped_and_cleared_stays_in_the_log(client: compactord.Client) -> None:
    held = client.create_session(dialect=DIALECT, policy=POLICY)

    async def run() -> None:
        session = CompactordSession(held)
        assert await session.pop_item() is None
        items: list[Any] = [{"role": "user", "content": "One."}, {"role": "assistant", "content": "Two."}]
        await session.add_items(items)
        assert await session.get_items(limit=1) == items[1:]
        assert await session.pop_item() == items[1]
        assert await session.get_items() == items[:1]
        await session.add_items(items[1:])
        assert await session.get_items() == items
        assert await session.pop_item() == items[1]
        assert await session.pop_item() == items[0]
        assert await session.get_items() == []
        await session.add_items(items)
        await session.clear_session()
        assert await session.get_items() == []

    asyncio.run(run())
    assert [part.text.text for logged in held.messages() for part in logged.message.parts].count("Two.") == 3


def test_calls_that_wait_are_read_by_another_process(client: compactord.Client) -> None:
    items: list[Any] = [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": "I look."},
        {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{}"},
        {"type": "function_call", "call_id": "call_2", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_2", "output": "A cat."},
    ]
    held = client.create_session(dialect=DIALECT, policy=POLICY)
    asyncio.run(CompactordSession(held).add_items(items))
    session = CompactordSession(client.session(held.id, dialect=DIALECT))
    assert asyncio.run(session.get_items()) == items
    asyncio.run(session.add_items([{"type": "function_call_output", "call_id": "call_1", "output": "A dog."}]))
    assert not held.info().report.open_calls
    assert not list(held.records(kinds=["revert"]))


def test_a_session_in_another_dialect_is_refused(client: compactord.Client) -> None:
    with pytest.raises(ValueError, match="openai_responses"):
        CompactordFilter(client.create_session(dialect="openai_chat"))


def test_a_session_for_asyncio_is_refused_at_once(client: compactord.Client) -> None:
    waiting = compactord.AsyncClient(client.address)
    given: list[Any] = [waiting.session("any", dialect=DIALECT), waiting.open_session("any", dialect=DIALECT)]
    for one in given:
        with pytest.raises(TypeError, match=r"^session: must be a session of compactord\.Client, not of the type"):
            CompactordSession(one)


def test_a_run_without_the_filter_is_told(client: compactord.Client) -> None:
    """Each of them: a run before it may have had the filter."""
    session = CompactordSession(client.create_session(dialect=DIALECT, policy=POLICY))
    look = function_call("search_messages", {"words": "dog"}, call_id="call_1")
    model = ScriptedModel([[assistant_message("One.")], [look], [assistant_message("Two.")], [assistant_message("3.")]])
    agent = Agent(name="One", model=model, tools=recall_tools())

    def run(config: RunConfig | None = None) -> None:
        asyncio.run(Runner.run(agent, "Go on.", session=session, run_config=config))

    def unfiltered() -> None:
        with pytest.warns(compactord.CompactordWarning, match="has no filter, so it is not compacted"):
            run()

    unfiltered()
    run(RunConfig(call_model_input_filter=session.model_input))
    # What a program adds itself, after it has read the session, is no run's.
    answers = asyncio.run(session.get_items())[-1:]
    asyncio.run(session.add_items([{"role": "user", "content": "Hi."}, *answers]))
    unfiltered()


def test_each_session_is_told_of_a_run_without_the_filter(client: compactord.Client) -> None:
    """Python says a text once for each place, so each session has its own."""
    sessions = [CompactordSession(client.create_session(dialect=DIALECT, policy=POLICY)) for _ in range(2)]
    agent = Agent(name="One", model=ScriptedModel([[assistant_message("One.")]] * 4))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default", compactord.CompactordWarning)
        for session in sessions * 2:
            asyncio.run(Runner.run(agent, "Go on.", session=session))
    told = [str(one.message).partition(" has no filter")[0] for one in caught]
    assert told == [f"a run of session {session.session_id}" for session in sessions]


def user(text: str) -> TResponseInputItem:
    return {"role": "user", "content": text}


def test_a_run_with_the_end_of_the_list_is_sent_as_it_is(client: compactord.Client) -> None:
    """The program cuts the list at its front after a run with tools: an agent in a tool may have such a list, too."""
    held = client.create_session(dialect=DIALECT, policy=POLICY)
    look = function_call("search_messages", {"words": "dog"}, call_id="call_1")
    model = ScriptedModel([[assistant_message("One.")], [look], [assistant_message("Two.")], [assistant_message("3.")]])
    agent = Agent(name="One", model=model, tools=recall_tools())
    config = RunConfig(call_model_input_filter=CompactordFilter(held))

    async def run() -> None:
        items = (await Runner.run(agent, "Hi.", run_config=config)).to_input_list()
        items = (await Runner.run(agent, [*items, user("Look.")], run_config=config)).to_input_list()
        with pytest.warns(compactord.CompactordWarning, match=f"session {held.id} .* so it is sent as it is"):
            await Runner.run(agent, [*items[-4:], user("And?")], run_config=config)

    asyncio.run(run())
    assert texts_of(client, held) == ["Hi.", "One.", "Look."]
    assert not list(held.records(kinds=["revert"]))


def test_an_agent_that_is_a_tool_may_have_equal_ids_of_calls(client: compactord.Client) -> None:
    """Some servers number the calls of each conversation anew."""
    look = function_call("search_messages", {"words": "dog"}, call_id="call_0")
    inner_model = ScriptedModel([[look], [assistant_message("I am the inner one.")]])
    inner = Agent(name="Inner", model=inner_model, tools=recall_tools())
    ask = function_call("inner", {"input": "Look."}, call_id="call_1")
    model = ScriptedModel([[look], [ask], [assistant_message("Done.")]])
    outer = Agent(name="Outer", model=model, tools=[inner.as_tool("inner", "Asks the inner one."), *recall_tools()])
    held = client.create_session(dialect=DIALECT, policy=POLICY)
    config = RunConfig(call_model_input_filter=CompactordFilter(held))
    asyncio.run(Runner.run(outer, "Ask.", run_config=config))
    assert texts_of(client, held) == ["Ask."]
    assert not list(held.records(kinds=["revert"]))


def test_a_reviewer_of_the_end_of_the_list_is_none_of_the_conversation(client: compactord.Client) -> None:
    """Its list is that of a program that has cut its own: it is sent as it is, which is said."""
    reviewer = Agent(name="Reviewer", model=ScriptedModel([[assistant_message("Well done.")]]))
    held = client.create_session(dialect=DIALECT, policy=POLICY)
    session = CompactordSession(held)

    async def review(context: ToolContext[Any], _arguments: str) -> str:
        items = await session.get_items()
        shown = [*items[-2:], user("Review this.")]
        with pytest.warns(compactord.CompactordWarning, match="so it is sent as it is"):
            return str((await Runner.run(reviewer, shown, run_config=context.run_config)).final_output)

    look = function_call("search_messages", {"words": "dog"}, call_id="call_1")
    model = ScriptedModel([[look], [function_call("review", {}, call_id="call_2")], [assistant_message("Done.")]])
    tool = FunctionTool("review", "Reviews.", {"type": "object", "properties": {}}, review, strict_json_schema=False)
    agent = Agent(name="One", model=model, tools=[tool, *recall_tools()])
    config = RunConfig(call_model_input_filter=session.model_input)
    assert asyncio.run(Runner.run(agent, "Ask.", session=session, run_config=config)).final_output == "Done."
    assert texts_of(client, held) == ["Ask.", "Done."]
    assert not list(held.records(kinds=["revert"]))


def test_a_run_after_a_compaction_is_the_conversations(client: compactord.Client) -> None:
    """It begins with a view, and not with the items of the call before: each call is brought in line all the same."""
    policy = {"context_window": 6_000, "strategy": {"summarize": {"recent_tokens": 200}}}
    held = client.create_session(dialect=DIALECT, policy=policy)
    session = CompactordSession(held)
    steps = [
        [function_call("search_messages", {"words": f"{at} {'word ' * 1_500}"}, call_id=f"call_{at}")]
        for at in range(8)
    ]
    model = ScriptedModel([said for step in steps for said in (step, [assistant_message("Done.")])])
    agent = Agent(name="One", model=model, tools=recall_tools())
    left_out: list[Any] = []

    async def run(text: str) -> None:
        async def asked(data: Any) -> Any:
            made = await session.model_input(data)
            if not session.model_input.holds(list(data.model_data.input)):
                left_out.append(data.model_data.input)
            return made

        await Runner.run(agent, text, session=session, run_config=RunConfig(call_model_input_filter=asked))

    async def talk() -> None:
        for at in range(8):
            await run(f"Turn {at}.")

    asyncio.run(talk())
    assert list(held.compactions())
    assert left_out == []


def texts_of(client: compactord.Client, session: compactord.Session) -> list[str]:
    """The texts of the view."""
    said = [part for message in client.session(session.id).view().messages for part in message.message.parts]
    return [part.text.text for part in said if part.HasField("text")]


def looking(*answers: str) -> Agent[Any]:
    """An agent that looks something up before its first answer, so that the task of its caller has called a model."""
    look = [function_call("search_messages", {"words": "crate"}, call_id="call_1")]
    model = ScriptedModel([look, *([assistant_message(answer)] for answer in answers)])
    return Agent(name="One", model=model, tools=recall_tools())


def test_a_question_after_a_run_that_failed_is_the_conversations(client: compactord.Client) -> None:
    held = client.create_session(dialect=DIALECT, policy=POLICY)
    config = RunConfig(call_model_input_filter=CompactordFilter(held))

    async def run() -> None:
        agent = looking("One.", "Two.")
        first = (await Runner.run(agent, "First.", run_config=config)).to_input_list()
        failing = agent.clone(model=ScriptedModel([RuntimeError("no answer")]))
        with pytest.raises(RuntimeError, match="no answer"):
            await Runner.run(failing, [*first, {"role": "user", "content": "Failed."}], run_config=config)
        await Runner.run(agent, [*first, {"role": "user", "content": "Other."}], run_config=config)

    asyncio.run(run())
    assert texts_of(client, held) == ["First.", "One.", "Other."]


@pytest.mark.parametrize("cleared", [True, False])
def test_a_run_after_what_was_cleared_or_popped_is_the_conversations(client: compactord.Client, cleared: bool) -> None:
    held = client.create_session(dialect=DIALECT, policy=POLICY)
    session = CompactordSession(held)
    config = RunConfig(call_model_input_filter=session.model_input)

    async def run() -> None:
        agent = looking("One.", "Two.")
        await Runner.run(agent, "First.", session=session, run_config=config)
        if cleared:
            await session.clear_session()
        else:
            while await session.pop_item():
                pass
        await Runner.run(agent, "Other.", session=session, run_config=config)

    asyncio.run(run())
    assert texts_of(client, held) == ["Other.", "Two."]
    assert session.model_input.holds([{"role": "user", "content": "Other."}])


def test_what_is_popped_after_a_run_is_gone_and_can_be_added_again(client: compactord.Client) -> None:
    held = client.create_session(dialect=DIALECT, policy=POLICY)

    async def run() -> None:
        session = CompactordSession(held)
        config = RunConfig(call_model_input_filter=session.model_input)
        await Runner.run(looking("One."), "First.", session=session, run_config=config)
        items = await session.get_items()
        assert len(items) == 4
        assert await session.pop_item() == items[3]
        assert await session.get_items() == items[:3]
        # The question alone was the model's input, too.
        assert await session.pop_item() == items[2]
        assert await session.pop_item() == items[1]
        assert await session.get_items() == items[:1]
        await session.clear_session()
        await session.add_items(items[:1])
        assert await session.get_items() == items[:1]

    asyncio.run(run())
    assert texts_of(client, held) == ["First."]


def test_the_model_looks_up_its_own_conversation(client: compactord.Client) -> None:
    lookups = [[function_call("search_messages", {"words": "crate"}, call_id="call_1")]]
    lookups.append([function_call("recall_content", {"refrence": "#0"}, call_id="call_2")])
    model = ScriptedModel([*lookups, [assistant_message("Done.")]] * 2)
    agent = Agent(name="Clerk", model=model, tools=recall_tools())

    async def run(hall: str) -> list[str]:
        held = await asyncio.to_thread(client.create_session, dialect=DIALECT, policy=POLICY)
        config = RunConfig(call_model_input_filter=CompactordFilter(held))
        result = await Runner.run(agent, f"The crate is in {hall}.", run_config=config)
        assert result.final_output == "Done."
        return [item.output for item in result.new_items if item.type == "tool_call_output_item"]

    for own, other in (("hall-7", "hall-8"), ("hall-8", "hall-7")):
        found, wrong = asyncio.run(run(own))
        assert own in found and other not in found
        assert wrong.startswith("Nothing was read: ")


def test_a_run_without_a_filter_reads_no_other_conversation(client: compactord.Client) -> None:
    """The run before it in the same task had one."""
    config = RunConfig(call_model_input_filter=CompactordFilter(client.create_session(dialect=DIALECT, policy=POLICY)))

    async def run() -> None:
        await Runner.run(looking("One."), "The crate is in hall-7.", run_config=config)
        await Runner.run(looking("Two."), "Where is the crate?")

    with pytest.raises(UserError, match="search_messages: give the run a CompactordFilter"):
        asyncio.run(run())
