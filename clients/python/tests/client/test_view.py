"""Views: deltas are joined, pages followed, and only what is new is moved."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest

import compactord
from compactord import v1
from compactord.view import View, empty
from compactord.words import Dialect
from daemons import Proxy, talk
from failures import raising

DIALECTS: list[Dialect | None] = [None, "openai_chat", "openai_responses", "anthropic", "gemini"]
POLICY = {
    "context_window": 8_000,
    "strategy": {"summarize": {"recent_turns": 2}},
    "prune_strategy": {"hide_tool_results": {"keep_groups": 1}},
}

PROVIDER_TEXT: dict[str, dict[str, Any]] = {
    "openai_chat": {"role": "user", "content": "grüße 👋"},
    "openai_responses": {"role": "user", "content": "grüße 👋"},
    "anthropic": {"role": "user", "content": "grüße 👋"},
    "gemini": {"role": "user", "parts": [{"text": "grüße 👋"}]},
}


def shown(view: View) -> list[Any]:
    """All that a view holds, byte for byte."""
    neutral = [message.SerializeToString(deterministic=True) for message in view.messages] if not view.dialect else []
    return [neutral, view.messages_json, view.system_json]


def step(session: compactord.Session, rng: random.Random, calls: int) -> None:
    """Change a session in a way that dice decide."""
    match rng.randrange(8):
        case 0 | 1:
            session.append(compactord.user(f"please {rng.random()} " + "do " * rng.randrange(1, 200)))
        case 2 | 3:
            session.append(compactord.assistant("done " * rng.randrange(1, 200)))
        case 4:
            call = v1.ToolCall(id=f"call_{calls}", name="look", arguments='{"n": 1.0}')
            session.append(
                v1.Message(role=v1.Role.ROLE_ASSISTANT, parts=[v1.Part(tool_call=call)]),
                compactord.tool_result(call, "seen " * rng.randrange(1, 300)),
            )
        case 5:
            session.compact()
        case 6:
            session.prune()
        case _:
            try:
                if rng.random() < 0.5:
                    session.revert(turns=1)
                else:
                    session.revert(undo=True)
            except compactord.CompactordError as error:
                if error.reason != "NOTHING_TO_REVERT":
                    raise


@pytest.mark.parametrize("dialect", DIALECTS)
def test_joined_view_is_that_of_a_fresh_session(client: compactord.Client, dialect: Dialect | None) -> None:
    rng = random.Random(f"views {dialect}")
    kept = client.create_session(policy=POLICY, dialect=dialect)
    kept.append(compactord.system("be brief"), compactord.user("hello"))
    fetched, moved = 0, 0
    for calls in range(60):
        step(kept, rng, calls)
        if rng.random() < 0.2:
            continue
        try:
            view = kept.view(max_bytes=rng.choice([None, 1, 700]))
        except compactord.CompactordError as error:
            if error.reason != "VIEW_INVALID":
                raise
            continue
        fresh = client.session(kept.id, dialect=dialect).view()
        assert shown(view) == shown(fresh)
        fetched += fresh.messages_sent
        moved += view.messages_sent
    assert moved < fetched / 2, "deltas moved no less than whole views"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_pages_are_followed(client: compactord.Client, dialect: Dialect | None) -> None:
    session = client.create_session(dialect=dialect)
    talk(session, 20)
    whole = session.view()
    paged = client.session(session.id, dialect=dialect).view(max_bytes=1)
    assert shown(paged) == shown(whole)
    assert paged.complete
    assert paged.messages_sent >= len(whole.messages) == 40


@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name])
def test_provider_json_goes_in_and_comes_out(client: compactord.Client, dialect: Dialect) -> None:
    session = client.create_session(dialect=dialect)
    given = PROVIDER_TEXT[dialect]
    session.append(given)
    view = session.view()
    assert view.messages == [given]
    assert [json.loads(raw) for raw in view.messages_json] == [given]
    field = {"openai_responses": "input", "gemini": "contents"}.get(dialect, "messages")
    assert view.request() == {field: [given]}


def test_request_holds_the_system_prompt_where_the_provider_keeps_it_apart(client: compactord.Client) -> None:
    def request(dialect: Dialect, body: dict[str, Any]) -> dict[str, Any]:
        session = client.create_session(dialect=dialect)
        session.append(body)
        return session.view().request()

    anthropic = {"system": [{"type": "text", "text": "be brief"}], "messages": [PROVIDER_TEXT["anthropic"]]}
    assert request("anthropic", anthropic) == anthropic
    gemini = {"systemInstruction": {"parts": [{"text": "be brief"}]}, "contents": [PROVIDER_TEXT["gemini"]]}
    assert request("gemini", gemini) == gemini
    responses = {"instructions": "be brief", "input": [PROVIDER_TEXT["openai_responses"]]}
    assert request("openai_responses", responses) == responses


def test_a_request_turns_off_thinking_with_a_budget_where_the_loop_lost_its_own(client: compactord.Client) -> None:
    session = client.create_session(dialect="anthropic", policy=POLICY)
    session.append({"role": "user", "content": "measure"})
    think(session, 1, 2)
    own = {"model": "claude", "thinking": {"type": "enabled", "budget_tokens": 2_000}}
    view = session.view()
    assert not view.disable_thinking
    assert view.request(**own) == {**own, "messages": view.messages}
    assert session.prune().prune.edits
    view = session.view()
    assert view.disable_thinking
    assert view.request(**own) == {**own, "thinking": {"type": "disabled"}, "messages": view.messages}
    assert own["thinking"] == {"type": "enabled", "budget_tokens": 2_000}


@pytest.mark.parametrize("thinking", [None, {"type": "adaptive"}, {"type": "between_tools"}, {"type": "disabled"}])
def test_a_model_that_refuses_thinking_disabled_is_not_sent_it_unasked(
    client: compactord.Client, thinking: dict[str, str] | None
) -> None:
    session = client.create_session(dialect="anthropic", policy=POLICY)
    session.append({"role": "user", "content": "measure"})
    think(session, 1, 2)
    assert session.prune().prune.edits
    view = session.view()
    assert view.disable_thinking
    own = {"model": "claude"} | ({"thinking": thinking} if thinking else {})
    assert view.request(**own) == {**own, "messages": view.messages}


def test_adaptive_thinking_goes_on_in_a_loop_that_lost_its_own(client: compactord.Client) -> None:
    session = client.create_session(dialect="anthropic", policy={**POLICY, "thinking": "adaptive"})
    session.append({"role": "user", "content": "measure"})
    think(session, 1, 2)
    assert session.prune().prune.edits
    own = {"model": "claude", "thinking": {"type": "adaptive"}}
    view = session.view()
    assert view.request(**own) == {**own, "messages": view.messages}
    assert "c2lnbmF0dXJl" not in "".join(view.messages_json)
    think(session, 3)
    view = session.view()
    assert view.request(**own) == {**own, "messages": view.messages}
    assert view.messages[-2]["content"][0] == thought(3)
    assert "c2lnbmF0dXJl3" not in "".join(session.view(thinking="keep_valid").messages_json)


def thought(number: int) -> dict[str, Any]:
    return {"type": "thinking", "thinking": "", "signature": f"c2lnbmF0dXJl{number}=="}


def think(session: compactord.Session, *numbers: int) -> None:
    """Append steps of a tool loop."""
    for number in numbers:
        call: dict[str, Any] = {"type": "tool_use", "id": f"toolu_{number}", "name": "read", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "wave " * 400}
        session.append({"role": "assistant", "content": [thought(number), call]}, {"role": "user", "content": [result]})


def test_a_neutral_view_is_no_request(client: compactord.Client) -> None:
    session = client.create_session()
    session.append("hello")
    with pytest.raises(ValueError, match="neutral"):
        session.view().request()


def test_a_later_fetch_changes_no_earlier_view(client: compactord.Client) -> None:
    session = client.create_session(dialect="openai_chat", policy=POLICY)
    talk(session, 5)
    before = session.view()
    held = list(before.messages_json)
    assert session.compact()
    after = session.view()
    assert before.messages_json == held != after.messages_json
    assert len(after.messages) < len(before.messages)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_a_caller_changes_in_messages_is_in_no_later_view(
    client: compactord.Client, dialect: Dialect | None
) -> None:
    session = client.create_session(dialect=dialect)
    session.append(compactord.system("be brief"))
    talk(session, 3)
    first = session.view()
    whole = copy.deepcopy((first.messages, first.system))
    for message in first.messages:
        if isinstance(message, dict):
            message["cache_control"] = {"type": "ephemeral"}
        else:
            message.message.role = v1.Role.ROLE_UNSPECIFIED
    for block in first.system:
        if isinstance(block, dict):
            block["cache_control"] = {"type": "ephemeral"}
    assert (first.messages, first.system) == whole
    session.append("more")
    second = session.view()
    assert (second.messages[:-1], second.system) == whole
    assert second.messages_sent <= 2


def test_what_a_caller_changes_in_a_request_is_not_in_the_next(client: compactord.Client) -> None:
    session = client.create_session(dialect="anthropic")
    talk(session, 1)
    view = session.view()
    whole = copy.deepcopy(view.request())
    changed = view.request()
    changed["messages"][-1]["content"] = []
    changed["messages"].append({})
    assert view.request() == whole != changed


@pytest.mark.filterwarnings("ignore::compactord.CompactordWarning")
def test_only_what_is_new_is_moved(proxy: Proxy) -> None:
    with compactord.Client(proxy.address) as through:
        session = through.create_session(dialect="openai_chat")
        talk(session, 200)
        session.view()
        whole = proxy.received
        session.append("one more")
        session.view()
        assert proxy.received - whole < whole / 50


def test_a_view_as_of_earlier_is_not_kept(client: compactord.Client) -> None:
    session = client.create_session()
    session.append("one")
    point = session.append("two").point
    session.append("three")
    session.view()
    assert len(session.view(as_of=point).messages) == 2
    assert session.view().messages_sent == 0


def test_other_options_give_the_whole_view(client: compactord.Client) -> None:
    session = client.create_session(dialect="anthropic")
    talk(session, 2)
    session.view()
    marked = session.view(mark_cache_breakpoints=True)
    assert marked.messages_sent == 4
    assert "cache_control" in marked.messages_json[-1]
    assert session.view(thinking="strip").messages_sent == 4


def test_a_page_that_does_not_fit_is_an_error() -> None:
    page = v1.GetLLMViewResponse(unchanged_prefix=3)
    with raising("INTERNAL", match="continues after 3"):
        empty(v1.Dialect.DIALECT_ANTHROPIC).joined(page)


def test_open_calls_keep_a_dialect_from_being_drawn(client: compactord.Client) -> None:
    session = client.create_session(dialect="openai_chat")
    call = v1.ToolCall(id="call_7", name="look", arguments="{}")
    session.append("look")
    session.append(v1.Message(role=v1.Role.ROLE_ASSISTANT, parts=[v1.Part(tool_call=call)]))
    with pytest.raises(compactord.ToolCallsOpenError) as caught:
        session.view()
    assert caught.value.call_ids == ("call_7",)
    assert len(client.session(session.id).view().messages) == 2


@pytest.mark.filterwarnings("ignore::compactord.CompactordWarning")
def test_a_view_comes_in_as_few_answers_as_the_client_takes(
    client: compactord.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = client.create_session()
    session.append(*["ten kilobytes " * 700] * 400)
    asked: list[int] = []
    get = client.compactions.GetLLMView

    def counted(request: v1.GetLLMViewRequest, **options: Any) -> v1.GetLLMViewResponse:
        asked.append(request.max_bytes)
        return get(request, **options)

    monkeypatch.setattr(client.compactions, "GetLLMView", counted)
    assert len(session.view().messages) == 400
    # 4 MB.
    assert asked == [32 << 20]
    with compactord.Client(client.address, max_message_bytes=1 << 20) as narrow:
        assert len(narrow.session(session.id).view().messages) == 400
