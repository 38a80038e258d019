"""Context blocks and instructions, as a program uses them."""

from __future__ import annotations

import asyncio
import random
import re
from typing import Any, cast

import pytest

import compactord
from compactord import v1
from compactord.words import Dialect

DIALECTS: tuple[Dialect | None, ...] = (None, "openai_chat", "openai_responses", "anthropic", "gemini")


def texts(view: compactord.View) -> list[str]:
    return [part.text.text for message in view.messages for part in message.message.parts]


def test_a_view_shows_a_block_once_with_its_newest_value_before_the_newest_message(client: compactord.Client) -> None:
    session = client.create_session()
    session.append("Plan the garden.", compactord.assistant("I will."))
    session.set_block("plan", "1. Dig.")
    session.set_block("memory", "The owner is away in May.", place="leading")
    session.append("Go on.")
    changed = session.set_block("plan", "1. Dig: done.")
    shown = texts(session.view())
    assert [text.count("Dig") for text in shown] == [0, 0, 0, 1, 0]
    assert "1. Dig: done." in shown[3]
    assert "away in May" in shown[0]
    assert shown[4] == "Go on."
    assert changed.sequence is not None
    assert [state.block.parts[0].text.text for state in session.blocks("plan")] == ["1. Dig: done."]
    assert [state.block.parts[0].text.text for state in session.blocks("plan", as_of=changed.sequence - 1)] == [
        "1. Dig."
    ]


def test_a_block_that_is_so_already_writes_nothing(client: compactord.Client) -> None:
    session = client.create_session()
    first = session.set_block("plan", "1. Dig.", priority=3)
    again = session.set_block("plan", "1. Dig.", priority=3)
    assert first.sequence == first.point
    assert (again.sequence, again.point) == (None, first.point)
    assert session.remove_block("nothing").sequence is None
    session.remove_block("plan", "nothing")
    assert list(session.blocks()) == []
    assert [record.WhichOneof("kind") for record in session.records(kinds=["context_blocks"])] == ["context_blocks"] * 2


def test_several_blocks_change_in_one_record_or_not_at_all(client: compactord.Client) -> None:
    session = client.create_session()
    session.set_block("old", "gone soon")
    image = v1.Part(media=v1.MediaPart(mime_type="image/png", data=b"png"))
    session.update_blocks(
        compactord.block("plan", ["1. Dig.", "2. Sow."]),
        compactord.block("map", ["The garden:", image], place="leading", max_tokens=500, turns=2),
        remove=["old"],
    )
    states = {state.block.name: state for state in session.blocks()}
    assert sorted(states) == ["map", "plan"]
    assert states["plan"].sequence == states["map"].sequence
    assert [part.text.text for part in states["plan"].block.parts] == ["1. Dig.", "2. Sow."]
    assert states["map"].block.parts[1].media.data == b"png"
    assert states["map"].turns_left == 2
    with pytest.raises(compactord.InvalidRequestError) as refused:
        session.update_blocks(compactord.block("new", "x"), compactord.block("no spaces", "y"))
    assert [violation.field for violation in refused.value.field_violations] == ["set[1].name"]
    assert sorted(state.block.name for state in session.blocks()) == ["map", "plan"]


def test_wrong_arguments_of_a_block_are_named(client: compactord.Client) -> None:
    session = client.create_session()
    with pytest.raises(ValueError, match="place: 'top' is unknown: use one of leading, latest"):
        session.set_block("plan", "x", place=cast(Any, "top"))
    with pytest.raises(ValueError, match="leave them out for no limit"):
        session.set_block("plan", "x", max_tokens=0)
    with pytest.raises(ValueError, match="leave them out for no limit"):
        session.set_block("plan", "x", turns=0)
    with pytest.raises(TypeError, match="a text or parts, not a int"):
        session.set_block("plan", cast(Any, 3))
    with pytest.raises(TypeError, match="remove: must be a list, not of the type str"):
        session.update_blocks(remove="plan")
    with pytest.raises(TypeError, match="texts and neutral messages, such as developer"):
        session.replace_instructions(cast(Any, {"role": "system", "content": "Be kind."}))


def test_half_a_surrogate_pair_in_a_block_is_replaced(client: compactord.Client) -> None:
    session = client.create_session()
    session.set_block("plan", "half \ud83d of a pair")
    assert "half \ufffd of a pair" in texts(session.view())[0]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_replaced_instructions_are_the_system_prompt(client: compactord.Client, dialect: Dialect | None) -> None:
    session = client.create_session(dialect=dialect)
    session.append(compactord.system("Be brief."), compactord.user("Hello."))
    session.replace_instructions("Be kind.", compactord.developer("Answer in litres."))
    shown = str(session.view() if dialect is None else session.view().request())
    neutral = client.session(session.id).view().messages
    assert [part.text.text for message in neutral for part in message.message.parts] == [
        "Be kind.",
        "Answer in litres.",
        "Hello.",
    ]
    if dialect is not None:
        assert "Be kind." in shown
        assert "Be brief." not in shown
    session.replace_instructions()
    assert [message.message.role for message in client.session(session.id).view().messages] == [v1.Role.ROLE_USER]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_kept_view_is_the_same_as_a_whole_one_while_blocks_move(
    client: compactord.Client, dialect: Dialect | None
) -> None:
    chance = random.Random(f"blocks of {dialect}")
    session = client.create_session(dialect=dialect)
    session.append(compactord.system("Be brief."), compactord.user("Begin."))
    for number in range(40):
        name = chance.choice(["plan", "memory", "skill:dig"])
        match chance.randrange(5):
            case 0:
                session.set_block(name, f"value {number}", place=chance.choice(["leading", "latest"]))
            case 1:
                session.remove_block(name)
            case 2:
                session.replace_instructions(f"Instructions {number}.")
            case 3:
                session.append(compactord.assistant(f"answer {number}"), compactord.user(f"request {number}"))
            case _:
                session.append(compactord.assistant(f"more {number}"))
        kept, whole = session.view(), client.session(session.id, dialect=dialect).view()
        assert kept.messages == whole.messages
        assert (kept.messages_json, kept.system_json) == (whole.messages_json, whole.system_json)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_kept_view_is_the_same_as_a_whole_one_while_extra_blocks_come_change_and_go(
    client: compactord.Client, dialect: Dialect | None
) -> None:
    chance = random.Random(f"extra blocks of {dialect}")
    session = client.create_session(dialect=dialect)
    session.append(compactord.system("Be brief."), compactord.user("Begin."))
    extra: list[v1.ContextBlock] = []
    for number in range(40):
        match chance.randrange(6):
            case 0:
                session.set_block("plan", f"value {number}")
            case 1:
                session.append(compactord.assistant(f"answer {number}"), compactord.user(f"request {number}"))
            case 2:
                session.append(compactord.assistant(f"more {number}"))
            case 3:
                extra = []
            case _:
                extra = [compactord.block(f"found:{i}", f"fact {number} of {i}") for i in range(chance.randrange(1, 4))]
        kept = session.view(extra_blocks=(one for one in extra), max_bytes=chance.choice([None, 1, 200]))
        whole = client.session(session.id, dialect=dialect).view(extra_blocks=extra)
        assert kept.messages == whole.messages
        assert (kept.messages_json, kept.system_json) == (whole.messages_json, whole.system_json)
        assert str(kept.messages).count("fact ") == len(extra)


def test_each_view_of_a_turn_has_its_extra_blocks_but_not_after_a_paused_answer(client: compactord.Client) -> None:
    session = client.create_session(dialect="anthropic")
    reasons, seen, asked = iter(["tool_use", "pause_turn", "end_turn", "end_turn"]), list[str](), list[int]()

    def call_model(view: compactord.View) -> dict[str, Any]:
        seen.append(str(view.messages))
        reason = next(reasons)
        call: dict[str, Any] = {"type": "tool_use", "id": "call_1", "name": "look", "input": {}}
        said: dict[str, Any] = {"type": "text", "text": "I look."}
        content = [call if reason == "tool_use" else said]
        return {"type": "message", "role": "assistant", "content": content, "stop_reason": reason}

    def extra() -> list[v1.ContextBlock]:
        asked.append(len(asked))
        return [compactord.block("time", f"It is {len(asked)} h.")]

    assert session.run_turn(call_model, "Go on.", run_tool=lambda _: "seen", extra_blocks=extra).done
    assert [re.findall(r"It is (\d) h", text) for text in seen] == [["1"], ["2"], []]
    session.run_turn(call_model, "And on.", extra_blocks=iter([compactord.block("time", "It is noon.")]))
    assert "It is noon." in seen[-1]
    assert "noon" not in str(session.view().messages)


async def test_an_abort_does_not_wait_for_the_extra_blocks_of_a_turn(client: compactord.Client) -> None:
    searching, never = asyncio.Event(), asyncio.Future[list[v1.ContextBlock]]()

    async def extra() -> list[v1.ContextBlock]:
        searching.set()
        return await never

    async with compactord.AsyncClient(client.address) as other:
        session = await other.create_session()
        turn = asyncio.create_task(session.run_turn(lambda _: "never", "Go on.", extra_blocks=extra))
        await searching.wait()
        await session.abort_turn()
        with pytest.raises(compactord.TurnAbortedError):
            await asyncio.wait_for(turn, 30)
