"""Whatever ends the call of a compaction ends the compaction: seen in the log of the daemon."""

from __future__ import annotations

import asyncio
import gc
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator

import pytest

import compactord
from compactord import v1
from daemons import talk
from failures import raising
from summarizer import HeldModel

POLICY = {
    "context_window": 8_000,
    "strategy": {"summarize": {"recent_turns": 1}},
    "summary": {"fallback": "SUMMARY_FALLBACK_FAIL"},
}


@pytest.fixture(scope="module")
def client(binary: str, model: HeldModel) -> Iterator[compactord.Client]:
    with compactord.embedded(binary, config=model.config()) as client:
        yield client


@pytest.fixture
def session(client: compactord.Client, model: HeldModel) -> compactord.Session:
    session = client.create_session(policy=POLICY)
    talk(session, 6)
    model.hold()
    return session


def ended(session: compactord.Session) -> v1.CompactionAttempt:
    """The attempt that the log holds at last, where there is no entry."""
    with session.watch(from_sequence=0) as watch:
        for item in watch:
            if isinstance(item, v1.Record):
                assert not item.HasField("compaction")
                if item.HasField("attempt"):
                    return item.attempt
    raise AssertionError("the watch ended")


def assert_cancelled(session: compactord.Session) -> None:
    assert ended(session).outcome == v1.AttemptOutcome.ATTEMPT_OUTCOME_CANCELLED
    assert list(session.compactions()) == []


def begun(compaction: compactord.Compaction, model: HeldModel) -> Iterator[v1.CompactionEvent]:
    """Go on until the model is asked. Whoever drops the events cancels the compaction."""
    events = iter(compaction)
    assert next(events).HasField("started")
    assert model.asked.wait()
    return events


def finish(events: Iterable[v1.CompactionEvent]) -> None:
    for _ in events:
        pass


def outcomes(session: compactord.Session) -> list[v1.AttemptOutcome.ValueType]:
    """The outcomes of the attempts that the log holds now."""
    return [record.attempt.outcome for record in session.records() if record.HasField("attempt")]


CANCELLED = v1.AttemptOutcome.ATTEMPT_OUTCOME_CANCELLED


def leave_the_loop(compaction: compactord.Compaction) -> None:
    for event in compaction:
        assert event.HasField("progress")
        break


def leave_the_block(compaction: compactord.Compaction) -> None:
    with compaction:
        pass


def close(compaction: compactord.Compaction) -> None:
    compaction.close()
    compaction.close()


def cancel(compaction: compactord.Compaction) -> None:
    compaction.cancel()
    with raising("CANCELLED"):
        finish(compaction)


@pytest.mark.parametrize("leave", [leave_the_loop, leave_the_block, close, cancel])
def test_leaving_cancels(
    session: compactord.Session, model: HeldModel, leave: Callable[[compactord.Compaction], None]
) -> None:
    compaction = session.compacting()
    events = begun(compaction, model)
    leave(compaction)
    assert_cancelled(session)
    del events


@pytest.mark.usefixtures("instrumented")
@pytest.mark.parametrize("leave", [leave_the_loop, leave_the_block, close, cancel])
def test_leaving_cancels_also_where_an_instrumentation_hides_the_call(
    client: compactord.Client,
    session: compactord.Session,
    model: HeldModel,
    leave: Callable[[compactord.Compaction], None],
) -> None:
    with compactord.Client(client.address) as instrumented:
        test_leaving_cancels(instrumented.session(session.id), model, leave)


@pytest.mark.parametrize("leave", [leave_the_block, close, cancel])
def test_the_daemon_has_ended_it_once_it_was_left(
    session: compactord.Session, model: HeldModel, leave: Callable[[compactord.Compaction], None]
) -> None:
    compaction = session.compacting()
    events = begun(compaction, model)
    leave(compaction)
    # Without any waiting here.
    assert outcomes(session) == [CANCELLED]
    del events


def test_leaving_a_second_loop_cancels_its_compaction_too(session: compactord.Session) -> None:
    gc.disable()
    try:
        for number in (1, 2):
            for _ in session.compacting():
                break
            left = number
        with session.watch(from_sequence=0) as watch:
            for item in watch:
                left -= isinstance(item, v1.Record) and item.HasField("attempt")
                if left == 0:
                    break
    finally:
        gc.enable()
    assert outcomes(session) == [CANCELLED, CANCELLED]


def test_losing_the_last_reference_cancels(session: compactord.Session, model: HeldModel) -> None:
    compaction = session.compacting()
    events = begun(compaction, model)
    del compaction, events
    gc.collect()
    assert_cancelled(session)


def test_breaking_out_of_a_loop_over_a_compaction_that_nobody_holds_cancels(session: compactord.Session) -> None:
    for _ in session.compacting():
        break
    assert_cancelled(session)


def test_what_the_loop_raises_cancels(session: compactord.Session) -> None:
    def follow() -> None:
        with session.compacting() as compaction:
            for _ in compaction:
                raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        follow()
    assert outcomes(session) == [CANCELLED]


def test_another_client_cancels(session: compactord.Session, model: HeldModel) -> None:
    compaction = session.compacting()
    events = begun(compaction, model)
    ending = session.cancel_compaction()
    assert ending is not None
    assert ending.ending.HasField("cancelled")
    with raising("CANCELLED") as caught:
        finish(events)
    assert caught.value.reason == "CANCELLED"
    with pytest.raises(RuntimeError, match="no result"):
        _ = compaction.result
    assert session.cancel_compaction() is None


def test_closing_the_client_cancels(client: compactord.Client, session: compactord.Session, model: HeldModel) -> None:
    other = compactord.Client(client.address)
    compaction = other.session(session.id).compacting()
    events = begun(compaction, model)
    other.close()
    other.close()
    with raising("CANCELLED"):
        finish(events)
    with raising("CLIENT_CLOSED"):
        other.session(session.id).info()
    assert_cancelled(session)


def test_a_deadline_cancels(session: compactord.Session) -> None:
    # On a busy machine a deadline can pass before anything has started: the next one has twice the time.
    timeout, events = 0.3, list[v1.CompactionEvent]()
    while not events:
        with pytest.raises(compactord.DeadlineExceededError):
            events.extend(session.compacting(timeout=timeout, preempt=True))
        timeout *= 2
    # The daemon keeps the deadline, too: it is either one that sees it first.
    outcomes = (v1.AttemptOutcome.ATTEMPT_OUTCOME_FAILED, v1.AttemptOutcome.ATTEMPT_OUTCOME_CANCELLED)
    assert ended(session).outcome in outcomes


def test_a_detached_compaction_goes_on(session: compactord.Session, model: HeldModel) -> None:
    compaction = session.compacting(detach=True)
    begun(compaction, model)
    compaction.close()
    model.let_go()
    attempt = ended(session)
    assert attempt.outcome == v1.AttemptOutcome.ATTEMPT_OUTCOME_FAILED


def test_another_compaction_has_to_wait_or_to_preempt(session: compactord.Session, model: HeldModel) -> None:
    compaction = session.compacting()
    events = begun(compaction, model)
    with raising("COMPACTION_RUNNING") as caught:
        session.compact()
    assert caught.value.metadata["operation_id"]
    second = session.compacting(preempt=True)
    assert next(iter(second)).HasField("started")
    with raising("CANCELLED"):
        finish(events)


def test_a_compaction_that_fails_raises_its_reason(session: compactord.Session, model: HeldModel) -> None:
    model.let_go()
    kinds: list[str | None] = []
    with raising("SUMMARIZER_REFUSED") as caught:
        kinds.extend(event.WhichOneof("event") for event in session.compacting())
    assert kinds[0] == "started"
    assert kinds[-1] == "failed"
    assert caught.value.reason == "SUMMARIZER_REFUSED"
    assert ended(session).outcome == v1.AttemptOutcome.ATTEMPT_OUTCOME_FAILED


INTERRUPTED = """
import sys, compactord
session = compactord.Client(sys.argv[1]).session(sys.argv[2])
try:
    for event in session.compacting():
        # No more than this: Ctrl-C in the middle of a line would leave half of it.
        if event.HasField("started"):
            print("started", flush=True)
except KeyboardInterrupt:
    print("interrupted", session.info().session.session_id, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise")
def test_ctrl_c_cancels(session: compactord.Session, client: compactord.Client, model: HeldModel) -> None:
    command = [sys.executable, "-c", INTERRUPTED, client.address, session.id]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "started\n"
        assert model.asked.wait()
        program.send_signal(signal.SIGINT)
        assert program.stdout.read() == f"interrupted {session.id}\n"
        assert program.wait() == 0
    assert_cancelled(session)


@pytest.fixture
async def held(client: compactord.Client, session: compactord.Session) -> AsyncIterator[compactord.AsyncSession]:
    async with compactord.AsyncClient(client.address) as other:
        yield other.session(session.id)


async def finish_async(events: AsyncIterable[v1.CompactionEvent]) -> None:
    async for _ in events:
        pass


async def asked(model: HeldModel) -> None:
    assert await asyncio.to_thread(model.asked.wait, 20)


async def test_cancelling_the_task_cancels(
    session: compactord.Session, held: compactord.AsyncSession, model: HeldModel
) -> None:
    task = asyncio.create_task(held.compact())
    await asked(model)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(assert_cancelled, session)


async def test_the_daemon_has_ended_it_once_the_cancelled_task_ends(
    session: compactord.Session, held: compactord.AsyncSession, model: HeldModel
) -> None:
    arrived = asyncio.Event()

    async def follow() -> None:
        async for _ in held.compacting():
            arrived.set()

    task = asyncio.create_task(follow())
    # Where the first event has not come, the client does not know which compaction to wait for.
    await arrived.wait()
    await asked(model)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(outcomes, session) == [CANCELLED]


async def test_a_time_limit_of_asyncio_cancels(session: compactord.Session, held: compactord.AsyncSession) -> None:
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(held.compact(), 0.3)
    await asyncio.to_thread(assert_cancelled, session)


async def test_breaking_out_of_an_async_loop_cancels(
    session: compactord.Session, held: compactord.AsyncSession
) -> None:
    compaction = held.compacting()
    async for event in compaction:
        assert event.HasField("started")
        break
    await asyncio.to_thread(assert_cancelled, session)


@pytest.mark.usefixtures("instrumented")
async def test_async_cancels_also_where_an_instrumentation_hides_the_call(
    client: compactord.Client, session: compactord.Session, model: HeldModel
) -> None:
    async with compactord.AsyncClient(client.address) as instrumented:
        held = instrumented.session(session.id)
        await test_cancelling_the_task_cancels(session, held, model)


@pytest.mark.usefixtures("instrumented")
async def test_async_loops_cancel_also_where_an_instrumentation_hides_the_call(
    client: compactord.Client, session: compactord.Session
) -> None:
    async with compactord.AsyncClient(client.address) as instrumented:
        await test_breaking_out_of_an_async_loop_cancels(session, instrumented.session(session.id))


async def test_losing_the_last_async_reference_cancels(
    session: compactord.Session, held: compactord.AsyncSession, model: HeldModel
) -> None:
    compaction = held.compacting()
    events = aiter(compaction)
    await anext(events)
    await asked(model)
    del compaction, events
    gc.collect()
    await asyncio.to_thread(assert_cancelled, session)


async def test_cancel_from_another_task_and_from_another_thread(
    session: compactord.Session, held: compactord.AsyncSession, model: HeldModel
) -> None:
    compaction = held.compacting()
    task = asyncio.create_task(finish_async(compaction))
    await asked(model)
    thread = threading.Thread(target=compaction.cancel)
    thread.start()
    # Not a CancelledError of asyncio: the task was not cancelled, only the compaction.
    with raising("CANCELLED"):
        await task
    thread.join()
    await asyncio.to_thread(assert_cancelled, session)


async def test_closing_the_async_client_cancels(
    session: compactord.Session, client: compactord.Client, model: HeldModel
) -> None:
    other = compactord.AsyncClient(client.address)
    compaction = other.session(session.id).compacting()
    task = asyncio.create_task(finish_async(compaction))
    await asked(model)
    await other.close()
    await other.close()
    with raising("CANCELLED") if sys.version_info >= (3, 11) else pytest.raises(asyncio.CancelledError):
        await task
    with raising("CLIENT_CLOSED"):
        await other.session(session.id).info()
    await asyncio.to_thread(assert_cancelled, session)


def test_the_next_compaction_waits_for_one_that_was_left(session: compactord.Session, model: HeldModel) -> None:
    for event in session.compacting():
        if event.WhichOneof("event") == "started":
            break
    model.let_go()
    # It ran: the held model answers so once it is let go.
    with raising("SUMMARIZER_REFUSED"):
        session.compact()


@pytest.mark.parametrize("held_by", ["the session", "another object of the client"])
def test_the_next_compaction_runs_every_time(
    client: compactord.Client, session: compactord.Session, model: HeldModel, held_by: str
) -> None:
    rounds = 12
    for round_ in range(rounds):
        for number, _ in enumerate(session.compacting(), 1):
            if number > round_ % 2:
                break
        if held_by != "the session":
            session = client.session(session.id)
    model.let_go()
    with raising("SUMMARIZER_REFUSED"):
        session.compact()
    # The last one that was left may have been answered before its end.
    assert outcomes(session)[: rounds - 1] == [CANCELLED] * (rounds - 1)


async def test_the_next_compaction_runs_every_time_for_asyncio(held: compactord.AsyncSession, model: HeldModel) -> None:
    rounds = 12
    for round_ in range(rounds):
        number = 0
        async for _ in held.compacting():
            number += 1
            if number > round_ % 2:
                break
    model.let_go()
    with raising("SUMMARIZER_REFUSED"):
        await held.compact()
    attempts = [record.attempt.outcome async for record in held.records() if record.HasField("attempt")]
    # The last one that was left may have been answered before its end.
    assert attempts[: rounds - 1] == [CANCELLED] * (rounds - 1)
