"""Compactions, points and the log, as a program uses them."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

import compactord
from compactord import connection, v1, words
from compactord._sync.wire import runtime
from compactord.binary import to_build
from daemons import Restarted, talk
from failures import raising

POLICY = {"context_window": 8_000, "strategy": {"summarize": {"recent_turns": 1}}}

SUMMARY = """## Goal
g
## Constraints & Preferences
c
## Progress
### Done
d
### In Progress
i
### Blocked
b
## Key Decisions
k
## Next Steps
n
## Critical Context
x
## Relevant Files
f
"""


@pytest.fixture
def session(client: compactord.Client) -> compactord.Session:
    session = client.create_session(policy=POLICY)
    talk(session, 6)
    return session


def test_a_compaction_event_by_event(session: compactord.Session) -> None:
    compaction = session.compacting(focus="cats", will_retry=True)
    events = list(compaction)
    kinds = [event.WhichOneof("event") for event in events]
    assert kinds[0] == "started"
    assert kinds[-1] == "completed"
    assert {"progress", "summary_delta"} <= set(kinds)
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert all(event.will_retry for event in events)
    result = compaction.result
    assert result
    assert result.compaction is not None
    assert result.compaction.provenance.focus == "cats"
    assert result.report is not None
    assert (result.reason, result.message, result.prune, result.planned) == ("", "", None, None)
    assert session.compaction(result.compaction.id) == result.compaction
    assert [entry.id for entry in session.compactions()] == [result.compaction.id]
    assert list(compaction) == []


def test_a_compaction_that_is_skipped_says_why(session: compactord.Session) -> None:
    assert session.compact()
    again = session.compact()
    assert not again
    assert again.reason == "already_compacted"
    assert again.message == (
        "nothing was appended since the last compaction: to compact in another way, "
        "undo the last one with session.revert(undo=True)"
    )
    assert again.message
    assert again.compaction is None
    below = session.compact(reason="threshold")
    assert below.reason == "below_threshold"


def test_a_dry_run_changes_nothing(session: compactord.Session) -> None:
    point = session.info().session.point
    result = session.compact(dry_run=True)
    assert not result
    assert result.planned is not None
    assert result.planned.cut.first_kept_index == 10
    assert result.report is None
    assert session.info().session.point == point


def test_a_compaction_with_a_request_id_is_made_once(session: compactord.Session) -> None:
    first = session.compact(request_id="r")
    session.append("more " * 400)
    second = session.compact(request_id="r")
    assert first.compaction == second.compaction
    assert len(list(session.compactions())) == 1


def test_a_compaction_is_taken_up_again_by_a_daemon_that_was_killed(restarted: Restarted) -> None:
    with compactord.Client(restarted.address) as client:
        session = client.create_session(policy=POLICY)
        talk(session, 6)
        compaction = session.compacting()
        events = iter(compaction)
        next(events)
        restarted.kill()
        restarted.start()
        assert list(events)
        assert compaction.result
        assert len(list(session.compactions())) == 1


def test_words_and_policies_that_there_are_not(client: compactord.Client, session: compactord.Session) -> None:
    unknown: Any = "claude"
    for call, match in (
        (lambda: client.create_session(policy={"window": 3}), "policy"),
        (lambda: client.session("s", dialect=unknown), "anthropic"),
        (lambda: session.revert(), "one of"),
        (lambda: session.revert(turns=1, undo=True), "one of"),
        (lambda: session.fork(at_checkpoint=1, point=1), "or point"),
        (lambda: session.search(), "pattern"),
        (lambda: session.recall(1, offset=1, match="x"), "range"),
        (lambda: client.count_tokens(), "give"),
    ):
        with pytest.raises(ValueError, match=match):
            call()


@pytest.mark.parametrize("policy", ["default", b"{}", 8_000, ["default"]])
def test_a_policy_of_a_wrong_type_is_told_by_its_name(
    client: compactord.Client, session: compactord.Session, policy: Any
) -> None:
    for call in (client.create_session, session.update, session.fork, session.compact, session.prune):
        with pytest.raises(ValueError, match=rf"^policy: .* not a {type(policy).__name__}$"):
            call(policy=policy)


@pytest.mark.parametrize("word", [["anthropic"], 1.5])
def test_a_word_of_a_wrong_type_is_told_by_its_name(client: compactord.Client, word: Any) -> None:
    with pytest.raises(ValueError, match=r"^dialect: .* is unknown: use one of "):
        client.session("one", dialect=word)
    with pytest.raises(ValueError, match=r"^order: .* is unknown: use one of "):
        next(client.list_sessions(order=word))


def test_a_policy_takes_the_words_of_enums(client: compactord.Client) -> None:
    section = {"title": "Goal", "role": "goal"}
    summarize = {"summarize": {"split_turn": "off"}}
    given: compactord.Policy = {
        "thinking": "adaptive",
        "summary": {"placement": "pair", "fallback": "SUMMARY_FALLBACK_FAIL", "sections": [section]},
        "strategy": {"first_effective": {"strategies": [summarize]}},
    }
    policy = client.create_session(policy=given).info().session.policy
    assert policy.thinking == v1.ThinkingPolicy.THINKING_POLICY_ADAPTIVE
    assert policy.summary.placement == v1.SummaryPlacement.SUMMARY_PLACEMENT_PAIR
    assert policy.summary.fallback == v1.SummaryFallback.SUMMARY_FALLBACK_FAIL
    assert policy.summary.sections.sections[0].role == v1.SectionRole.SECTION_ROLE_GOAL
    strategy = policy.strategy.first_effective.strategies[0]
    assert strategy.summarize.split_turn == v1.SplitTurn.SPLIT_TURN_OFF
    with pytest.raises(
        ValueError, match=r"^policy.thinking: 'adaptiv' is unknown: use one of keep_valid, keep_all, strip, adaptive$"
    ):
        client.create_session(policy={"thinking": "adaptiv"})


def test_empty_list_of_a_policy_is_not_the_presets(client: compactord.Client) -> None:
    empty: tuple[Any, ...] = ([], (), {}, {"strategies": []})
    for given in empty:
        session = client.create_session(policy={"preset": "opencode", "on_append": given, "file_tools": []})
        resolved = session.info().session.resolved_policy
        assert resolved.HasField("on_append")
        assert not resolved.on_append.strategies
        assert not resolved.file_tools.tools
    sections = [{"title": "目标", "role": "SECTION_ROLE_GOAL"}]
    extra = {"extra_context": ["The release is on Friday."], "sections": sections}
    session = client.create_session(policy={"onUserMessage": [{"drop_thinking": {}}], "summary": extra})
    resolved = session.info().session.resolved_policy
    assert len(resolved.on_user_message.strategies) == 1
    assert list(resolved.summary.extra_context.texts) == ["The release is on Friday."]
    assert [section.title for section in resolved.summary.sections.sections] == ["目标"]


def test_prune_hides_results(client: compactord.Client) -> None:
    policy = {"prune_strategy": {"hide_tool_results": {"keep_groups": 1}}}
    session = client.create_session(policy=policy)
    session.append("look twice")
    for number in range(2):
        call = v1.ToolCall(id=f"c{number}", name="look", arguments="{}")
        answer = v1.Message(role=v1.Role.ROLE_ASSISTANT, parts=[v1.Part(tool_call=call)])
        session.append(answer, compactord.tool_result(call, "seen " * 300))
    assert len(session.prune(dry_run=True).prune.edits) == 1
    assert [edit.index for edit in session.prune().prune.edits] == [2]
    nothing = session.prune()
    assert nothing.skip_reason
    assert nothing.message


def test_the_model_of_the_client_writes(session: compactord.Session) -> None:
    asked: list[compactord.Prompt] = []

    def write(prompt: compactord.Prompt) -> compactord.PromptAnswer:
        asked.append(prompt)
        text = SUMMARY if prompt.complaint else "I'm sorry."
        return compactord.PromptAnswer(text, model="mine", usage=v1.Usage(total_tokens=7), cost_usd=0.5)

    result = session.compact_with(write, focus="cats")
    assert result.compaction is not None
    provenance = result.compaction.provenance
    assert (provenance.summarizer, provenance.model) == ("client", "mine")
    assert result.fallback_cause == ""
    assert provenance.usage.total_tokens == 7
    assert provenance.cost_usd == 0.5
    assert [prompt.kind for prompt in asked] == ["HISTORY", "HISTORY"]
    assert asked[0].complaint == ""
    assert asked[1].complaint
    assert "cats" in asked[0].text
    assert session.compact_with(write).reason == "already_compacted"
    assert len(asked) == 2


def test_a_long_conversation_comes_folded_to_the_model_of_the_client(client: compactord.Client) -> None:
    session = client.create_session(policy=POLICY)
    talk(session, 30)
    texts: list[str] = []

    def write(prompt: compactord.Prompt) -> str:
        texts.append(prompt.text)
        return SUMMARY.replace("## Goal\ng", f"## Goal\nnumber {len(texts)}")

    assert session.compact_with(write, max_prompt_tokens=2_500)
    assert len(texts) > 2
    for number, text in enumerate(texts[1:], start=1):
        assert f"number {number}" in text


def test_a_model_that_never_passes_has_the_fallback_write_or_fails(client: compactord.Client) -> None:
    def refuse(_prompt: compactord.Prompt) -> str:
        return "I'm sorry."

    session = client.create_session(policy=POLICY)
    talk(session, 6)
    with pytest.warns(compactord.CompactordWarning) as warned:
        result = session.compact_with(refuse)
    assert result.compaction is not None
    assert result.compaction.provenance.summarizer == "extractive"
    assert result.fallback_cause.startswith("no summary by client passed the checks: ")
    told = f"the policy's fallback wrote the summary, in place of its summarizer: {result.fallback_cause}"
    assert result.warnings == (told,)
    assert [(str(one.message), one.filename) for one in warned] == [(told, __file__)]
    strict = client.create_session(policy={**POLICY, "summary": {"fallback": "SUMMARY_FALLBACK_FAIL"}})
    talk(strict, 6)
    with raising("SUMMARY_REJECTED") as caught:
        strict.compact_with(refuse)
    assert caught.value.metadata["check"]
    assert "passed the checks: " in caught.value.message
    assert list(strict.compactions()) == []


def test_a_prompt_on_the_agents_own_prompt_has_the_view(client: compactord.Client) -> None:
    session = client.create_session(policy={**POLICY, "summary": {"cached_prefix": True}})
    talk(session, 6)
    asked: list[compactord.Prompt] = []

    def write(prompt: compactord.Prompt) -> str:
        asked.append(prompt)
        return SUMMARY

    assert session.compact_with(write)
    assert len(asked[0].view) >= 10
    assert asked[0].view[0].message.parts[0].text.text.startswith("question 0")


def test_there_and_back_again(session: compactord.Session) -> None:
    checkpoint = session.checkpoint("here", announce=True)
    assert (checkpoint.id, checkpoint.title, checkpoint.marker_index) == (1, "here", 12)
    session.append("one more", compactord.assistant("yes"))
    reverted = session.revert(to_checkpoint=1, message_from_future="Leave it.")
    assert reverted.record is not None
    assert reverted.messages_put_aside == 2
    assert reverted.first_request_put_aside == 13
    assert "Leave it." in session.view().messages[-1].message.parts[-1].text.text
    assert session.revert(undo=True).messages_put_aside == 1
    assert len(session.view().messages) == 15
    assert session.revert(turns=2).messages_put_aside
    assert [(one.checkpoint.id, one.put_aside) for one in session.checkpoints()] == [(1, True)]
    summarized = session.revert(point=12, summarize=True, focus="the end")
    assert summarized.record is not None or summarized.messages_put_aside == 0
    cleared = session.clear()
    assert cleared.messages_put_aside
    assert session.view().messages == []
    assert session.clear().record is None


def test_pins_stay_word_for_word(session: compactord.Session) -> None:
    assert session.pin(0, 1).record is not None
    assert session.pin(0).record is None
    session.compact()
    assert session.view().messages[1].index == 0
    assert session.unpin(0, 1).record is not None
    assert session.unpin(0).record is None


def test_forks_have_the_same_views(session: compactord.Session) -> None:
    whole = session.fork(labels={"a": "b"}, title="twin")
    assert [one.SerializeToString() for one in whole.view().messages] == [
        one.SerializeToString() for one in session.view().messages
    ]
    info = whole.info().session
    assert (info.labels["a"], info.title, info.forked_from.session_id) == ("b", "twin", session.id)
    checkpoint = session.checkpoint()
    session.append("more")
    assert len(session.fork(at_checkpoint=checkpoint.id).view().messages) == 12


def test_pages_of_everything(client: compactord.Client, session: compactord.Session) -> None:
    for _ in range(5):
        session.checkpoint()
    assert [one.index for one in session.messages(page_size=5)] == list(range(12))
    assert [one.index for one in session.messages("dialogue", from_index=7, page_size=2)] == [7, 8, 9, 10, 11]
    assert len(list(session.records(page_size=2))) == 6
    assert [one.checkpoint.id for one in session.checkpoints(page_size=2)] == [1, 2, 3, 4, 5]
    newest = session.records(kinds=["checkpoint"], newest_first=True, page_size=2)
    assert [one.checkpoint.id for one in newest] == [5, 4, 3, 2, 1]
    label = {"group": session.id}
    ids = [client.create_session(labels=label).id for _ in range(5)]
    assert [one.session_id for one in client.list_sessions(labels=label, page_size=2)] == ids[::-1]
    client.session(ids[0]).update(title="changed last")
    assert next(iter(client.list_sessions(labels=label, order="changed"))).session_id == ids[0]


def test_records_are_filtered(session: compactord.Session) -> None:
    first = session.compact().compaction
    session.append("more ? " * 50, compactord.assistant("yes"))
    second = session.compact().compaction
    assert first is not None
    assert second is not None
    assert [one.id for one in session.compactions(page_size=1)] == [second.id, first.id]
    assert [one.compaction.id for one in session.records(compaction_id=first.id)] == [first.id]
    assert session.compaction(second.id) == second
    from_first = session.records(kinds=["compaction", "policy_change"], from_sequence=first.sequence)
    assert [one.compaction.id for one in from_first] == [first.id, second.id]
    back = session.records(newest_first=True, from_sequence=first.sequence)
    assert [one.WhichOneof("kind") for one in back] == ["compaction", "policy_change"]
    assert list(session.records(compaction_id="unknown")) == []
    with pytest.raises(ValueError, match="kinds: 'compactions' is unknown"):
        session.records(kinds=cast("Any", ["compactions"]))


def test_search_and_recall(session: compactord.Session) -> None:
    hits = list(session.search("question", page_size=2, snippet_chars=20))
    assert [hit.index for hit in hits] == [0, 2, 4, 6, 8, 10]
    assert [hit.index for hit in session.search(pattern="^answer [12]", newest_first=True)] == [5, 3]
    assert [hit.index for hit in session.search("question", roles=["assistant"])] == []
    session.compact()
    covered = list(session.search("question", roles=["user"], states=["covered"]))
    assert [hit.index for hit in covered] == [0, 2, 4, 6, 8]
    whole = "question 0: " + "why " * 120
    assert session.recall(0).text == whole
    assert session.recall("#0.0", offset=9, length=5).text == whole[9:14]


@pytest.mark.filterwarnings("ignore::compactord.CompactordWarning")
def test_recall_follows_what_goes_on(client: compactord.Client) -> None:
    session = client.create_session()
    text = "".join(f"line {number} ä\n" for number in range(20_000))
    session.append(text)
    assert session.recall(0).text == text
    assert not session.recall(0).has_more
    first = session.recall(0, max_bytes=10)
    assert (first.text, first.has_more, first.next_offset) == ("line 0 ä\n", True, 10)
    assert session.recall(0, offset=10).text == text[9:]
    assert session.recall(0, offset=10, length=150_000).total_bytes == len(text.encode())
    lines = session.recall(0, first_line=3, line_count=15_000)
    assert lines.text == "".join(text.splitlines(keepends=True)[2:15_002])
    matched = session.recall(0, match="LINE [0-9]*7 ", ignore_case=True)
    found = [number for block in matched.blocks for number in block.matching_lines]
    assert found == [number + 1 for number in range(20_000) if number % 10 == 7]


def test_update_and_open_and_delete(client: compactord.Client) -> None:
    session = client.open_session("opened", policy={"context_window": 5_000}, title="one")
    again = client.open_session("opened", title="two")
    assert again.info().session.title == "one"
    changed = session.update(labels={"a": "b"}, policy={"context_window": 6_000})
    assert (changed.labels["a"], changed.title) == ("b", "one")
    assert changed.resolved_policy.context_window == 6_000
    client.delete_session("opened")
    with pytest.raises(compactord.SessionNotFoundError):
        session.delete()


def test_a_policy_that_differs_from_the_sessions_is_not_dropped(client: compactord.Client) -> None:
    policy: dict[str, Any] = {"context_window": 5_000, "strategy": {"summarize": {"recent_turns": 1}}}
    session = client.open_session("with-policy", policy=policy)
    session.append("one")
    assert client.open_session("with-policy", policy=policy).info().session.next_index == 1
    with pytest.raises(
        compactord.SessionExistsError, match=r"policy: .* differs in context_window: .* update"
    ) as caught:
        client.open_session("with-policy", policy={**policy, "context_window": 6_000})
    assert "strategy" not in str(caught.value)
    with pytest.raises(compactord.SessionExistsError, match="differs in preset, strategy:"):
        client.open_session("with-policy", policy={"preset": "kimi", "strategy": {"summarize": {}}})
    client.open_session("with-policy", policy={"context_window": 5_000})
    with pytest.raises(compactord.SessionExistsError, match="differs in trigger"):
        client.open_session("with-policy", policy={"trigger": {"reserve_tokens": 1_000}})
    session.update(policy={**policy, "context_window": 6_000})
    client.open_session("with-policy", policy={**policy, "context_window": 6_000})
    client.delete_session("with-policy")


def test_sessions_with_an_operators_policy_are_opened_again(tmp_path: Path, binary: str) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("policies: {small: {preset: kimi, trigger: {trigger_tokens: 4000}}}\ndefault_policy: small\n")
    daemon = Restarted(binary, "--config", str(config))
    daemon.start()
    try:
        with compactord.Client(daemon.address) as client:
            for policy in (
                {"preset": "small"},
                {"preset": "small", "context_window": 9_000},
                {"context_window": 8_000, "trigger": {"reserve_tokens": 500}},
            ):
                session = client.open_session(str(uuid.uuid4()), policy=policy)
                assert session.info().session.policy.preset == "kimi"
                client.open_session(session.id, policy=policy)
            with pytest.raises(compactord.SessionExistsError, match="differs in context_window, trigger:"):
                client.open_session(session.id, policy={"context_window": 7_000, "trigger": {"reserve_tokens": 501}})
    finally:
        daemon.remove()


def test_what_needs_no_session(client: compactord.Client) -> None:
    told = client.classify_error("prompt is too long: 210000 tokens > 200000 maximum", http_status=400)
    assert told.overflow
    assert told.limit_tokens == 200_000
    assert not client.classify_error("rate limit", http_status=429).overflow
    assert client.count_tokens(text="four").tokens == 1
    assert client.count_tokens({"role": "user", "content": "four"}, dialect="anthropic").tokens >= 1
    assert client.count_tokens("four", estimator="o200k_base").tokens >= 1
    assert "summarize" in {one.name for one in client.strategies(context_window=100_000).strategies}


async def test_the_same_for_asyncio(client: compactord.Client, session: compactord.Session) -> None:
    async with compactord.AsyncClient(client.address) as other:
        same = other.session(session.id)
        assert (await same.compact()).compaction is not None
        assert [hit.index async for hit in same.search("question 3")] == [6]
        assert (await same.recall(0)).text.startswith("question 0")
        assert [one.session_id async for one in other.list_sessions(labels={"no": "such"})] == []

        async def write(_prompt: compactord.Prompt) -> str:
            return SUMMARY

        await same.append("more", compactord.assistant("much more " * 300), "and more")
        assert (await same.compact_with(write)).compaction is not None
        fork = await same.fork()
        assert isinstance(fork, compactord.AsyncSession)
        assert len((await fork.view()).messages) == len((await same.view()).messages)


@pytest.mark.parametrize(("nothing", "kind"), [("", ValueError), (None, TypeError)])
def test_a_session_is_not_opened_without_an_id(client: compactord.Client, nothing: Any, kind: type[Exception]) -> None:
    before = len(list(client.list_sessions()))
    for open_it in (client.open_session, client.session):
        with pytest.raises(kind, match="session_id"):
            open_it(nothing)
    assert len(list(client.list_sessions())) == before


def test_what_clients_and_sessions_look_like() -> None:
    client = compactord.Client("127.0.0.1:1")
    assert repr(client) == "Client('127.0.0.1:1')"
    assert repr(client.session("one", dialect="gemini")) == "Session('one', dialect='gemini')"
    assert repr(compactord.AsyncClient("unix:/c").session("two")) == "AsyncSession('two', dialect=None)"
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", compactord.__version__)


@pytest.mark.parametrize("place", ["127.0.0.1:1", "unix:/nowhere/at/all"])
def test_without_a_daemon_the_address_is_told_at_once(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """gRPC repeats such calls for seconds: the pauses are made long here, so that a repetition would be seen."""
    monkeypatch.setattr(connection, "FIRST_BACKOFF", 10.0)
    monkeypatch.setattr(connection, "MAX_BACKOFF", 10.0)

    def sleep(_: float) -> None:
        raise AssertionError("the call was repeated")

    monkeypatch.setattr(runtime, "sleep", sleep)
    why = "nothing listens there" if place.startswith("127") else "there is no such socket"
    told = (
        rf"^no daemon answers at {place}: start one with `\S*compactord serve --listen {place}`"
        rf"{re.escape(to_build())}, or set COMPACTORD_ADDR \({why}\) \(UNAVAILABLE\)$"
    )
    first: list[Callable[[compactord.Client], Any]] = [
        lambda client: client.create_session(timeout=20.0),
        lambda client: client.session("one").view(timeout=20.0),
        lambda client: client.session("one").revert(turns=1, timeout=20.0),
        lambda client: client.session("one").sync([compactord.user("hello")], timeout=20.0),
        lambda client: client.session("one").compact(timeout=20.0),
        lambda client: list(client.session("one").compacting(timeout=20.0)),
        lambda client: next(client.session("one").watch()),
        lambda client: client.compacted([compactord.user("hello")], timeout=20.0),
    ]
    for call in first:
        with compactord.Client(place) as client, pytest.raises(compactord.UnavailableError, match=told):
            call(client)
    other = "there.invalid:7440"
    text = connection.unreachable(other, "hostname lookup error: Domain name not found")
    assert text.endswith(f"compactord serve`{to_build()}, or set COMPACTORD_ADDR (there is no host of this name)")


MISTAKEN: list[tuple[Any, str]] = [
    ({"context_windw": 1}, "policy: there is no field 'context_windw': did you mean 'context_window'?"),
    ({"contextWindw": 1}, "policy: there is no field 'contextWindw': did you mean 'contextWindow'?"),
    ({"CONTEXT_WINDOW": 1}, "policy: there is no field 'CONTEXT_WINDOW': did you mean 'context_window'?"),
    ({"strategy": {"sumarize": {}}}, "policy.strategy: there is no field 'sumarize': did you mean 'summarize'?"),
    (
        {"on_append": [{"offload": {"over_token": 5}}]},
        "policy.on_append[0].offload: there is no field 'over_token': did you mean 'over_tokens'?",
    ),
    ({"strategy": {"ladder": [{"x": {}}]}}, "there is no field 'x': there are strategy, at_ratio"),
    ({"strategy": "summarize"}, "policy.strategy: must be a mapping of fields of Strategy, not a str"),
    ({"context_window": "big"}, "policy.context_window: must be a whole number, not a str"),
    ({"context_window": 1.5}, "policy.context_window: must be a whole number"),
    ({"context_window": -1}, "policy.context_window: must be from 0 to 4294967295, and is -1"),
    ({"trigger": {"enabled": 1}}, "policy.trigger.enabled: must be True or False, not a int"),
    ({"trigger": {"trigger_ratio": []}}, "policy.trigger.trigger_ratio: must be a number, not a list"),
    ({"preset": 5}, "policy.preset: must be a str, not a int"),
    ({5: 1}, "policy: a name must be a str, not a int"),
    (5, "policy: must be a v1.Policy or a mapping of its fields, not a int"),
]


@pytest.mark.parametrize(("policy", "told"), MISTAKEN)
def test_a_mistake_in_a_policy_is_named(policy: Any, told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        words.policy(policy)
