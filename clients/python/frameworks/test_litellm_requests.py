"""What the adapter of LiteLLM does with requests, by the proxy's own types and without the proxy."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from litellm.caching.dual_cache import DualCache
from litellm.exceptions import ContextWindowExceededError
from litellm.proxy._types import UserAPIKeyAuth

import compactord
from compactord.litellm import CompactordCallback
from programs import readme

POLICY: Any = {"context_window": 100_000, "strategy": {"summarize": {"recent_tokens": 1_000}}}


def sent(window: CompactordCallback, data: dict[str, Any], user: str = "ada", call: Any = "acompletion") -> Any:
    """What the model is sent for a request."""
    return asyncio.run(window.async_pre_call_hook(UserAPIKeyAuth(user_id=user), DualCache(), data, call))


def chat(*texts: str, **own: Any) -> dict[str, Any]:
    """A chat in which the user and the model take turns."""
    messages = [{"role": "assistant" if at % 2 else "user", "content": text} for at, text in enumerate(texts)]
    return {"model": "m", "temperature": 0.5, "messages": messages, "metadata": {"session_id": "one"}} | own


def test_the_readme(client: compactord.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPACTORD_ADDR", client.address)
    names = readme("LiteLLM")
    data = chat("What did we decide?", metadata={"session_id": "support-42"})
    assert sent(names["window"], data) == data
    (logged,) = client.session("ada/support-42").messages()
    assert logged.message.parts[0].text.text == "What did we decide?"


def test_all_that_is_no_conversation_stays(client: compactord.Client) -> None:
    window = CompactordCallback(client, policy=POLICY)
    generated = {"session_id": "made-up", "litellm_session_id_generated": True}
    with pytest.warns(compactord.CompactordWarning, match="it is sent as it is, without compaction: have the client"):
        sent(window, chat("Hello.", metadata={}), "bert")
    # It is said once.
    for data, call in (
        (chat("Hello.", metadata={}), "acompletion"),
        (chat("Hello.", metadata=generated), "acompletion"),
        (chat("Hello."), "aembedding"),
        ({"input": "Hello.", "litellm_session_id": "one"}, "aresponses"),
        ({"input": [], "previous_response_id": "resp_1", "litellm_session_id": "one"}, "aresponses"),
    ):
        assert sent(window, dict(data), "bert", call) == data
    named = [one.session_id for one in client.list_sessions() if "bert" in one.session_id]
    assert not any(list(client.session(one).messages()) for one in named)


def test_a_failed_request_without_a_conversation_opens_no_session(client: compactord.Client) -> None:
    window = CompactordCallback(client, policy=POLICY)
    named = {"litellm_session_id": "one"}
    refused = RuntimeError("no answer")
    for data in (
        {"input": ["Hello."], **named},
        {"input": "Hello.", **named},
        {"input": [{"role": "user", "content": "Hello."}], "previous_response_id": "resp_1", **named},
    ):
        asyncio.run(window.async_post_call_failure_hook(dict(data), refused, UserAPIKeyAuth(user_id="gil")))
    assert not [one.session_id for one in client.list_sessions() if one.session_id.startswith("gil/")]
    data = {"input": [{"role": "user", "content": "Hello."}], **named}
    asyncio.run(window.async_post_call_failure_hook(data, refused, UserAPIKeyAuth(user_id="gil")))
    assert [one.session_id for one in client.list_sessions() if one.session_id.startswith("gil/")] == ["gil/one"]


def test_users_do_not_share_sessions(client: compactord.Client) -> None:
    window = CompactordCallback(client, policy=POLICY)
    sent(window, chat("I am Carl.", metadata={"session_id": "one"}), "carl")
    sent(window, chat("I am Dora.", metadata={"session_id": "carl/one"}), "dora")
    (logged,) = client.session("carl/one").messages()
    assert logged.message.parts[0].text.text == "I am Carl."
    assert len(list(client.session("dora/carl%2Fone").messages())) == 1


def test_after_an_overflow_the_next_request_is_smaller(client: compactord.Client) -> None:
    window = CompactordCallback(client, policy=POLICY)
    data = chat("One.", "word " * 5_000, "Two.", "word " * 5_000, "Three.")
    assert sent(window, dict(data), "eve") == data
    said = "This model's maximum context length is 100000 tokens. However, your messages resulted in 100001 tokens."
    overflow = ContextWindowExceededError(said, "m", "openai")
    asyncio.run(window.async_post_call_failure_hook(data, overflow, UserAPIKeyAuth(user_id="eve")))
    again = sent(window, dict(data), "eve")
    assert len(str(again)) < len(str(data)) / 2
    assert again["messages"][-1] == data["messages"][-1]
    assert again["temperature"] == 0.5


def test_a_program_names_conversations_itself(client: compactord.Client) -> None:
    window = CompactordCallback(client, policy=POLICY, session=lambda data: data["user"])
    sent(window, chat("Hello.", user="room-7"), "fay")
    # None is what the program says, and no mistake.
    assert sent(window, chat("A title.", user=None), "fay") == chat("A title.", user=None)
    assert len(list(client.session("fay/room-7").messages())) == 1
