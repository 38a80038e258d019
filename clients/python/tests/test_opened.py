"""The sessions of an adapter."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import compactord
from agents import policy
from compactord.opened import OpenedSessions


def test_a_session_is_opened_once_and_made_where_there_is_none(client: compactord.Client) -> None:
    opened = OpenedSessions(client, policy(context_window=8_000))
    first = opened.get("opened-once", dialect="openai_chat")
    assert opened.get("opened-once", dialect="openai_chat") is first
    assert opened.get("opened-once") is not first
    assert client.open_session("opened-once").id == "opened-once"


def test_a_session_with_another_policy_gets_that_of_the_program(client: compactord.Client) -> None:
    OpenedSessions(client, policy(context_window=8_000)).get("opened-anew").append(compactord.user("Hello."))
    again = OpenedSessions(client, policy(context_window=16_000)).get("opened-anew")
    assert again.info().session.policy.context_window == 16_000
    assert [one.index for one in again.messages()] == [0]


def test_the_sessions_that_were_used_last_are_kept(client: compactord.Client) -> None:
    opened = OpenedSessions(client, policy(context_window=8_000), most=2)
    a, b = opened.get("kept-a"), opened.get("kept-b")
    assert opened.get("kept-a") is a
    opened.get("kept-c")
    assert opened.get("kept-a") is a
    assert opened.get("kept-b") is not b


def test_threads_that_open_a_session_at_the_same_time_get_the_same_one(client: compactord.Client) -> None:
    opened = OpenedSessions(client, policy(context_window=8_000))
    together = threading.Barrier(8)
    got: list[object] = []

    def get() -> None:
        together.wait()
        got.append(opened.get("opened-together"))

    threads = [threading.Thread(target=get) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 8
    assert len(set(map(id, got))) == 1


THREADS = ": the adapter calls it on threads, so an event loop is not blocked"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (compactord.AsyncClient, THREADS),
        (
            lambda: compactord.AsyncClient().health(),
            THREADS,
        ),
        (object, ""),
    ],
)
def test_another_client_is_refused_at_once(given: Callable[[], Any], why: str) -> None:
    with pytest.raises(TypeError, match=rf"^client: must be a compactord\.Client, not of the type \w+{why}$"):
        OpenedSessions(given(), policy(context_window=8_000))


def test_a_misspelt_field_is_told_without_a_daemon() -> None:
    with pytest.raises(ValueError, match="there is no field 'context_windows': did you mean 'context_window'"):
        OpenedSessions(compactord.Client("127.0.0.1:1"), {"context_windows": 8_000})
