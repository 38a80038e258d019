"""Turns in each dialect, with answers in each form that they come in."""

from __future__ import annotations

import pytest

import compactord
from agents import Model, compactions, fill, policy, transcript
from compactord import ToolCall, v1
from providers import WINDOW, Called, Provider, Said

WEATHER = Called("call-1", "weather", '{"city":"Łódź"}')
FORMS = ["body", "sdk", "bytes", "events", "stream"]


@pytest.mark.parametrize("form", FORMS)
def test_a_turn_with_a_tool_call(either: compactord.Client, provider: Provider, form: str) -> None:
    if provider.dialect is None and form != "body":
        pytest.skip("neutral answers come in one form")
    session = either.create_session(policy=policy(), dialect=provider.dialect)
    model = Model(provider, Said("I look.", [WEATHER], 100), Said("It is sunny.", input_tokens=120), form=form)
    asked: list[ToolCall] = []

    def run_tool(call: ToolCall) -> str:
        asked.append(call)
        return f"sunny in {call.json()['city']}"

    turn = session.run_turn(model, "How is the weather?", run_tool=run_tool)
    assert turn.done
    assert turn.text == "It is sunny."
    assert turn.steps == 2
    assert not turn.tool_calls
    assert turn.answer is not None
    assert turn.answer.usage.input_tokens == 120
    [call] = asked
    assert (call.id, call.name, call.json(), call.index) == ("call-1", "weather", {"city": "Łódź"}, 1)
    lines = transcript(session)
    assert [line.replace(" ", "") for line in lines] == [
        "user:Howistheweather?",
        'assistant:Ilook.weather({"city":"Łódź"})',
        "tool:weather:sunnyinŁódź",
        "assistant:Itissunny.",
    ]
    assert 0 < model.views[1].messages_sent < len(model.views[1].messages)


def test_text_alone_is_an_answer(either: compactord.Client, provider: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=provider.dialect)
    assert session.run_turn(lambda _: "Hello.", "Hi").text == "Hello."
    assert session.run_turn(lambda _: iter(["Hel", "lo ", "again."]), "Hi").text == "Hello again."
    assert transcript(session) == ["user: Hi", "assistant: Hello.", "user: Hi", "assistant: Hello again."]


def test_calls_without_a_tool_are_handed_out(either: compactord.Client, provider: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=provider.dialect)
    other = Called("call-2", "weather", '{"city":"Oslo"}')
    model = Model(provider, Said("I look.", [WEATHER, other]), Said("Sunny."))
    turn = session.run_turn(model, "How is the weather?")
    assert not turn.done
    assert [call.id for call in turn.tool_calls] == ["call-1", "call-2"]
    results = [compactord.tool_result(call, "sunny") for call in turn.tool_calls]
    assert session.run_turn(model, *results).done
    assert transcript(session)[2:] == ["tool: weather: sunny", "tool: weather: sunny", "assistant: Sunny."]


def test_case_156_an_overflow_is_compacted_and_tried_again_once(either: compactord.Client, provider: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=provider.dialect)
    fill(session, 8_000)
    model = Model(provider, provider.overflow(), Said("Done."))
    turn = session.run_turn(model, "Go on.")
    assert turn.done
    assert turn.text == "Done."
    assert turn.steps == 1
    [entry] = compactions(session)
    assert entry.provenance.reason == v1.CompactionReason.COMPACTION_REASON_OVERFLOW
    assert len(turn.compactions) == 1
    assert len(model.views[1].messages) < len(model.views[0].messages)
    # What the provider refused leaves no trace but the compaction.
    assert transcript(session)[-2:] == ["user: Go on.", "assistant: Done."]


def test_case_156_the_second_overflow_gives_up(either: compactord.Client, provider: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=provider.dialect)
    fill(session, 8_000)
    second = provider.overflow()
    model = Model(provider, provider.overflow(), second)
    with pytest.raises(compactord.ContextOverflowError) as caught:
        session.run_turn(model, "Go on.")
    assert caught.value.__cause__ is second
    assert caught.value.why
    assert str(len(model.views)) == "2"
    assert len(compactions(session)) == 1
    assert "tokens" in str(caught.value)
    # Without a new message there is no new permission.
    with pytest.raises(compactord.ContextOverflowError):
        session.run_turn(Model(provider, provider.overflow()))
    assert len(compactions(session)) == 1


def test_case_156_an_answer_that_is_an_overflow(either: compactord.Client, provider: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=provider.dialect)
    fill(session, 8_000)
    model = Model(provider, Said("I have lost the thread.", input_tokens=WINDOW + 1), Said("Done.", input_tokens=3_000))
    turn = session.run_turn(model, "Go on.")
    assert turn.done
    assert turn.text == "Done."
    assert turn.steps == 1
    # The failed answer is kept in the log, and no view shows it.
    assert transcript(session)[-3:] == [
        "user: Go on.",
        "assistant (failed): I have lost the thread.",
        "assistant: Done.",
    ]
    assert "lost the thread" not in str(session.view().messages)
    assert len(compactions(session)) == 1

    twice = Model(provider, *[Said("Lost.", input_tokens=WINDOW + 1)] * 2)
    with pytest.raises(compactord.ContextOverflowError) as caught:
        session.run_turn(twice, *[f"On with it. {'And on. ' * 500}"] * 4)
    assert caught.value.__cause__ is None
    assert str(WINDOW) in caught.value.why.replace(",", "")


def test_case_157_the_permission_comes_back(either: compactord.Client, provider: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=provider.dialect)
    fill(session, 8_000)
    big = "line of output\n" * 1_500
    look = [Called("call-1", "look"), Called("call-2", "look")]
    # Within one turn: after an overflow an answer that calls tools brings it back.
    model = Model(
        provider, provider.overflow(), Said("", look[:1]), Said("", look[1:]), provider.overflow(), Said("Done.")
    )
    turn = session.run_turn(model, "Go on.", run_tool=lambda _: big)
    assert turn.done
    assert len(turn.compactions) == 2
    # And a new message does, where the turn before gave up.
    fill(session, 6_000)
    with pytest.raises(compactord.ContextOverflowError):
        session.run_turn(Model(provider, provider.overflow(), provider.overflow()), "And now?")
    fill(session, 6_000)
    turn = session.run_turn(Model(provider, provider.overflow(), Said("Done.")), "Once more.")
    assert turn.done
    assert len(turn.compactions) == 1


def test_case_158_other_errors_are_raised_as_they_are(either: compactord.Client, provider: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=provider.dialect)
    fill(session, 8_000)
    failure = provider.failure()
    model = Model(provider, failure)
    with pytest.raises(type(failure)) as caught:
        session.run_turn(model, "Go on.")
    assert caught.value is failure
    assert len(model.views) == 1
    assert transcript(session)[-1] == "user: Go on."
    assert not compactions(session)
    # The turn is taken up where it stopped.
    assert session.run_turn(Model(provider, Said("Done."))).text == "Done."
    assert transcript(session)[-2:] == ["user: Go on.", "assistant: Done."]
