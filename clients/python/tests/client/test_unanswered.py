"""Appends that ended in no answer."""

from __future__ import annotations

import pytest

import compactord
from compactord import v1
from compactord.unanswered import MEMORY, Unanswered, leaves_open
from daemons import Proxy, lose_the_answer, texts, wait_for


def request(text: str, request_id: str = "", view_token: str = "") -> v1.AppendMessagesRequest:
    return v1.AppendMessagesRequest(messages=[compactord.user(text)], request_id=request_id, view_token=view_token)


def test_the_same_content_is_forgotten_after_a_time() -> None:
    now = [1_000.0]
    unanswered = Unanswered(lambda: now[0])
    unanswered.keep(request("yes", "r"))
    now[0] += MEMORY - 1
    assert unanswered.first(request("yes")) == request("yes", "r")
    unanswered.keep(request("yes", "r"))
    now[0] += 1
    assert unanswered.first(request("yes")) is None, "it went out first so long ago"


def test_the_token_of_the_view_does_not_make_it_other_content() -> None:
    unanswered = Unanswered()
    unanswered.keep(request("yes", "r", "old"))
    assert unanswered.first(request("yes", view_token="new")) == request("yes", "r", "old")
    assert unanswered.first(request("no", view_token="old")) is None


def test_a_refused_request_id_does_not_stick_to_the_content(client: compactord.Client) -> None:
    session = client.create_session()
    session.append("one", request_id="k")
    with pytest.raises(compactord.InvalidRequestError) as caught:
        session.append("two", request_id="k")
    assert caught.value.reason == "REQUEST_ID_REUSED"
    session.append("two")
    assert texts(session) == ["one", "two"]


def test_a_request_id_of_the_caller_is_not_given_to_others(client: compactord.Client, proxy: Proxy) -> None:
    own = client.create_session()
    with compactord.Client(proxy.address, retry=False) as through:
        session = through.session(own.id)
        session.append("first")
        thread = lose_the_answer(proxy, own, 1)
        with pytest.raises(compactord.UnavailableError):
            session.append("second", request_id="k")
        thread.join()
        wait_for(through)
        session.append("second")
        assert texts(own) == ["first", "second", "second"]


def test_an_answer_appended_again_with_a_new_view_is_not_doubled(client: compactord.Client, proxy: Proxy) -> None:
    own = client.create_session()
    with compactord.Client(proxy.address, retry=False) as through:
        session = through.session(own.id)
        session.append("first")
        view = session.view()
        thread = lose_the_answer(proxy, own, 1)
        with pytest.raises(compactord.UnavailableError):
            session.append(compactord.assistant("answer"), view=view)
        thread.join()
        wait_for(through)
        session.append(compactord.assistant("answer"), view=session.view())
        assert texts(own) == ["first", "answer"]


def test_it_is_open_whether_a_cancelled_append_was_written() -> None:
    assert leaves_open(compactord.CompactordError("cut off", reason="CANCELLED"))
    assert not leaves_open(compactord.CompactordError("too many", reason="LIMIT_EXCEEDED"))
    assert not leaves_open(ValueError("CANCELLED"))
