"""Mistakes in the functions that a turn calls: each is told by name, and the next turn is not the worse for it."""

from __future__ import annotations

import datetime as dt
from typing import Any, cast

import pytest

import compactord
from agents import Model, transcript
from compactord import ToolCall, ToolOutput
from compactord.view import View
from providers import Called, Provider, Said

LOOK = Called("call-1", "look")
NOW = dt.datetime(2020, 1, 1, tzinfo=dt.timezone.utc)


@pytest.mark.parametrize(
    "wrong",
    [object(), {"role": "assistant", "content": NOW}, {"role": "assistant", "content": float("nan")}],
    ids=["object", "datetime", "nan"],
)
def test_a_wrong_answer_of_the_model_does_not_poison_the_session(
    either: compactord.Client, chat: Provider, wrong: Any
) -> None:
    """The answer that has no JSON is refused, once."""
    session = either.create_session(dialect=chat.dialect)
    with pytest.raises(TypeError):
        session.run_turn(lambda _: wrong, "hi")
    assert session.run_turn(Model(chat, Said("Well.")), "hi again").text == "Well."
    assert transcript(session) == ["user: hi", "user: hi again", "assistant: Well."]


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (None, "None"),
        ({}, "an empty dict"),
        (b"", "an empty bytes"),
        (5, "an int"),
        (True, "a bool"),
        ({1}, "a set"),
        (("a",), "a tuple"),
        (object(), "an object"),
    ],
    ids=["none", "dict", "bytes", "int", "bool", "set", "tuple", "object"],
)
def test_what_is_no_answer_of_the_model_names_call_model(
    either: compactord.Client, chat: Provider, wrong: Any, named: str
) -> None:
    """Nothing of it is appended."""
    session = either.create_session(dialect=chat.dialect)
    with pytest.raises(TypeError, match=f"^call_model returned {named}: it must return the model's answer"):
        session.run_turn(lambda _: wrong, "hi")
    with pytest.raises(TypeError, match=r"^call_model: an event of its stream is of the type int"):
        session.run_turn(lambda _: iter([5]))
    assert transcript(session) == ["user: hi"]


def test_what_is_no_function_is_named(either: compactord.Client) -> None:
    session = either.create_session()
    no: Any = 5
    with pytest.raises(TypeError, match=r"^call_model: must be a function, not of the type int"):
        session.run_turn(no, "hi")
    for given in ("run_tool", "on_event", "summarize_with"):
        with pytest.raises(TypeError, match=f"^{given}: must be a function, not of the type int"):
            session.run_turn(lambda _: "x", "hi", **{given: no})
    with pytest.raises(TypeError, match=r"^tools: must be AgentTools\(session\), not of the type list"):
        session.run_turn(lambda _: "x", "hi", tools=cast(Any, [{}]))
    with pytest.raises(TypeError, match=r"^write: must be a function, not of the type int"):
        session.compact_with(no)
    assert transcript(session) == []


@pytest.mark.filterwarnings("error")
def test_a_coroutine_that_nobody_awaits_names_the_function(client: compactord.Client, chat: Provider) -> None:
    """An `async def` given to a client for threads, which awaits nothing."""

    async def forgotten(_: object) -> str:
        return "Well."

    def empty(_: object) -> dict[str, Any]:
        return {}

    session = client.create_session(dialect=chat.dialect)
    with pytest.raises(TypeError, match=r"call_model returned a coroutine, which nobody awaits: .* AsyncClient"):
        session.run_turn(cast(Any, forgotten), "hi")
    model = Model(chat, Said("", [LOOK]), Said("Done."))
    with pytest.raises(TypeError, match="run_tool for call call-1 of look returned a coroutine"):
        session.run_turn(model, "hi again", run_tool=cast(Any, forgotten))
    assert session.run_turn(model, run_tool=lambda _: "seen").text == "Done."
    small = client.create_session(policy=_small())
    small.append(*["a long text " * 200] * 40)
    with pytest.raises(TypeError, match="write returned a coroutine"):
        small.compact_with(cast(Any, forgotten))
    with pytest.raises(TypeError, match="write returned dict: it must return a str or a PromptAnswer"):
        small.compact_with(cast(Any, empty))


def test_messages_of_two_shapes_do_not_poison_the_session(either: compactord.Client, chat: Provider) -> None:
    """The turn's own messages are refused, once."""
    session = either.create_session(dialect=chat.dialect)
    with pytest.raises(TypeError, match="two"):
        session.run_turn(Model(chat), "hi", {"role": "user", "content": "ho"})
    assert session.run_turn(Model(chat, Said("Well.")), "hi").done
    assert transcript(session) == ["user: hi", "assistant: Well."]


def test_a_wrong_announcement_does_not_poison_the_session(either: compactord.Client, chat: Provider) -> None:
    """What announce returns and cannot be appended ends the next turn, and is dropped. The compaction is done."""
    session = either.create_session(policy=_small(), dialect=chat.dialect)
    session.append(compactord.user("why " * 900), compactord.assistant("because " * 900), compactord.user("so?"))
    session.announce = lambda _: object()
    assert session.compact()
    with pytest.raises(TypeError):
        session.run_turn(_never, "hi")
    assert session.run_turn(Model(chat, Said("Well."))).done


def _never(_: View) -> str:
    raise AssertionError


def _small() -> dict[str, Any]:
    strategy = {"summarize": {"recent_tokens": 50, "max_summary_tokens": 500}}
    return {"context_window": 20_000, "strategy": strategy}


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (5, "an int for call call-1 of look: "),
        (b"x", "a bytes for call call-1 of look: "),
        (compactord.assistant("no"), ".* for call call-1 of look: it is not a TOOL message"),
        (compactord.tool_result("call-2", "no"), ".* for call call-1 of look: .* another call"),
        ({"at": NOW}, "a dict for call call-1 of look: a datetime"),
        ({"n": float("nan")}, "a dict for call call-1 of look: NaN"),
        (ToolOutput(cast(Any, 5)), ".* for call call-1 of look: its text is an int"),
    ],
    ids=["int", "bytes", "assistant", "call", "datetime", "nan", "output"],
)
def test_a_wrong_result_is_told_and_asked_for_again(
    either: compactord.Client, chat: Provider, wrong: Any, text: str
) -> None:
    """The error names the call and the tool. Taken up again, the turn asks the tool, and not the model, again."""
    session = either.create_session(dialect=chat.dialect)
    model = Model(chat, Said("", [LOOK]), Said("Done."))
    with pytest.raises(TypeError, match=f"run_tool returned {text}"):
        session.run_turn(model, "hi", run_tool=lambda _: wrong)
    assert session.run_turn(model, run_tool=lambda _: "seen").text == "Done."
    assert transcript(session) == ["user: hi", "assistant: look({})", "tool: look: seen", "assistant: Done."]


@pytest.mark.parametrize("dialect", ["openai_chat", None])
def test_a_neutral_result_without_an_id_gets_its_calls(either: compactord.Client, chat: Provider, dialect: Any) -> None:
    session = either.create_session(dialect=dialect)
    call = {"role": "ROLE_ASSISTANT", "parts": [{"tool_call": {"id": "call-1", "name": "look", "arguments": "{}"}}]}
    answers: list[Any] = [chat.body(Said("", [LOOK])) if dialect else call, compactord.assistant("Done.")]
    without = compactord.tool_result("", "good")
    session.run_turn(lambda _: answers.pop(0), "hi", run_tool=lambda _: without if dialect else _neutral_result(""))
    logged = [message.message for message in session.messages()]
    assert logged[2].parts[0].tool_result.call_id == "call-1"
    # The caller's own message is left as it is.
    assert without.parts[0].tool_result.call_id == ""


def test_a_result_that_the_daemon_refuses_is_asked_for_again(either: compactord.Client, chat: Provider) -> None:
    """A message in the dialect whose id is that of no call: only the daemon knows."""
    session = either.create_session(dialect=chat.dialect)
    model = Model(chat, Said("", [LOOK]), Said("Done."))
    wrong = {"role": "tool", "tool_call_id": 7, "content": "no"}
    with pytest.raises(compactord.InvalidRequestError, match="the result of run_tool for call call-1 of look"):
        session.run_turn(model, "hi", run_tool=lambda _: wrong)
    assert session.run_turn(model, run_tool=lambda _: "seen").text == "Done."
    assert transcript(session) == ["user: hi", "assistant: look({})", "tool: look: seen", "assistant: Done."]


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (None, ""),
        ({"temp": 5}, '{"temp":5}'),
        ([1, "é"], '[1,"é"]'),
        (["a"], '["a"]'),
        ([], "[]"),
    ],
    ids=["none", "dict", "list", "texts", "empty"],
)
def test_data_is_a_result(either: compactord.Client, chat: Provider, output: Any, text: str) -> None:
    """A dict that is no message, and a list, are their JSON; None is empty."""
    session = either.create_session(dialect=chat.dialect)
    turn = session.run_turn(Model(chat, Said("", [LOOK]), Said("Done.")), "hi", run_tool=lambda _: output)
    assert turn.done
    assert transcript(session)[2] == f"tool: look: {text}"


def test_a_dict_is_a_result_without_a_dialect(either: compactord.Client) -> None:
    """Data is JSON there, too, and a message in the JSON of the contract a message."""
    session = either.create_session()
    call = {"role": "ROLE_ASSISTANT", "parts": [{"tool_call": {"id": "call-1", "name": "look", "arguments": "{}"}}]}
    answers: list[Any] = [call, call, "Done."]

    outputs: list[dict[str, Any]] = [{"temp": 5}, _neutral_result("call-1")]

    def run_tool(_: ToolCall) -> dict[str, Any]:
        return outputs.pop(0)

    assert session.run_turn(lambda _: answers.pop(0), "hi", run_tool=run_tool).done
    assert [one for one in transcript(session) if one.startswith("tool")] == ['tool: look: {"temp":5}', "tool: : seen"]


def _neutral_result(call: str) -> dict[str, Any]:
    parts = [{"tool_result": {"call_id": call, "parts": [{"text": {"text": "seen"}}]}}]
    return {"role": "ROLE_TOOL", "parts": parts}
