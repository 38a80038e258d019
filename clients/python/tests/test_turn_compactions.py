"""Compactions in turns, and turns and compactions at the same time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest

import compactord
from agents import Model, attempts, client_of, compactions, fill, is_async, plain, policy, transcript
from compactord import CompactionResult, v1
from compactord.view import View
from failures import raising, reason_of
from providers import WINDOW, Called, Provider, Said
from summarizer_server import SummarizerServer, summary

DUE = {"trigger": {"trigger_tokens": 6_000}}
LOOK = [Called("call-1", "look")]


@pytest.fixture(autouse=True)
def in_order(summarizer: SummarizerServer) -> Iterator[None]:
    """Each test finds the model ready, and unasked."""
    summarizer.requests = 0
    while not summarizer.asked.empty():
        summarizer.asked.get()
    yield
    summarizer.release()


def in_thread(work: Callable[[], Any]) -> Future[Any]:
    """Do something in a thread of its own."""
    done: Future[Any] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return done


def test_a_turn_compacts_when_it_is_due(either: compactord.Client, provider: Provider) -> None:
    session = either.create_session(policy=policy(**DUE), dialect=provider.dialect)
    fill(session, 8_000)
    events: list[v1.CompactionEvent] = []
    turn = session.run_turn(Model(provider, Said("Done.")), "Go on.", on_event=events.append)
    [entry] = compactions(session)
    assert entry.provenance.reason == v1.CompactionReason.COMPACTION_REASON_THRESHOLD
    assert [type(one) for one in turn.compactions] == [CompactionResult]
    assert events[0].HasField("started")
    assert events[-1].HasField("completed")
    assert not any(event.will_retry for event in events)
    assert turn.report is not None
    assert turn.report.tokens < 6_000


def test_the_own_model_writes_the_summary(either: compactord.Client, chat: Provider) -> None:
    session = either.create_session(policy=policy(**DUE), dialect=chat.dialect)
    fill(session, 8_000)
    asked: list[compactord.Prompt] = []

    def write(prompt: compactord.Prompt) -> Any:
        asked.append(prompt)
        text = "no summary"
        return answer_later(text) if is_async(either) else text

    turn = session.run_turn(Model(chat, Said("Done.")), "Go on.", summarize_with=write)
    assert turn.done
    assert len(turn.compactions) == 1
    # One text covers the small first part of the turn, too: one prompt a try. The third try falls back.
    assert [bool(prompt.complaint) for prompt in asked] == [False, True, True]


async def answer_later(text: str) -> str:
    return text


def test_case_163_a_compaction_that_fails_after_an_overflow_is_raised(
    either: compactord.Client, provider: Provider, summarizer: SummarizerServer
) -> None:
    session = either.create_session(policy=policy(summary=summary(fails=True)), dialect=provider.dialect)
    fill(session, 8_000)
    overflow = provider.overflow()
    model = Model(provider, overflow)
    events: list[v1.CompactionEvent] = []
    with raising("SUMMARIZER_UNAVAILABLE") as caught:
        session.run_turn(model, "Go on.", on_event=events.append)
    assert caught.value.__cause__ is overflow
    assert [event.WhichOneof("event") for event in events].count("failed") == 1
    assert all(event.will_retry for event in events)
    assert len(model.views) == 1
    assert summarizer.requests == 1
    assert not compactions(session)
    assert len(attempts(session)) == 1
    assert transcript(session)[-1] == "user: Go on."


def test_an_overflow_with_nothing_to_compact_is_a_context_overflow(
    either: compactord.Client, provider: Provider
) -> None:
    session = either.create_session(policy=policy(), dialect=provider.dialect)
    overflow = provider.overflow()
    with pytest.raises(compactord.ContextOverflowError) as caught:
        session.run_turn(Model(provider, overflow), "Go on.")
    assert caught.value.__cause__ is overflow
    assert caught.value.reason == "CONTEXT_OVERFLOW"
    assert caught.value.context_window == WINDOW
    assert caught.value.tokens is not None
    assert caught.value.tokens < 100
    assert caught.value.why


def test_case_164_a_threshold_compaction_that_fails_is_told_once(
    either: compactord.Client, provider: Provider, summarizer: SummarizerServer
) -> None:
    session = either.create_session(policy=policy(summary=summary(fails=True), **DUE), dialect=provider.dialect)
    fill(session, 8_000)
    events: list[v1.CompactionEvent] = []
    model = Model(provider, Said("", LOOK), Said("", [Called("call-2", "look")]), Said("Done."))
    turn = session.run_turn(model, "Go on.", run_tool=lambda call: call.id, on_event=events.append)
    assert turn.done
    assert turn.steps == 3
    assert [reason_of(one) for one in turn.compactions] == ["SUMMARIZER_UNAVAILABLE"]
    assert [event.WhichOneof("event") for event in events].count("failed") == 1
    assert summarizer.requests == 1
    # The next turn tries again.
    turn = session.run_turn(Model(provider, Said("Done.")), "And on.")
    assert turn.done
    assert summarizer.requests == 2


def test_case_164_nothing_to_compact_is_silent_and_disables_nothing(either: compactord.Client, chat: Provider) -> None:
    # A strategy that hides tool results has nothing to hide until the last step.
    hide = {"hide_tool_results": {"keep_groups": 1}}
    session = either.create_session(policy=policy(**DUE) | {"strategy": hide}, dialect=chat.dialect)
    fill(session, 8_000)
    events: list[str | None] = []
    model = Model(chat, Said("", LOOK), Said("", [Called("call-2", "look")]), Said("Done."))
    turn = session.run_turn(
        model,
        "Go on.",
        run_tool=lambda _: "word " * 3_000,
        on_event=lambda event: events.append(event.WhichOneof("event")),
    )
    assert turn.done
    # The context is over the trigger from the first step on. Nothing was told of that before there was something to do.
    assert events[0] == "started"
    assert events[-1] == "completed"
    assert len(model.views[1].messages) > len(model.views[0].messages)
    assert [type(one) for one in turn.compactions] == [CompactionResult]


def by_call(session: compactord.Session) -> None:
    assert session.compact()


def by_events(session: compactord.Session) -> None:
    assert [event.WhichOneof("event") for event in session.compacting()][-1] == "completed"


@pytest.mark.parametrize("compact", [by_call, by_events])
def test_case_168_compact_aborts_the_turn_first(
    client: compactord.Client, provider: Provider, compact: Callable[[compactord.Session], None]
) -> None:
    session = client.create_session(policy=policy(), dialect=provider.dialect)
    fill(session, 8_000)
    called, released = threading.Event(), threading.Event()

    def late(_: View) -> Any:
        called.set()
        released.wait()
        return provider.body(Said("Too late.", LOOK))

    turn = in_thread(lambda: session.run_turn(late, "Go on."))
    called.wait()
    compact(session)
    before = transcript(session)
    released.set()
    with pytest.raises(compactord.TurnAbortedError):
        turn.result()
    assert transcript(session) == before
    assert before[-1] == "user: Go on."
    # The next turn goes on.
    assert session.run_turn(Model(provider, Said("Done."))).done


def test_case_168_a_streamed_answer_ends_at_its_next_event(client: compactord.Client, provider: Provider) -> None:
    session = client.create_session(policy=policy(), dialect=provider.dialect)
    fill(session, 8_000)
    called, released = threading.Event(), threading.Event()
    seen: list[Any] = []
    closed: list[bool] = []

    def stream(_: View) -> Iterator[Any]:
        try:
            for event in provider.events(Said("A long answer.")):
                seen.append(event)
                called.set()
                released.wait()
                yield event
        finally:
            closed.append(True)

    turn = in_thread(lambda: session.run_turn(stream, "Go on."))
    called.wait()
    assert session.compact()
    released.set()
    with pytest.raises(compactord.TurnAbortedError):
        turn.result()
    assert len(seen) == 1
    assert closed == [True]
    assert transcript(session)[-1] == "user: Go on."


async def test_case_168_compact_cancels_the_models_task(client: compactord.Client, provider: Provider) -> None:
    async with compactord.AsyncClient(client.address) as made:
        session = await made.create_session(policy=policy(), dialect=provider.dialect)
        for number in range(8):
            await session.append(compactord.user(f"question {number}"), compactord.assistant("word " * 800))
        called = asyncio.Event()
        cancelled: list[bool] = []

        async def late(_: View) -> Any:
            called.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(True)
                raise

        turn = asyncio.create_task(session.run_turn(late, "Go on."))
        await called.wait()
        assert await session.compact()
        with pytest.raises(compactord.TurnAbortedError):
            await turn
        assert cancelled == [True]
        last = [message async for message in session.messages()][-1]
        assert last.message.role == v1.Role.ROLE_USER


@pytest.mark.filterwarnings("ignore::compactord.CompactordWarning")
def test_case_168_compact_aborts_a_turn_that_compacts(client: compactord.Client, summarizer: SummarizerServer) -> None:
    session = client.create_session(policy=policy(summary=summary(fails=False), **DUE))
    fill(session, 8_000)
    summarizer.hold()
    turn = in_thread(lambda: session.run_turn(lambda _: "Never asked.", "Go on."))
    summarizer.asked.get()
    by_hand = in_thread(session.compact)
    summarizer.asked.get()
    summarizer.release()
    assert by_hand.result()
    with pytest.raises(compactord.TurnAbortedError):
        turn.result()
    assert [entry.provenance.reason for entry in compactions(session)] == [v1.CompactionReason.COMPACTION_REASON_MANUAL]
    assert transcript(session)[-1] == "user: Go on."


def test_a_tool_aborts_its_own_turn(either: compactord.Client, provider: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=provider.dialect)
    model = Model(provider, Said("I look.", LOOK), Said("Too late."))
    with pytest.raises(compactord.TurnAbortedError):
        session.run_turn(model, "Go on.", run_tool=lambda _: plain(session).abort_turn())
    assert len(model.views) == 1
    assert transcript(session)[-1] == "assistant: I look. look({})"


def beside_by_call(session: compactord.Session) -> None:
    assert session.compact(abort_running=False)


def beside_by_events(session: compactord.Session) -> None:
    events = session.compacting(abort_running=False)
    assert [event.WhichOneof("event") for event in events][-1] == "completed"


@pytest.mark.parametrize("compact", [beside_by_call, beside_by_events])
def test_a_compaction_beside_a_turn(
    client: compactord.Client, provider: Provider, compact: Callable[[compactord.Session], None]
) -> None:
    session = client.create_session(policy=policy(), dialect=provider.dialect)
    fill(session, 8_000)
    called, released = threading.Event(), threading.Event()

    def late(_: View) -> Any:
        called.set()
        released.wait()
        return provider.body(Said("In time."))

    turn = in_thread(lambda: session.run_turn(late, "Go on."))
    called.wait()
    compact(session)
    released.set()
    assert turn.result().text == "In time."
    assert transcript(session)[-1] == "assistant: In time."


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.filterwarnings("ignore::compactord.CompactordWarning")
def test_case_170_input_during_a_compaction(
    client: compactord.Client, provider: Provider, summarizer: SummarizerServer, fails: bool
) -> None:
    session = client.create_session(policy=policy(summary=summary(fails=fails)), dialect=provider.dialect)
    fill(session, 8_000)
    summarizer.hold()
    compacting = in_thread(session.compact)
    summarizer.asked.get()
    # What is appended is in the log at once.
    before = session.append("By the way.").report
    assert transcript(session)[-1] == "user: By the way."
    model = Model(provider, Said("Done."))
    with session.watch() as watched:
        turn = in_thread(lambda: session.run_turn(model, "Go on."))
        for item in watched:
            if isinstance(item, v1.LoggedMessage) and item.message.parts[0].text.text == "Go on.":
                break
    # The turn's message is in the log, and the model is not called before the compaction has ended.
    assert not model.views
    assert not turn.done()
    summarizer.release()
    if fails:
        with raising("SUMMARIZER_UNAVAILABLE"):
            compacting.result()
    else:
        assert compacting.result()
    assert turn.result().done
    assert transcript(session)[-3:] == ["user: By the way.", "user: Go on.", "assistant: Done."]
    assert "By the way." in str(model.views[0].messages)
    assert len(compactions(session)) == (0 if fails else 1)
    # The model was called with the view that the compaction left.
    assert (model.views[0].report.tokens < before.tokens) is not fails


@pytest.mark.filterwarnings("ignore::compactord.CompactordWarning")
def test_another_clients_compaction_is_waited_for(client: compactord.Client, summarizer: SummarizerServer) -> None:
    session = client.create_session(policy=policy(summary=summary(fails=False), **DUE))
    fill(session, 8_000)
    summarizer.hold()
    other = in_thread(client.session(session.id).compact)
    summarizer.asked.get()
    model = Model(_neutral(), Said("Done."))
    turn = in_thread(lambda: session.run_turn(model, "Go on."))
    with session.watch(from_sequence=0) as watched:
        for item in watched:
            if isinstance(item, v1.LoggedMessage) and item.message.parts[0].text.text == "Go on.":
                break
    summarizer.release()
    assert other.result()
    assert turn.result().done
    # What the other did is not done again.
    assert len(compactions(session)) == 1


def _neutral() -> Provider:
    from providers import PROVIDERS

    return PROVIDERS[-1]


def test_case_174_what_must_be_told_again_after_a_compaction(either: compactord.Client, provider: Provider) -> None:
    session = either.create_session(policy=policy(**DUE), dialect=provider.dialect)
    fill(session, 8_000)
    told: list[CompactionResult] = []

    def announce(result: CompactionResult) -> str:
        told.append(result)
        return f"Task {len(told)} is still running."

    session.announce = announce
    model = Model(provider, Said("Done."))
    session.run_turn(model, "Go on.")
    assert len(told) == 1
    assert told[0].compaction is not None
    assert transcript(session)[-3:] == ["user: Go on.", "developer: Task 1 is still running.", "assistant: Done."]
    assert "Task 1 is still running." in str(model.views[0].messages)
    # By hand, too.
    fill(session, 4_000)
    assert session.compact()
    assert transcript(session)[-1] == "developer: Task 2 is still running."
    # Nothing to say is nothing to append, and a compaction that was skipped asks for nothing.
    session.announce = lambda _: None
    count = len(transcript(session))
    assert not session.compact()
    fill(session, 4_000)
    count = len(transcript(session))
    assert session.compact()
    assert len(transcript(session)) == count


def test_case_174_it_is_told_after_an_overflow_before_the_model_is_called_again(
    either: compactord.Client, provider: Provider
) -> None:
    session = either.create_session(policy=policy(), dialect=provider.dialect)
    fill(session, 8_000)
    session.announce = lambda _: [compactord.user("The plan: go on."), "Task 1 is still running."]
    model = Model(provider, provider.overflow(), Said("Done."))
    session.run_turn(model, "Go on.")
    assert "Task 1 is still running." not in str(model.views[0].messages)
    assert "Task 1 is still running." in str(model.views[1].messages)
    assert transcript(session)[-3:-1] == ["user: The plan: go on.", "developer: Task 1 is still running."]


def test_case_174_it_waits_for_the_results_of_open_calls(either: compactord.Client, provider: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=provider.dialect)
    fill(session, 8_000)
    session.announce = lambda _: "Task 1 is still running."
    model = Model(provider, Said("I look.", LOOK), Said("Done."))
    turn = session.run_turn(model, "Go on.")
    assert session.compact()
    assert transcript(session)[-1].startswith("assistant: I look.")
    session.run_turn(model, *[compactord.tool_result(call, "seen") for call in turn.tool_calls])
    assert transcript(session)[-3:] == [
        "tool: look: seen",
        "developer: Task 1 is still running.",
        "assistant: Done.",
    ]


def test_one_turn_at_a_time(either: compactord.Client, chat: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=chat.dialect)

    def second(_: View) -> Any:
        with raising("TURN_RUNNING"):
            run(session)
        return chat.body(Said("Done."))

    assert session.run_turn(second, "Go on.").done
    assert transcript(session) == ["user: Go on.", "assistant: Done."]


def run(session: compactord.Session) -> None:
    """Try to run a second turn, from within the first."""
    begun = plain(session).run_turn(_never, "Me first.")
    begun.send(None)


def _never(_: View) -> str:
    raise AssertionError


def test_both_kinds_are_tested(client: compactord.Client) -> None:
    for kind in ("sync", "async"):
        with client_of(kind, client.address) as made:
            assert is_async(made) is (kind == "async")
