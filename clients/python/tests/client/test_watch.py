"""Watching a session."""

from __future__ import annotations

import asyncio
import threading

import pytest

import compactord
from compactord import v1
from daemons import Proxy, talk


def test_a_watch_delivers_what_is_written_from_its_block_on(client: compactord.Client) -> None:
    session = client.create_session()
    session.append("before")
    with session.watch() as watch:
        assert watch.uid == session.info().session.uid
        session.append("after")
        checkpoint = session.checkpoint("here")
        message, record = next(watch), next(watch)
    assert isinstance(message, v1.LoggedMessage)
    assert message.message.parts[0].text.text == "after"
    assert isinstance(record, v1.Record)
    assert record.checkpoint.id == checkpoint.id
    assert watch.next_sequence == record.sequence + 1
    assert list(watch) == []


def test_a_watch_from_the_beginning(client: compactord.Client) -> None:
    session = client.create_session()
    session.append("one", "two")
    watch = session.watch(from_sequence=0, without_content=True)
    items = [next(watch) for _ in range(3)]
    watch.close()
    assert [type(item) for item in items] == [v1.Record, v1.LoggedMessage, v1.LoggedMessage]
    last = items[-1]
    assert isinstance(last, v1.LoggedMessage)
    assert not last.message.parts
    assert list(last.part_sizes) == [3]


def test_events_of_compactions_come_where_they_are_asked_for(client: compactord.Client) -> None:
    session = client.create_session(policy={"strategy": {"summarize": {"recent_turns": 1}}})
    talk(session, 6)
    with session.watch(events=True) as watch:
        session.compact()
        kinds: list[str | None] = []
        for item in watch:
            if isinstance(item, v1.CompactionEvent):
                kinds.append(item.WhichOneof("event"))
                if kinds[-1] == "completed":
                    break
    assert kinds[0] == "started"


def test_a_watch_goes_on_after_its_connection_broke(client: compactord.Client, proxy: Proxy) -> None:
    own = client.create_session()
    with compactord.Client(proxy.address) as through, through.session(own.id).watch(from_sequence=0) as watch:
        sequences: list[int] = []
        for number in range(4):
            own.append(f"message {number}")
            while len(sequences) < number + 2:
                item = next(watch)
                assert not isinstance(item, v1.CompactionEvent)
                sequences.append(item.sequence)
            proxy.cut()
        assert sequences == [0, 1, 2, 3, 4]


def test_a_watch_ends_with_its_session(client: compactord.Client) -> None:
    session = client.create_session()
    with session.watch(from_sequence=0) as watch:
        next(watch)
        session.delete()
        with pytest.raises(compactord.SessionNotFoundError):
            next(watch)


def test_a_watch_does_not_go_on_in_another_life_of_the_id(client: compactord.Client, proxy: Proxy) -> None:
    client.create_session("lives")
    with compactord.Client(proxy.address) as through, through.session("lives").watch(from_sequence=0) as watch:
        next(watch)
        proxy.lose_answers()
        client.delete_session("lives")
        client.create_session("lives")
        proxy.cut()
        with pytest.raises(compactord.SessionNotFoundError):
            next(watch)


def test_closing_from_another_thread_ends_a_watch(client: compactord.Client) -> None:
    session = client.create_session()
    watch = session.watch(from_sequence=0)
    next(watch)
    thread = threading.Thread(target=watch.close)
    thread.start()
    assert list(watch) == []
    thread.join()


async def test_cancelling_the_task_of_a_watch(client: compactord.Client) -> None:
    session = client.create_session()
    async with compactord.AsyncClient(client.address) as other:
        watch = other.session(session.id).watch()
        async with watch:
            task = asyncio.ensure_future(anext(watch))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task


async def test_a_watch_goes_on_after_its_reader_was_interrupted(client: compactord.Client) -> None:
    session = client.create_session()
    async with compactord.AsyncClient(client.address) as other, other.session(session.id).watch() as watch:
        for number in range(2):
            task = asyncio.ensure_future(anext(watch))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.to_thread(session.append, f"message {number}")
            item = await anext(watch)
            assert isinstance(item, v1.LoggedMessage)
            assert item.index == number


async def test_closing_an_async_watch_ends_it(client: compactord.Client) -> None:
    session = client.create_session()
    async with compactord.AsyncClient(client.address) as other:
        watch = other.session(session.id).watch(from_sequence=0)
        seen = asyncio.Event()

        async def follow() -> int:
            count = 0
            async for _ in watch:
                count += 1
                seen.set()
            return count

        task = asyncio.create_task(follow())
        await seen.wait()
        await watch.close()
        assert await task == 1
