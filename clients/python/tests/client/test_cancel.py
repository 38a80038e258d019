"""Whatever ends the call of a compaction ends the compaction: seen in the log of the daemon."""

from __future__ import annotations

import asyncio
import gc
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

import compactord
from compactord import v1
from daemons import talk
from summarizer import HeldModel, held_model

POLICY = {
    "context_window": 8_000,
    "strategy": {"summarize": {"recent_turns": 1}},
    "summary": {"fallback": "SUMMARY_FALLBACK_FAIL"},
}


@pytest.fixture(scope="module")
def model() -> Iterator[HeldModel]:
    with held_model() as model:
        yield model


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


def begun(compaction: compactord.Compaction, model: HeldModel) -> None:
    """Go on until the model is asked."""
    event = compaction.next_event()
    assert event is not None
    assert event.HasField("started")
    assert model.asked.wait()


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
    with pytest.raises(compactord.OperationCancelledError):
        compaction.wait()


@pytest.mark.parametrize("leave", [leave_the_loop, leave_the_block, close, cancel])
def test_leaving_cancels(
    session: compactord.Session, model: HeldModel, leave: Callable[[compactord.Compaction], None]
) -> None:
    compaction = session.compaction_events()
    begun(compaction, model)
    leave(compaction)
    assert_cancelled(session)


@pytest.mark.parametrize("leave", [leave_the_block, close, cancel])
def test_the_daemon_has_ended_it_once_it_was_left(
    session: compactord.Session, model: HeldModel, leave: Callable[[compactord.Compaction], None]
) -> None:
    compaction = session.compaction_events()
    begun(compaction, model)
    leave(compaction)
    # Without any waiting here.
    assert outcomes(session) == [CANCELLED]


def test_the_daemon_has_ended_it_once_on_event_has_raised(session: compactord.Session) -> None:
    def refuse(_event: v1.CompactionEvent) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        session.compact(on_event=refuse)
    assert outcomes(session) == [CANCELLED]


def test_leaving_a_second_loop_cancels_its_compaction_too(session: compactord.Session) -> None:
    gc.disable()
    try:
        for number in (1, 2):
            for _ in session.compaction_events():
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
    compaction = session.compaction_events()
    begun(compaction, model)
    del compaction
    gc.collect()
    assert_cancelled(session)


def test_breaking_out_of_a_loop_over_a_compaction_that_nobody_holds_cancels(session: compactord.Session) -> None:
    for _ in session.compaction_events():
        break
    assert_cancelled(session)


def test_what_on_event_raises_cancels(session: compactord.Session) -> None:
    def refuse(_event: v1.CompactionEvent) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        session.compact(on_event=refuse)
    assert_cancelled(session)


def test_another_client_cancels(session: compactord.Session, model: HeldModel) -> None:
    compaction = session.compaction_events()
    begun(compaction, model)
    ending = session.cancel_compaction()
    assert ending is not None
    assert ending.ending.HasField("cancelled")
    with pytest.raises(compactord.OperationCancelledError) as caught:
        compaction.wait()
    assert caught.value.reason == "CANCELLED"
    with pytest.raises(RuntimeError, match="no result"):
        _ = compaction.result
    assert session.cancel_compaction() is None


def test_closing_the_client_cancels(client: compactord.Client, session: compactord.Session, model: HeldModel) -> None:
    other = compactord.Client(client.address)
    compaction = other.session(session.id).compaction_events()
    begun(compaction, model)
    other.close()
    other.close()
    with pytest.raises(compactord.OperationCancelledError):
        compaction.wait()
    with pytest.raises(compactord.ClientClosedError):
        other.session(session.id).info()
    assert_cancelled(session)


def test_a_deadline_cancels(session: compactord.Session) -> None:
    # On a busy machine a deadline can pass before anything has started: the next one has twice the time.
    timeout, events = 0.3, list[v1.CompactionEvent]()
    while not events:
        with pytest.raises(compactord.DeadlineExceededError):
            session.compact(timeout=timeout, preempt=True, on_event=events.append)
        timeout *= 2
    # The daemon keeps the deadline, too: it is either one that sees it first.
    outcomes = (v1.AttemptOutcome.ATTEMPT_OUTCOME_FAILED, v1.AttemptOutcome.ATTEMPT_OUTCOME_CANCELLED)
    assert ended(session).outcome in outcomes


def test_a_detached_compaction_goes_on(session: compactord.Session, model: HeldModel) -> None:
    compaction = session.compaction_events(detach=True)
    begun(compaction, model)
    compaction.close()
    model.let_go()
    attempt = ended(session)
    assert attempt.outcome == v1.AttemptOutcome.ATTEMPT_OUTCOME_FAILED


def test_another_compaction_has_to_wait_or_to_preempt(session: compactord.Session, model: HeldModel) -> None:
    compaction = session.compaction_events()
    begun(compaction, model)
    with pytest.raises(compactord.CompactionRunningError) as caught:
        session.compact()
    assert caught.value.operation_id
    second = session.compaction_events(preempt=True)
    event = second.next_event()
    assert event is not None
    assert event.HasField("started")
    with pytest.raises(compactord.OperationCancelledError):
        compaction.wait()


def test_a_compaction_that_fails_raises_its_reason(session: compactord.Session, model: HeldModel) -> None:
    model.let_go()
    kinds: list[str | None] = []
    with pytest.raises(compactord.SummarizerRefusedError) as caught:
        session.compact(on_event=lambda event: kinds.append(event.WhichOneof("event")))
    assert kinds[0] == "started"
    assert kinds[-1] == "failed"
    assert caught.value.reason == "SUMMARIZER_REFUSED"
    assert ended(session).outcome == v1.AttemptOutcome.ATTEMPT_OUTCOME_FAILED


INTERRUPTED = """
import sys, compactord
session = compactord.Client(sys.argv[1]).session(sys.argv[2])
try:
    session.compact(on_event=lambda event: print(event.WhichOneof("event"), flush=True))
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
        assert program.stdout.read().splitlines()[-1] == f"interrupted {session.id}"
        assert program.wait() == 0
    assert_cancelled(session)


@pytest.fixture
async def held(client: compactord.Client, session: compactord.Session) -> AsyncIterator[compactord.AsyncSession]:
    async with compactord.AsyncClient(client.address) as other:
        yield other.session(session.id)


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
    task = asyncio.create_task(held.compact(on_event=lambda _event: arrived.set()))
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
    compaction = held.compaction_events()
    async for event in compaction:
        assert event.HasField("started")
        break
    await asyncio.to_thread(assert_cancelled, session)


async def test_losing_the_last_async_reference_cancels(
    session: compactord.Session, held: compactord.AsyncSession, model: HeldModel
) -> None:
    compaction = held.compaction_events()
    await compaction.next_event()
    await asked(model)
    del compaction
    gc.collect()
    await asyncio.to_thread(assert_cancelled, session)


async def test_cancel_from_another_task_and_from_another_thread(
    session: compactord.Session, held: compactord.AsyncSession, model: HeldModel
) -> None:
    compaction = held.compaction_events()
    task = asyncio.create_task(compaction.wait())
    await asked(model)
    thread = threading.Thread(target=compaction.cancel)
    thread.start()
    # Not a CancelledError of asyncio: the task was not cancelled, only the compaction.
    with pytest.raises(compactord.OperationCancelledError):
        await task
    thread.join()
    await asyncio.to_thread(assert_cancelled, session)


async def test_closing_the_async_client_cancels(
    session: compactord.Session, client: compactord.Client, model: HeldModel
) -> None:
    other = compactord.AsyncClient(client.address)
    compaction = other.session(session.id).compaction_events()
    task = asyncio.create_task(compaction.wait())
    await asked(model)
    await other.close()
    await other.close()
    kind = compactord.OperationCancelledError if sys.version_info >= (3, 11) else asyncio.CancelledError
    with pytest.raises(kind):
        await task
    with pytest.raises(compactord.ClientClosedError):
        await other.session(session.id).info()
    await asyncio.to_thread(assert_cancelled, session)


def test_the_next_compaction_waits_for_one_that_was_left(session: compactord.Session, model: HeldModel) -> None:
    for event in session.compaction_events():
        if event.WhichOneof("event") == "started":
            break
    model.let_go()
    # It ran: the held model answers so once it is let go.
    with pytest.raises(compactord.SummarizerRefusedError):
        session.compact()
