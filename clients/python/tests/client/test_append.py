"""What can be appended, and that nothing is doubled."""

from __future__ import annotations

import json
from typing import Any

import pytest

import compactord
from compactord import messages, v1
from daemons import Proxy, Restarted, lose_the_answer, texts, wait_for

CHAT = v1.Dialect.DIALECT_OPENAI_CHAT
NEUTRAL = v1.Dialect.DIALECT_UNSPECIFIED


class Model:
    """Looks like a model of pydantic."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(
        self,
        *,
        mode: str = "python",
        by_alias: bool = False,
        exclude_unset: bool = False,
        exclude_none: bool = False,
        exclude: set[str] | None = None,
        warnings: bool = True,
    ) -> dict[str, Any]:
        assert mode == "json"
        assert by_alias
        assert exclude_unset
        assert exclude is None
        assert not warnings
        return {key: value for key, value in self.fields.items() if not exclude_none or value is not None}


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ([{"role": "user", "content": "a"}], '{"role":"user","content":"a"}'),
        ([{"a": 1}, {"b": 2}], '[{"a":1},{"b":2}]'),
        ([[{"a": 1}], {"b": 2}, []], '[{"a":1},{"b":2}]'),
        ([b' {"n": 1.0} '], ' {"n": 1.0} '),
        ([b'[{"n": 1.0}]', {"b": 2}, b" [] "], '[{"n": 1.0},{"b":2}]'),
        ([Model(role="user", content=None)], '{"role":"user","content":null}'),
        ([{"role": "assistant", "content": [Model(type="text")]}], '{"role":"assistant","content":[{"type":"text"}]}'),
        ([(item for item in [{"a": 1}])], '[{"a":1}]'),
        ([{"big": 12345678901234567890, "one": 1.0}], '{"big":12345678901234567890,"one":1.0}'),
        ([{"text": "grüße 👋"}], '{"text":"grüße 👋"}'),
        ([{"text": "half \ud83d"}], '{"text":"half \\ud83d"}'),
    ],
)
def test_provider_json(given: list[Any], wanted: str) -> None:
    assert messages.content(given, CHAT).json == wanted


def test_the_models_of_gemini_name_what_they_lack() -> None:
    given = Model(role="model", thought=None)
    assert messages.content([given], v1.Dialect.DIALECT_GEMINI).json == '{"role":"model"}'


@pytest.mark.parametrize("dialect", [CHAT, NEUTRAL])
def test_neutral_messages_in_any_session(dialect: v1.Dialect.ValueType) -> None:
    made = messages.content(["hello", compactord.assistant("hi"), ["again"]], dialect)
    assert made.json is None
    assert [message.role for message in made.messages] == [v1.Role.ROLE_USER, v1.Role.ROLE_ASSISTANT, v1.Role.ROLE_USER]


def test_dicts_without_a_dialect_are_neutral_messages() -> None:
    given = {"role": "ROLE_USER", "parts": [{"text": {"text": "hello"}}]}
    assert messages.content([given], NEUTRAL).messages == (compactord.user("hello"),)
    assert messages.content([json.dumps([given]).encode()], NEUTRAL).messages == (compactord.user("hello"),)


@pytest.mark.parametrize(
    ("given", "dialect", "match"),
    [
        (["hello", {"role": "user"}], CHAT, "make two"),
        ([object()], CHAT, "object cannot be appended"),
        ([{"role": object()}], CHAT, "object cannot be appended"),
        ([{"n": float("nan")}], CHAT, "NaN"),
        ([7], NEUTRAL, "int is not a neutral message"),
        ([{"role": "user", "content": "hello"}], NEUTRAL, "not a neutral message"),
    ],
)
def test_what_cannot_be_appended(given: list[Any], dialect: v1.Dialect.ValueType, match: str) -> None:
    with pytest.raises(TypeError, match=match):
        messages.content(given, dialect)


def test_nothing_cannot_be_appended(client: compactord.Client) -> None:
    session = client.create_session()
    with pytest.raises(ValueError, match="nothing"):
        session.append()
    with pytest.raises(TypeError, match="only with provider JSON"):
        session.append("hello", model="m")


def test_helpers_make_messages_of_each_role() -> None:
    call = v1.ToolCall(id="c1", name="read", arguments="{}")
    result = compactord.tool_result(
        call, "text", is_error=True, files=["a.py", v1.FileTouch(path="b.py", modified=True)]
    )
    assert result.parts[0].tool_result == v1.ToolResult(
        call_id="c1",
        name="read",
        parts=[v1.ResultPart(text=v1.TextPart(text="text"))],
        is_error=True,
        files=[v1.FileTouch(path="a.py"), v1.FileTouch(path="b.py", modified=True)],
    )
    assert compactord.tool_result("c2", "x").parts[0].tool_result.call_id == "c2"
    assert compactord.system("s").role == v1.Role.ROLE_SYSTEM
    assert compactord.developer("d").role == v1.Role.ROLE_DEVELOPER
    assert compactord.user("\ud83d\udc4b and half \ud83d").parts[0].text.text == "👋 and half \ufffd"


def test_an_append_says_where_it_went(client: compactord.Client) -> None:
    session = client.create_session(dialect="openai_chat", policy={"context_window": 1_000})
    first = session.append({"role": "user", "content": "a"}, {"role": "user", "content": "b"})
    assert (first.first_index, first.next_index, first.point) == (0, 2, 2)
    assert first.answer is None
    assert first.report.trigger_tokens == 750
    view = session.view()
    answer = {"role": "assistant", "content": "c " * 2_000}
    second = session.append(answer, view=view, usage=v1.Usage(total_tokens=990), model="m", stop_reason="end")
    assert (second.first_index, second.next_index) == (2, 3)
    assert second.report.tokens == 990
    logged = list(session.messages())[2]
    assert (logged.message.model, logged.message.usage.total_tokens) == ("m", 990)
    assert logged.message.stop_reason == v1.StopReason.STOP_REASON_END
    assert logged.view_point == first.point


def test_an_answer_is_described(client: compactord.Client) -> None:
    session = client.create_session(dialect="openai_chat")
    session.append("look")
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"n": 1.0}'}}
    told = session.append({"role": "assistant", "content": "yes", "tool_calls": [call]}, model_answer=True).answer
    assert told is not None
    assert [part.WhichOneof("kind") for part in told.parts] == ["text", "tool_call"]
    assert told.parts[1].tool_call.arguments == '{"n": 1.0}'
    assert not told.overflow


def test_what_is_malformed_is_told_or_refused(client: compactord.Client) -> None:
    session = client.create_session(dialect="openai_chat")
    stray = {"role": "tool", "tool_call_id": "none", "content": "result"}
    assert [finding.rule for finding in session.append("hi", request_id="r").findings] == []
    assert session.append(stray).findings
    with pytest.raises(compactord.InvalidRequestError) as caught:
        session.append(stray, strict=True)
    assert caught.value.reason == "INPUT_MALFORMED"


def test_a_request_id_is_not_used_twice(client: compactord.Client) -> None:
    session = client.create_session()
    assert session.append("one", request_id="r").first_index == 0
    assert session.append("one", request_id="r").first_index == 0
    with pytest.raises(compactord.InvalidRequestError) as caught:
        session.append("two", request_id="r")
    assert caught.value.reason == "REQUEST_ID_REUSED"
    assert texts(session) == ["one"]


def test_an_append_whose_answer_was_lost_is_not_doubled(client: compactord.Client, proxy: Proxy) -> None:
    own = client.create_session()
    with compactord.Client(proxy.address, retry=False) as through:
        session = through.session(own.id)
        session.append("first")
        thread = lose_the_answer(proxy, own, 1)
        with pytest.raises(compactord.UnavailableError) as caught:
            session.append("second")
        thread.join()
        wait_for(through)
        assert caught.value.request_id
        assert texts(own) == ["first", "second"], "the daemon had it"
        assert session.append("second").first_index == 1
        assert texts(own) == ["first", "second"]
        assert session.append("second").first_index == 2, "said again, it is another message"


def test_what_was_given_up_does_not_swallow_the_same_words_later(client: compactord.Client, proxy: Proxy) -> None:
    own = client.create_session()
    with compactord.Client(proxy.address, retry=False) as through:
        session = through.session(own.id)
        session.append("first")
        thread = lose_the_answer(proxy, own, 1)
        with pytest.raises(compactord.UnavailableError):
            session.append("yes")
        thread.join()
        wait_for(through)
        session.append("other")
        session.append("yes")
        assert texts(own) == ["first", "yes", "other", "yes"]


def test_writes_are_sent_again_and_not_doubled(client: compactord.Client, proxy: Proxy) -> None:
    own = client.create_session()
    with compactord.Client(proxy.address) as through:
        session = through.session(own.id)
        session.append("message 0")
        for number in range(1, 4):
            thread = lose_the_answer(proxy, own, number)
            assert session.append(f"message {number}").first_index == number
            thread.join()
        assert texts(own) == [f"message {number}" for number in range(4)]


def test_a_killed_daemon_that_comes_back_goes_on(restarted: Restarted) -> None:
    with compactord.Client(restarted.address) as client:
        session = client.create_session(dialect="openai_chat")
        session.append("one")
        assert len(session.view().messages) == 1
        watch = session.watch(from_sequence=0)
        seen = [next(watch), next(watch)]
        restarted.kill()
        restarted.start()
        session.append("two")
        view = session.view()
        assert view.messages_json == client.session(session.id, dialect="openai_chat").view().messages_json
        seen += [next(watch)]
        assert [item.sequence for item in seen if not isinstance(item, v1.CompactionEvent)] == [0, 1, 2]
        watch.close()
        assert texts(session) == ["one", "two"]


async def test_a_killed_daemon_that_comes_back_goes_on_for_asyncio(restarted: Restarted) -> None:
    async with compactord.AsyncClient(restarted.address) as client:
        session = await client.create_session()
        await session.append("one")
        async with session.watch(from_sequence=0) as watch:
            seen = [await anext(watch), await anext(watch)]
            restarted.kill()
            restarted.start()
            await session.append("two")
            seen += [await anext(watch)]
        assert [item.sequence for item in seen if not isinstance(item, v1.CompactionEvent)] == [0, 1, 2]
        assert len([logged async for logged in session.messages()]) == 2


def test_a_daemon_that_stays_away_is_unavailable(restarted: Restarted) -> None:
    with compactord.Client(restarted.address, retry=False) as client:
        session = client.create_session()
        watch = session.watch(from_sequence=0)
        next(watch)
        restarted.kill()
        with pytest.raises(compactord.UnavailableError):
            session.append("one")
        with pytest.raises(compactord.UnavailableError):
            next(watch)
        with pytest.raises(compactord.UnavailableError):
            session.compact()


def test_what_has_no_json_is_told_apart() -> None:
    loop: dict[str, Any] = {}
    loop["self"] = loop
    for wrong, why in (
        ({"n": float("nan")}, "NaN and infinity cannot be written as JSON"),
        (loop, "an object that contains itself cannot be written as JSON"),
        ({"n": 10**5_000}, "an object or a number in it cannot be written as JSON"),
    ):
        with pytest.raises(TypeError, match=why):
            messages.to_json(wrong, CHAT)
