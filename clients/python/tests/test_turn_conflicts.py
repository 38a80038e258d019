"""Turns of two processes on one session: one of them gets a conflict, and no turn stands within another."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, cast

import pytest

import compactord
from agents import Model, fill, is_async, plain, policy, tools_of, transcript
from compactord import v1
from compactord.view import View
from failures import Failing
from providers import Called, Provider, Said

LOOK = [Called("call-1", "look")]
STEPS = ["before the first answer", "between the call and its result", "after the result"]
OWN = {
    STEPS[0]: ["user: Go on."],
    STEPS[1]: ["user: Go on.", "assistant: look({})"],
    STEPS[2]: ["user: Go on.", "assistant: look({})", "tool: look: seen"],
}
OTHERS = ["user: And I?", "assistant: look({})", "tool: look: seen by the other", "assistant: The other is done."]
CONFLICT = (
    "another process, or another session object of this one, has written to the session during this turn: nothing of "
    "the rejected append was written; run the turns of a session in one process at a time, and start this turn anew "
    "(WRONG_NEXT_INDEX)"
)


def _others_turn(client: compactord.Client, session: compactord.Session, chat: Provider) -> None:
    """A whole turn on the same session by a client of its own."""
    with compactord.Client(client.address) as other:
        same = other.session(session.id, dialect="openai_chat")
        model = Model(chat, Said("", [Called("call-2", "look")]), Said("The other is done."))
        assert same.run_turn(model, "And I?", run_tool=lambda _: "seen by the other").done


def _turn(session: compactord.Session, chat: Provider, step: str, then: Callable[[], None]) -> compactord.Turn:
    """A turn with one call, in which something happens at one step."""

    def at(place: str) -> None:
        if place == step:
            then()

    def call_model(_: View) -> Any:
        answer = answers.pop(0)
        at(STEPS[0] if answers else STEPS[2])
        return chat.body(answer)

    def run_tool(_: compactord.ToolCall) -> str:
        at(STEPS[1])
        return "seen"

    answers = [Said("", LOOK), Said("Done.")]
    return session.run_turn(call_model, "Go on.", run_tool=run_tool)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("again", [("Once more.",), ()], ids=["with a message", "without"])
def test_a_turn_within_another_is_a_conflict_of_the_other(
    either: compactord.Client, chat: Provider, step: str, again: tuple[str, ...]
) -> None:
    session = either.create_session(policy=policy(), dialect=chat.dialect)
    with pytest.raises(compactord.WrongNextIndexError) as caught:
        _turn(session, chat, step, lambda: _others_turn(either, session, chat))
    assert str(caught.value) == CONFLICT
    assert isinstance(caught.value, compactord.ConflictError)
    assert caught.value.next_index == len(OWN[step]) + len(OTHERS)
    assert transcript(session) == OWN[step] + OTHERS
    # The session object goes on, and so does the other.
    model = Model(chat, Said("", [Called("call-3", "look")]), Said("Now I am done."))
    ran: list[str] = []

    def run_tool(call: compactord.ToolCall) -> str:
        ran.append(call.id)
        return "seen again"

    assert session.run_turn(model, *again, run_tool=run_tool).done
    assert ran == ["call-3"]
    _others_turn(either, session, chat)
    assert transcript(session) == [
        *OWN[step],
        *OTHERS,
        *(f"user: {text}" for text in again),
        "assistant: look({})",
        "tool: look: seen again",
        "assistant: Now I am done.",
        *OTHERS,
    ]


PROCESS = """
import asyncio
import sys

import compactord

kind, address, session_id, step = sys.argv[1:]
step = int(step)


def wait(place):
    if place == step:
        print("reached", flush=True)
        sys.stdin.readline()


def call_model(view):
    wait(0 if len(view.messages) == 1 else 2)
    if len(view.messages) > 1:
        return {"role": "assistant", "content": "Done."}
    call = {"id": "call-1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def run_tool(call):
    wait(1)
    return "seen"


async def run_async():
    async with compactord.AsyncClient(address) as client:
        session = client.session(session_id, dialect="openai_chat")
        await session.run_turn(call_model, "Go on.", run_tool=run_tool)


def run():
    with compactord.Client(address) as client:
        client.session(session_id, dialect="openai_chat").run_turn(call_model, "Go on.", run_tool=run_tool)


try:
    asyncio.run(run_async()) if kind == "async" else run()
except compactord.WrongNextIndexError as error:
    print(error, flush=True)
"""


@pytest.mark.parametrize("step", range(3), ids=STEPS)
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_turn_of_another_process_is_a_conflict(
    client: compactord.Client, chat: Provider, kind: str, step: int
) -> None:
    session = client.create_session(policy=policy(), dialect=chat.dialect)
    command = [sys.executable, "-c", PROCESS, kind, client.address, session.id, str(step)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "reached\n"
        _others_turn(client, session, chat)
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.read() == CONFLICT + "\n"
    assert transcript(session) == OWN[STEPS[step]] + OTHERS


def test_turns_of_two_processes_one_after_the_other_are_no_conflict(either: compactord.Client, chat: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=chat.dialect)
    for _ in range(2):
        assert session.run_turn(Model(chat, Said("Done.")), "Go on.").done
        _others_turn(either, session, chat)
        # Without a message: what is in the log is taken as it is.
        assert session.run_turn(Model(chat, Said("Done, too."))).done
        _others_turn(either, session, chat)
    assert transcript(session) == ["user: Go on.", "assistant: Done.", *OTHERS, "assistant: Done, too.", *OTHERS] * 2


def _after(either: compactord.Client, chat: Provider, work: Callable[[], Any]) -> Callable[[View], Any]:
    """A model that answers once the work in another thread, or in another task, is done."""

    async def in_task(_: View) -> Any:
        await asyncio.create_task(work())
        return chat.body(Said("Done."))

    def in_thread(_: View) -> Any:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return chat.body(Said("Done."))

    return in_task if is_async(either) else in_thread


@pytest.mark.parametrize("what", ["append", "checkpoint", "child", "revert"])
def test_what_the_session_object_itself_writes_meanwhile_is_no_conflict(
    either: compactord.Client, chat: Provider, what: str
) -> None:
    session = either.create_session(policy=policy(), dialect=chat.dialect)
    own = plain(session)
    session.append("zero", compactord.assistant("yes"))
    point = session.checkpoint().id
    child = plain(session.start_child())
    works: dict[str, Callable[[], Any]] = {
        "append": lambda: own.append("a note"),
        "checkpoint": lambda: own.checkpoint(announce=True),
        "child": lambda: child.end("found"),
        "revert": lambda: own.revert(to_checkpoint=point, message_from_future="Do not."),
    }
    call_model = _after(either, chat, works[what])
    if what == "revert":
        # As before: the answer belongs to what was put aside.
        with pytest.raises(compactord.ConflictError) as caught:
            session.run_turn(call_model, "Go on.")
        assert caught.value.reason == "HISTORY_REVERTED"
        return
    assert session.run_turn(call_model, "Go on.").done
    assert len(transcript(session)) == 5
    assert transcript(session)[-1] == "assistant: Done."


@pytest.mark.parametrize("by", ["itself", "another"])
def test_what_a_compaction_adds_meanwhile_is_no_conflict(either: compactord.Client, chat: Provider, by: str) -> None:
    session = either.create_session(policy=policy(overflow={"auto_continue": True}), dialect=chat.dialect)
    fill(session, 8_000)
    who = plain(session) if by == "itself" else plain(either.session(session.id, dialect="openai_chat"))

    def compact() -> Any:
        return who.compact(reason="overflow", replay=False, abort_running=False)

    assert session.run_turn(_after(either, chat, compact)).done
    *_, added, answer = session.messages()
    assert added.message.origin == v1.Origin.ORIGIN_CONTINUE
    assert "Done." in str(answer)


def test_an_own_append_whose_response_comes_late_is_no_conflict(client: compactord.Client, chat: Provider) -> None:
    session = client.create_session(policy=policy(), dialect=chat.dialect)
    calls = plain(session)._calls
    real = calls.unary
    written, refused = threading.Event(), threading.Event()

    def unary(method: Any, request: Any, timeout: float | None = None) -> Any:
        try:
            answer = real(method, request, timeout)
        except compactord.WrongNextIndexError:
            refused.set()
            raise
        if isinstance(request, v1.AppendMessagesRequest) and "a note" in str(request):
            written.set()
            assert refused.wait(10)
        return answer

    calls.unary = unary
    thread = threading.Thread(target=session.append, args=("a note",))

    def call_model(_: View) -> Any:
        thread.start()
        assert written.wait(10)
        return chat.body(Said("Done."))

    try:
        assert session.run_turn(call_model, "Go on.").done
        thread.join()
    finally:
        calls.unary = real
    assert transcript(session) == ["user: Go on.", "user: a note", "assistant: Done."]


async def test_an_own_append_whose_response_comes_late_is_no_conflict_for_asyncio(
    client: compactord.Client, chat: Provider
) -> None:
    async with compactord.AsyncClient(client.address) as made:
        session = await made.create_session(policy=policy(), dialect="openai_chat")
        calls: Any = cast(Any, session)._calls
        real = calls.unary
        written, refused = asyncio.Event(), asyncio.Event()

        order: list[str] = []

        async def unary(method: Any, request: Any, timeout: float | None = None) -> Any:
            if isinstance(request, v1.ListMessagesRequest):
                order.append("the log is read")
            try:
                answer = await real(method, request, timeout)
            except compactord.WrongNextIndexError:
                refused.set()
                raise
            if isinstance(request, v1.AppendMessagesRequest) and "a note" in str(request):
                written.set()
                await asyncio.wait_for(refused.wait(), 10)
                # All that can go on without this response does so first.
                for _ in range(100):
                    await asyncio.sleep(0)
                order.append("the response is there")
            return answer

        calls.unary = unary
        tasks: list[asyncio.Task[Any]] = []

        async def call_model(_: View) -> Any:
            tasks.append(asyncio.create_task(session.append("a note")))
            await asyncio.wait_for(written.wait(), 10)
            return chat.body(Said("Done."))

        turn = await session.run_turn(call_model, "Go on.")
        assert turn.done
        await asyncio.gather(*tasks)
        assert order == ["the response is there"]


@pytest.mark.parametrize("reached", [True, False])
@pytest.mark.parametrize("what", ["answer", "result"])
def test_an_append_that_is_sent_again_is_no_conflict(
    either: compactord.Client, chat: Provider, what: str, reached: bool
) -> None:
    session = either.create_session(policy=policy(), dialect=chat.dialect)

    def fail() -> None:
        Failing(session).fails(v1.AppendMessagesRequest, reached=reached)

    with pytest.raises(compactord.UnavailableError):
        _turn(session, chat, STEPS[0] if what == "answer" else STEPS[1], fail)
    # What this object itself appends in between moves the turn on.
    session.append({"role": "developer", "content": "a note"})
    assert session.run_turn(Model(chat, Said("Done.")), run_tool=lambda _: "seen").done
    log = [line for line in transcript(session) if line != "developer: a note"]
    assert log == [*OWN[STEPS[2]], "assistant: Done."]


@pytest.mark.parametrize("what", ["answer", "result"])
def test_an_append_that_was_never_sent_does_not_follow_the_turn_of_another(
    either: compactord.Client, chat: Provider, what: str
) -> None:
    step = STEPS[0] if what == "answer" else STEPS[1]
    for given in ((), ("A new question.",)):
        session = either.create_session(policy=policy(), dialect=chat.dialect)

        def fail(session: compactord.Session = session) -> None:
            Failing(session).fails(v1.AppendMessagesRequest, reached=False)

        with pytest.raises(compactord.UnavailableError):
            _turn(session, chat, step, fail)
        _others_turn(either, session, chat)
        if not given:
            with pytest.raises(compactord.WrongNextIndexError):
                session.run_turn(Model(chat), run_tool=lambda _: "seen")
        assert session.run_turn(Model(chat, Said("Done.")), *given, run_tool=lambda _: "seen").done
        added = [f"user: {text}" for text in given]
        assert transcript(session) == [*OWN[step], *OTHERS, *added, "assistant: Done."]


def test_another_session_with_the_same_id_is_one_conflict_and_no_more(
    either: compactord.Client, chat: Provider
) -> None:
    session = either.create_session(policy=policy(), dialect=chat.dialect)
    session.append(*(compactord.user(f"question {number}") for number in range(9)))
    assert session.run_turn(Model(chat, Said("Done.")), "Go on.").done
    other = either.session(session.id)
    other.delete()
    either.create_session(session.id, policy=policy())
    with pytest.raises(compactord.WrongNextIndexError):
        session.run_turn(Model(chat, Said("Done.")), "Hello.")
    assert session.run_turn(Model(chat, Said("Done.")), "Hello?").done
    assert transcript(session) == ["user: Hello.", "user: Hello?", "assistant: Done."]


def test_an_announcement_waits_for_the_next_turn_after_a_conflict(either: compactord.Client, chat: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=chat.dialect)
    fill(session, 8_000)
    asked: list[object] = []

    def announce(result: compactord.CompactionResult) -> str:
        asked.append(result)
        if len(asked) == 1:
            raise RuntimeError("not yet")
        if len(asked) == 2:
            _others_turn(either, session, chat)
        return "Task 1 still runs."

    session.announce = announce
    assert session.compact()
    with pytest.raises(compactord.WrongNextIndexError):
        session.run_turn(Model(chat), "Go on.")
    assert session.run_turn(Model(chat, Said("Done.")), "Go on again.").done
    assert transcript(session)[-3:] == ["user: Go on again.", "developer: Task 1 still runs.", "assistant: Done."]
    assert len(asked) == 2


def test_an_announcement_that_is_sent_again_in_a_turn_is_appended_once(
    either: compactord.Client, chat: Provider
) -> None:
    session = either.create_session(policy=policy(), dialect=chat.dialect)
    fill(session, 8_000)
    assert session.run_turn(Model(chat, Said("Done.")), "Go on.").done
    session.announce = lambda _: "Task 1 still runs."
    Failing(session).fails(v1.AppendMessagesRequest, reached=True)
    assert session.compact()
    assert session.run_turn(Model(chat, Said("Done.")), "And on.").done
    assert transcript(session)[-3:] == ["developer: Task 1 still runs.", "user: And on.", "assistant: Done."]


def test_steps_with_announced_checkpoints_are_no_conflict(either: compactord.Client, chat: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=chat.dialect)
    calls, real = plain(session)._calls, plain(session)._calls.unary
    methods: list[object] = []

    def unary(method: Any, request: Any, timeout: float | None = None) -> Any:
        methods.append(request.__class__)
        return real(method, request, timeout)

    calls.unary = unary
    model = Model(chat, Said("", LOOK), Said("Done."))
    assert session.run_turn(model, "Go on.", run_tool=lambda _: "seen", tools=tools_of(session, dmail=True)).done
    calls.unary = real
    # No append was refused and sent again: the input, the answer, the result, the last answer.
    assert methods.count(v1.AppendMessagesRequest) == 4
