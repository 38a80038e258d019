"""Folds, as a program and as a model make them."""

from __future__ import annotations

import json

import pytest

import compactord
from compactord import v1
from failures import raising

RESULT = "The cause is a stale lock in queue.go."


def call(number: int, name: str = "read_file", arguments: str = "{}") -> v1.Message:
    made = v1.ToolCall(id=f"call-{number}", name=name, arguments=arguments)
    return v1.Message(role=v1.Role.ROLE_ASSISTANT, parts=[v1.Part(tool_call=made)])


@pytest.fixture
def session(client: compactord.Client) -> compactord.Session:
    session = client.create_session(policy={"context_window": 100_000})
    session.append(compactord.system("Be brief."), "Why does the queue hang?")
    for number in range(3):
        session.append(call(number), compactord.tool_result(f"call-{number}", f"line of file {number}\n" * 80))
    session.append(compactord.assistant("It hangs because of a lock."))
    return session


def texts(session: compactord.Session) -> list[str]:
    shown: list[str] = []
    for message in session.view().messages:
        for part in message.message.parts:
            shown.append(part.text.text or part.tool_call.name or part.tool_result.parts[0].text.text)
    return shown


def test_a_range_is_shown_as_one_text_where_it_stood(session: compactord.Session) -> None:
    before = session.view()
    result = session.fold(2, 8, text=RESULT)
    assert result
    assert result.prune is not None
    assert [edit.index for edit in result.prune.edits] == [2, 3, 4, 5, 6, 7]
    shown = texts(session)
    assert len(shown) == 4
    assert shown[2].endswith(RESULT)
    assert shown[3] == "It hangs because of a lock."
    [folded] = [message.folded for message in session.view().messages if message.HasField("folded")]
    assert folded.start == 2
    assert session.view().report.tokens < before.report.tokens
    assert session.recall(3).text == "line of file 0\n" * 80
    session.revert(undo=True)
    assert session.view().messages == before.messages


def test_a_fold_begins_at_a_checkpoint_and_ends_before_open_calls(client: compactord.Client) -> None:
    session = client.create_session(policy={"context_window": 100_000})
    session.append("Why does the queue hang?", call(0), compactord.tool_result("call-0", "not folded"))
    checkpoint = session.checkpoint("reading")
    session.append(call(1), compactord.tool_result("call-1", "much text\n" * 200), call(2))
    assert session.fold(checkpoint=checkpoint.id, text=RESULT)
    shown = texts(session)
    assert shown[:3] == ["Why does the queue hang?", "read_file", "not folded"]
    assert shown[3].endswith(RESULT)
    assert shown[4:] == ["read_file"]


def test_a_range_that_cannot_be_folded_is_refused(session: compactord.Session) -> None:
    session.pin(4)
    with raising("PLAN_INVALID", match="pinned"):
        session.fold(2, 8, text=RESULT)
    with pytest.raises(ValueError, match="either start or checkpoint"):
        session.fold(text=RESULT)
    with pytest.raises(ValueError, match="either start or checkpoint"):
        session.fold(2, checkpoint=1, text=RESULT)
    with raising("CHECKPOINT_NOT_FOUND"):
        session.fold(checkpoint=9, text=RESULT)


def test_a_dry_run_and_the_events_of_a_fold_change_nothing_until_the_end(session: compactord.Session) -> None:
    before = session.view()
    planned = session.fold(2, 8, text=RESULT, dry_run=True).planned
    assert planned is not None
    with session.compacting(fold=v1.FoldRange(start=2, end=8, text=RESULT)) as events:
        events.cancel()
        with raising("CANCELLED"):
            list(events)
    assert session.view().messages == before.messages


def test_a_model_folds_what_it_did_since_a_checkpoint_and_goes_on(client: compactord.Client) -> None:
    session = client.create_session(policy={"context_window": 100_000})
    tools = compactord.AgentTools(session, fold=True)
    assert [tool["name"] for tool in tools.definitions()] == ["recall_content", "search_messages", "fold_since"]
    seen: list[list[str]] = []
    answers = [
        call(0),
        call(1),
        call(2, "fold_since", json.dumps({"checkpoint_id": 1, "result": f" {RESULT} "})),
        compactord.assistant("Done."),
    ]

    def ask(_: compactord.View) -> v1.Message:
        seen.append(texts(session))
        return answers.pop(0)

    turn = session.run_turn(ask, "Why does the queue hang?", run_tool=lambda _: "much text\n" * 200, tools=tools)
    assert turn.done
    last = seen[-1]
    assert not any("much text" in text for text in last)
    [folded] = [text for text in last if text.endswith(RESULT)]
    place = last.index(folded)
    assert last[place + 1] == "fold_since"
    assert "are shown as your result from now on" in last[place + 2]
    assert session.recall(3).text == "much text\n" * 200
