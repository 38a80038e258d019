"""Turns that broke off, were reverted or were cut, and how the next run goes on."""

from __future__ import annotations

from typing import Any, cast

import pytest

import compactord
from agents import Model, attempts, compactions, fill, is_async, plain, policy, tools_of, transcript
from compactord import CompactionResult, ToolCall, v1
from compactord.view import View
from failures import Failing
from providers import Called, Provider, Said

DUE = {"trigger": {"trigger_tokens": 6_000}}
LOOK = [Called("call-1", "look")]


def _interrupted(session: compactord.Session, chat: Provider) -> None:
    def interrupt(_: ToolCall) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        session.run_turn(Model(chat, Said("", LOOK)), "Go on.", run_tool=interrupt)


@pytest.mark.parametrize("by", ["itself", "another"])
@pytest.mark.parametrize("back", ["revert", "clear"])
def test_tools_of_calls_that_were_reverted_are_not_run(
    client: compactord.Client, chat: Provider, by: str, back: str
) -> None:
    session = client.create_session(policy=policy(), dialect=chat.dialect)
    session.append("zero", compactord.assistant("yes"))
    _interrupted(session, chat)
    who = session if by == "itself" else client.session(session.id, dialect="openai_chat")
    if back == "revert":
        who.revert(turns=1)
    else:
        who.clear()
        session.append("Begin anew.")
    ran: list[str] = []

    def run_tool(call: ToolCall) -> str:
        ran.append(call.id)
        return "seen"

    turn = session.run_turn(Model(chat, Said("Done.")), run_tool=run_tool)
    assert turn.done
    assert not ran
    assert not any(line.startswith("tool:") for line in transcript(session))


def test_a_tool_that_reverts_its_own_call_leaves_no_stray_result(either: compactord.Client, chat: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=chat.dialect)
    session.append("zero", compactord.assistant("yes"), "one")
    point = session.checkpoint().id
    other = client_session(session)

    async def later(_: ToolCall) -> str:
        await other.revert(to_checkpoint=point)
        return "seen"

    def now(_: ToolCall) -> str:
        other.revert(to_checkpoint=point)
        return "seen"

    model = Model(chat, Said("", LOOK), Said("Done."))
    run_tool: Any = later if is_async(either) else now
    assert session.run_turn(model, run_tool=run_tool).done
    assert not any(line.startswith("tool:") for line in transcript(session))


def client_session(session: compactord.Session) -> Any:
    """The session object itself: what is called within a turn is not to be waited for by the loop of the test."""
    return plain(session)


CUTS: dict[str, list[dict[str, Any]]] = {
    "anthropic": [
        {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": []}},
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    ],
    "openai_responses": [
        {"type": "response.created", "response": {"id": "r", "output": [], "status": "in_progress"}},
        {
            "type": "response.failed",
            "response": {
                "id": "r",
                "status": "failed",
                "error": {"code": "server_error", "message": "x"},
                "output": [],
            },
        },
    ],
}


def test_a_cut_or_failed_answer_is_not_done(either: compactord.Client, provider: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=provider.dialect)
    if provider.dialect is None:
        pytest.skip("neutral answers are not streamed in events")
    events = provider.events(Said("I begin to say"))
    turn = session.run_turn(lambda _: iter(events[: len(events) // 2]), "Hello.")
    assert not turn.done
    assert turn.answer is not None
    assert turn.answer.stop_reason == v1.StopReason.STOP_REASON_ABORTED
    failed = CUTS.get(provider.name)
    if failed is not None:
        turn = session.run_turn(lambda _: iter(failed))
        assert not turn.done
        assert turn.answer is not None
        assert turn.answer.stop_reason == v1.StopReason.STOP_REASON_ERROR
    # The model is asked again, and shown none of it.
    model = Model(provider, Said("Done."))
    assert session.run_turn(model).done
    assert "I begin" not in str(model.views[0].messages)


def test_case_164_an_own_model_that_fails_does_not_end_a_turn(either: compactord.Client, chat: Provider) -> None:
    session = either.create_session(policy=policy(**DUE), dialect=chat.dialect)
    fill(session, 8_000)
    failure = RuntimeError("rate limited")

    def write(_: compactord.Prompt) -> Any:
        raise failure

    turn = session.run_turn(Model(chat, Said("Done.")), "Go on.", summarize_with=write)
    assert turn.done
    assert turn.compactions == (failure,)
    assert not compactions(session)
    assert not attempts(session)
    # After an overflow it does, and the provider's error is its cause.
    overflow = chat.overflow()
    off = either.create_session(policy=policy(), dialect=chat.dialect)
    fill(off, 8_000)
    with pytest.raises(RuntimeError) as caught:
        off.run_turn(Model(chat, overflow), "Go on.", summarize_with=write)
    assert caught.value is failure
    assert failure.__cause__ is overflow
    # And takes no permission with it.
    assert off.run_turn(Model(chat, chat.overflow(), Said("Done."))).done


def test_what_on_event_raises_ends_the_turn(either: compactord.Client, chat: Provider) -> None:
    session = either.create_session(policy=policy(**DUE), dialect=chat.dialect)
    fill(session, 8_000)

    def on_event(_: v1.CompactionEvent) -> None:
        raise compactord.CompactordError("the program broke")

    model = Model(chat, Said("Done."))
    with pytest.raises(compactord.CompactordError, match="the program broke"):
        session.run_turn(model, "Go on.", on_event=on_event)
    assert not model.views


def _said(text: str, why: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    usage = {"input_tokens": 5_000, "output_tokens": 1_900}
    return {"type": "message", "role": "assistant", "stop_reason": why, "content": content, "usage": usage}


def test_nothing_comes_between_a_paused_answer_and_its_continuation(either: compactord.Client) -> None:
    session = either.create_session(policy=policy(**DUE), dialect="anthropic")
    fill(session, 5_000)
    session.announce = lambda _: "ANNOUNCEMENT"
    answers = [_said("Searching " + "word " * 1_500, "pause_turn"), _said("found", "end_turn")]
    turn = session.run_turn(lambda _: answers.pop(0), "Go on.")
    assert len(turn.compactions) == 1
    assert [line[:20] for line in transcript(session)][-2:] == ["assistant: Searching", "assistant: found"]


def test_no_checkpoint_comes_between_a_paused_answer_and_its_continuation(either: compactord.Client) -> None:
    session = either.create_session(policy=policy(), dialect="anthropic")
    tools = tools_of(session, dmail=True)
    assert not session.run_turn(lambda _: _said("Searching", "pause_turn"), "Go on.", max_steps=1).done
    assert session.run_turn(lambda _: _said("found", "end_turn"), tools=tools).done
    assert transcript(session) == ["user: Go on.", "assistant: Searching", "assistant: found"]
    # What the user says ends the pause.
    session.run_turn(lambda _: _said("Searching", "pause_turn"), "And on.", max_steps=1)
    session.run_turn(lambda _: _said("Well.", "end_turn"), "Never mind.", checkpoint_steps=True)
    assert len(list(session.checkpoints())) == 1


def test_an_announcement_that_raises_is_asked_for_again(either: compactord.Client, chat: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=chat.dialect)
    fill(session, 8_000)
    broken = [True]

    def announce(_: CompactionResult) -> str:
        if broken:
            raise RuntimeError("announce broke")
        return "Task 1 is still running."

    session.announce = announce
    assert session.compact()
    with pytest.raises(RuntimeError, match="announce broke"):
        session.run_turn(Model(chat), "Go on.")
    broken.clear()
    assert session.run_turn(Model(chat, Said("Done."))).done
    assert transcript(session)[-3:] == ["user: Go on.", "developer: Task 1 is still running.", "assistant: Done."]


def test_new_input_is_kept_where_an_unsent_answer_was_reverted(either: compactord.Client, chat: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=chat.dialect)
    session.append("zero", compactord.assistant("yes"))
    other = either.session(session.id, dialect="openai_chat")

    def answer(_: View) -> Any:
        Failing(session).fails(v1.AppendMessagesRequest, reached=False)
        return chat.body(Said("Lost."))

    with pytest.raises(compactord.UnavailableError):
        session.run_turn(answer, "Go on.")
    other.revert(turns=1)
    model = Model(chat, Said("Done."))
    assert session.run_turn(model, "A new question.").done
    assert "A new question." in str(model.views[0].messages)
    assert "Lost." not in str(transcript(session))


def test_input_that_was_given_up_does_not_come_back(either: compactord.Client, chat: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=chat.dialect)
    Failing(session).fails(v1.AppendMessagesRequest, reached=False)
    with pytest.raises(compactord.UnavailableError):
        session.run_turn(Model(chat), "hello")
    session.append("typed later", compactord.assistant("an answer"))
    session.run_turn(Model(chat, Said("Done.")), "third")
    assert transcript(session) == ["user: typed later", "assistant: an answer", "user: third", "assistant: Done."]


def test_a_checkpoint_whose_answer_was_lost_is_announced_once(either: compactord.Client, chat: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=chat.dialect)
    tools = tools_of(session, dmail=True)
    Failing(session).fails(v1.CreateCheckpointRequest, reached=True)
    with pytest.raises(compactord.UnavailableError):
        session.run_turn(Model(chat), "Go on.", tools=tools)
    assert session.run_turn(Model(chat, Said("Done.")), tools=tools).done
    assert len(list(session.checkpoints())) == 1


def test_a_mail_to_a_checkpoint_that_was_put_aside_meanwhile_is_not_delivered(
    client: compactord.Client, chat: Provider
) -> None:
    session = client.create_session(policy=policy(), dialect=chat.dialect)
    start = session.checkpoint().id
    session.append("Go on.")
    tools = compactord.AgentTools(session, dmail=True)
    take = tools.take_mail

    def late() -> Any:
        client.session(session.id).revert(to_checkpoint=start)
        return take()

    vars(tools)["take_mail"] = late
    model = Model(
        chat, Said("", [Called("call-1", "send_dmail", '{"message": "m", "checkpoint_id": 2}')]), Said("Done.")
    )
    assert session.run_turn(model, tools=tools).done
    assert len(model.views) == 2


@pytest.mark.parametrize("steps", [0, -1])
def test_max_steps_is_at_least_one(either: compactord.Client, chat: Provider, steps: int) -> None:
    session = either.create_session(policy=policy(), dialect=chat.dialect)
    with pytest.raises(ValueError, match="max_steps"):
        session.run_turn(Model(chat), "Go on.", max_steps=steps)
    assert not transcript(session)


@pytest.mark.parametrize("empty", [iter(()), iter((b"",)), []], ids=["stream", "bytes", "list"])
def test_a_stream_without_events_is_told(client: compactord.Client, chat: Provider, empty: Any) -> None:
    session = client.create_session(policy=policy(), dialect=chat.dialect)
    with pytest.raises(ValueError, match="the model's stream had no events"):
        session.run_turn(lambda _: empty, "Go on.")


def test_what_opens_a_stream_is_told_apart(client: compactord.Client, chat: Provider) -> None:
    class Manager:
        def __enter__(self) -> None: ...
        def __exit__(self, *_: object) -> None: ...

    session = client.create_session(policy=policy(), dialect=chat.dialect)
    with pytest.raises(TypeError, match="with it as stream: yield from stream"):
        session.run_turn(lambda _: cast("Any", Manager()), "Go on.")


def test_open_calls_and_a_rejection_are_both_told(client: compactord.Client, chat: Provider) -> None:
    session = client.create_session(policy=policy(), dialect=chat.dialect)

    class Rejecting(compactord.AgentTools):
        def handle(self, call: ToolCall) -> compactord.ToolOutput | None:
            if call.id == "call-1":
                raise compactord.ToolRejected
            return None

    model = Model(chat, Said("", [*LOOK, Called("call-2", "look")]))
    turn = session.run_turn(model, "Go on.", tools=Rejecting(session))
    assert turn.rejected
    assert [call.id for call in turn.tool_calls] == ["call-2"]


def test_errors_of_turns_have_reasons() -> None:
    for error, reason in (
        (compactord.TurnAbortedError("x"), "TURN_ABORTED"),
        (compactord.ContextOverflowError("x"), "CONTEXT_OVERFLOW"),
    ):
        assert error.reason == reason
        assert error.code.name != "UNKNOWN"
