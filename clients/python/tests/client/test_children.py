"""Children of a session, as a program uses them."""

from __future__ import annotations

import pytest

import compactord
from compactord import v1
from failures import raising


@pytest.fixture
def parent(client: compactord.Client) -> compactord.Session:
    session = client.create_session(title="garden")
    session.append(
        compactord.system("You keep a garden."), compactord.user("Find the leak."), compactord.assistant("I will.")
    )
    return session


def texts(session: compactord.Session) -> list[str]:
    return [part.text.text for message in session.view().messages for part in message.message.parts]


def result(text: str) -> str:
    """The result that a message of a child quotes."""
    return text.split("<sub_agent_result>\n")[1].removesuffix("\n</sub_agent_result>")


def last(session: compactord.Session) -> str:
    return result(texts(session)[-1])


def test_leaving_the_block_ends_the_child_with_what_its_model_said(parent: compactord.Session) -> None:
    with parent.child(title="find the leak") as child:
        assert texts(child) == []
        child.append("Where does it leak?", compactord.assistant("At the second joint."))
    assert child.ended is not None
    assert not child.ended.answers_call
    assert last(parent) == "At the second joint."
    assert "find the leak" in texts(parent)[-1]
    assert parent.recall(f"{child.id}#0").text == "Where does it leak?"
    assert [hit.session_id for hit in parent.search("joint", include_children=True)] == ["", child.id]
    assert [(one.session_id, one.title, one.HasField("ended")) for one in parent.children()] == [
        (child.id, "find the leak", True)
    ]
    with raising("CHILD_ENDED"):
        child.append("More.")


def test_a_child_sees_what_is_chosen(parent: compactord.Session) -> None:
    parent.set_block("memory", "The pipes are old.", place="leading")
    parent.set_block("plan", "1. Find the leak.")
    with parent.child(messages=[1], blocks=["memory"], instructions=True) as child:
        shown = texts(child)
        child.end("Nothing.")
    assert (shown[0], shown[-1]) == ("You keep a garden.", "Find the leak.")
    assert sum("pipes are old" in text for text in shown) == 1
    assert not any("1. Find the leak" in text for text in shown)
    with parent.child(sees="everything") as copy:
        assert texts(copy) == texts(parent)[: len(texts(copy))]
        copy.end("Nothing.")
    with pytest.raises(ValueError, match="sees the messages, blocks and instructions anyway"):
        parent.start_child(sees="everything", messages=[1])


def test_an_exception_ends_the_child_with_an_error_that_says_so_and_is_raised_further(
    parent: compactord.Session,
) -> None:
    child: compactord.Session | None = None

    def work() -> None:
        nonlocal child
        with parent.child() as child:
            child.append("Where does it leak?", compactord.assistant("I do not know."))
            raise RuntimeError("the hose burst")

    with pytest.raises(RuntimeError, match="the hose burst"):
        work()
    assert child is not None
    assert child.ended is not None
    assert last(parent).endswith("stopped before it was done, so this is no result of it: the hose burst")
    [record] = child.records(kinds=["child_end"])
    assert record.child_end.is_error


def test_an_interrupted_child_says_that_it_was_stopped(parent: compactord.Session) -> None:
    with pytest.raises(KeyboardInterrupt), parent.child():
        raise KeyboardInterrupt
    assert last(parent).endswith("The sub-agent was stopped before it was done, so this is no result of it.")


def test_an_explicit_end_stands(parent: compactord.Session) -> None:
    with parent.child() as child:
        child.append("Where does it leak?", compactord.assistant("At the second joint."))
        first = child.end("At the third one.")
    assert child.ended == first
    assert last(parent) == "At the third one."
    with raising("NO_PARENT"):
        parent.end("I am nobody's child.")
    with raising("HAS_CHILDREN"):
        parent.delete(children="refuse")
    parent.delete(children="delete")
    with pytest.raises(compactord.SessionNotFoundError):
        child.info()


def answer(text: str) -> v1.Message:
    return compactord.assistant(text)


def calls(*ids: str) -> v1.Message:
    return v1.Message(
        role=v1.Role.ROLE_ASSISTANT,
        parts=[v1.Part(tool_call=v1.ToolCall(id=one, name="ask_helper", arguments="{}")) for one in ids],
    )


def test_a_turn_leaves_calls_alone_that_children_answered(client: compactord.Client) -> None:
    session = client.create_session()
    answers = [calls("good", "bad", "own"), answer("All done.")]

    def run_tool(call: compactord.ToolCall) -> str | None:
        if call.id == "own":
            return "I did it myself."
        with session.child(call=call, title=call.id) as child:
            child.run_turn(lambda _: answer(f"Result of {call.id}."), "Go.")
            if call.id == "bad":
                raise RuntimeError("it broke")
        return None

    turn = session.run_turn(lambda _: answers.pop(0), "Ask your helpers.", run_tool=run_tool)
    assert turn.done
    assert turn.text == "All done."
    results = {
        part.tool_result.call_id: (part.tool_result.parts[0].text.text, part.tool_result.is_error)
        for message in session.messages()
        for part in message.message.parts
        if part.HasField("tool_result")
    }
    assert sorted(results) == ["bad", "good", "own"]
    assert result(results["good"][0]) == "Result of good."
    assert result(results["bad"][0]).endswith("it broke")
    assert results["bad"][1]
    assert results["own"] == ("I did it myself.", False)


def test_the_recall_tool_reads_the_log_of_a_child(parent: compactord.Session) -> None:
    with parent.child() as child:
        child.append("Where does it leak?", compactord.assistant("At the second joint."))
    tools = compactord.AgentTools(parent)
    call = compactord.ToolCall("1", "recall_content", f'{{"reference": "{child.id}#1"}}', 9)
    output = tools.handle(call)
    assert output is not None
    assert output.text == f"[{child.id}#1.0 assistant, text, lines 1 to 1 of 1]\nAt the second joint."
    found = tools.handle(compactord.ToolCall("2", "search_messages", '{"words": "second joint"}', 9))
    assert found is not None
    assert f"{child.id}#1" in found.text


async def test_the_block_of_a_child_with_asyncio(client: compactord.Client) -> None:
    async with compactord.AsyncClient(client.address) as other:
        parent = await other.create_session()
        await parent.append("Find the leak.")
        async with parent.child(title="leak") as child:
            await child.append("Where?", compactord.assistant("At the joint."))
        with pytest.raises(RuntimeError):
            async with parent.child(title="hose"):
                raise RuntimeError("the hose burst")
        shown = [part.text.text for message in (await parent.view()).messages for part in message.message.parts]
        assert result(shown[1]) == "At the joint."
        assert result(shown[2]).endswith("the hose burst")
