"""The lists that the adapters of frameworks bring."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import compactord
from agents import policy
from compactord.whole_list import made_room, synced

QUESTION, ANSWER = compactord.user("What is in hall 7?"), compactord.assistant("Crates.")
BRIEF = compactord.system("Be brief.")


def told(session: compactord.Session, *messages: Any, system: str | None = None) -> list[str]:
    """What a list is warned of."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        synced(session, messages, system=system)
    return [str(one.message) for one in warned]


def test_a_list_without_its_history_is_told(client: compactord.Client) -> None:
    session = client.create_session(policy=policy())
    assert told(session, BRIEF, QUESTION) == []
    assert told(session, BRIEF, QUESTION, ANSWER, compactord.user("And in hall 8?")) == []
    # The end is another one: an edit.
    assert told(session, BRIEF, QUESTION, ANSWER, compactord.user("And in hall 9?")) == []
    (warned,) = told(session, BRIEF, compactord.user("What did we decide?"))
    assert warned.startswith(
        f"the list has nothing of the messages that session {session.id} held, so they are put aside"
    )
    # Nobody had answered the one message: the run has failed.
    assert told(session, BRIEF, compactord.user("Well?")) == []


def test_a_list_without_its_history_is_told_in_dialects(client: compactord.Client) -> None:
    said = [{"role": "user", "content": "What is in hall 7?"}, {"role": "assistant", "content": "Crates."}]
    other = {"role": "user", "content": "What did we decide?"}
    chat = client.create_session(policy=policy(), dialect="openai_chat")
    brief = {"role": "developer", "content": "Be brief."}
    assert told(chat, brief, *said) == []
    assert len(told(chat, brief, other)) == 1
    claude = client.create_session(policy=policy(), dialect="anthropic")
    assert told(claude, *said, system="Be brief.") == []
    assert told(claude, *said, other, system="Be briefer.") == []
    assert len(told(claude, other, system="Be briefer.")) == 1


def test_where_the_daemon_makes_no_room_the_models_error_stays(client: compactord.Client) -> None:
    """The daemon is gone for the first one, and for the second one it refuses to compact a session that is gone."""
    overflow = RuntimeError("This model's maximum context length is 8192 tokens, and the request has 9000 tokens.")
    nobody = compactord.Client("127.0.0.1:1", timeout=0.2)
    deleted = client.create_session(policy=policy())
    deleted.delete()
    for asked, session in ((nobody, nobody.session("any")), (client, deleted)):
        with pytest.warns(compactord.CompactordWarning, match="^the session could not be made smaller: "):
            assert not made_room(asked, session, overflow)


def test_a_session_without_a_window_is_told_once(client: compactord.Client) -> None:
    session = client.create_session()
    (warned,) = told(session, QUESTION)
    assert warned.startswith("the policy of the session has no context window, so no compaction comes due")
    assert told(session, QUESTION, ANSWER) == []
    for given in ({"context_window": 9_000}, {"trigger": {"trigger_tokens": 9_000}}):
        assert told(client.create_session(policy=given), QUESTION) == []
    # It grows at once: what says it of all sessions is enough.
    (warned,) = told(client.create_session(), compactord.user("word " * 40_000))
    assert warned.startswith("the session has more than 32,000 tokens and no context window")
