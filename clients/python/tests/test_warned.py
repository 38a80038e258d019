"""What is probably not meant is in the result, and Python warns of it, too."""

from __future__ import annotations

import warnings

import pytest

import compactord
from agents import Model, fill, is_async, policy
from compactord.warned import CompactordWarning
from providers import WINDOW, Provider, Said
from summarizer_server import summary

DUE = {"trigger": {"trigger_tokens": 6_000}}
UNBOUNDED = "the session has more than 32,000 tokens and no context window"


class TooLong(Exception):
    """What a provider's package raises where the prompt is too long."""

    status_code = 400

    def __init__(self, limit: int) -> None:
        super().__init__(f"prompt is too long: {limit + 10_000} tokens > {limit} maximum")


def test_a_fallback_is_told_by_each_way_to_compact(either: compactord.Client, chat: Provider) -> None:
    falling = policy(summary=summary(fails=False), **DUE)
    session = either.create_session(policy=falling, dialect=chat.dialect)
    fill(session, 8_000)
    with pytest.warns(CompactordWarning, match="fallback wrote the summary, in place of its summarizer: summarizer"):
        result = session.compact()
    assert [result.fallback_cause in text for text in result.warnings] == [True]

    fill(session, 8_000)
    with pytest.warns(CompactordWarning, match="fallback wrote"):
        turn = session.run_turn(Model(chat, Said("Done.")), "Go on.")
    [compacted] = turn.compactions
    assert isinstance(compacted, compactord.CompactionResult)
    assert turn.warnings == compacted.warnings != ()

    messages = [{"role": "user", "content": "word " * 600} for _ in range(12)]
    with pytest.warns(CompactordWarning, match="fallback wrote"):
        synced = either.create_session(policy=falling, dialect="openai_chat").sync(messages)
    assert synced.compaction_result is not None
    assert synced.warnings == synced.compaction_result.warnings != ()
    with pytest.warns(CompactordWarning, match="fallback wrote"):
        made = either.compacted(messages, policy=falling, dialect="openai_chat")
    assert len(made.warnings) == 1


def test_a_window_that_the_providers_error_contradicts_is_told_and_can_be_mended(
    either: compactord.Client, provider: Provider
) -> None:
    given = policy()
    session = either.create_session(policy=given, dialect=provider.dialect)
    fill(session, 8_000)
    with pytest.warns(CompactordWarning) as warned:
        turn = session.run_turn(Model(provider, TooLong(7_000), Said("Done.")), "Go on.")
    assert turn.done
    assert turn.limit_tokens == 7_000
    [told] = turn.warnings
    assert [str(one.message) for one in warned] == [told]
    assert "accepts 7,000 tokens" in told
    assert f"context window is {WINDOW:,}" in told
    assert "session.update(context_window=7_000)" in told

    before = session.info().session.policy
    session.update(context_window=turn.limit_tokens)
    after = session.info().session.policy
    assert after.context_window == 7_000
    after.context_window = before.context_window
    assert after == before
    with pytest.raises(ValueError, match="context_window: give it in the policy, or without one"):
        session.update(policy=given, context_window=7_000)


def test_a_window_that_the_providers_error_confirms_is_not_told(either: compactord.Client, chat: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=chat.dialect)
    fill(session, 8_000)
    turn = session.run_turn(Model(chat, TooLong(WINDOW), Said("Done.")), "Go on.")
    assert (turn.limit_tokens, turn.warnings) == (WINDOW, ())
    lower = either.create_session(policy=policy(max_input_tokens=9_000), dialect=chat.dialect)
    verdict = either.classify_error(str(TooLong(9_000)), http_status=400, session_id=lower.id)
    assert verdict.limit_tokens == 9_000


def test_an_overflow_that_compacting_does_not_mend_tells_the_limit(either: compactord.Client, chat: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=chat.dialect)
    with (
        pytest.warns(CompactordWarning, match="accepts 7,000"),
        pytest.raises(compactord.ContextOverflowError) as error,
    ):
        session.run_turn(Model(chat, TooLong(7_000)), "Go on.")
    assert error.value.limit_tokens == 7_000
    assert error.value.context_window == WINDOW


def test_a_loop_of_ones_own_is_told_of_a_contradicted_window(either: compactord.Client) -> None:
    session = either.create_session()
    with pytest.warns(CompactordWarning, match="accepts 7,000 tokens, .* the policy has no context window"):
        verdict = either.classify_error(str(TooLong(7_000)), http_status=400, session_id=session.id)
    assert verdict.limit_tokens == 7_000


def test_a_session_without_a_window_that_grows_is_told_once(either: compactord.Client, chat: Provider) -> None:
    session = either.create_session(dialect=chat.dialect)
    session.append("word " * 20_000)
    with pytest.warns(CompactordWarning, match=UNBOUNDED) as warned:
        session.append("word " * 20_000)
    assert len(warned) == 1
    session.append("word " * 20_000)
    turn = session.run_turn(Model(chat, Said("Done.")), "Go on.")
    [told] = turn.warnings
    assert told.startswith(UNBOUNDED)

    bounded = either.create_session(policy={"trigger": {"trigger_tokens": 100_000}})
    bounded.append("word " * 40_000)
    listed = either.create_session(dialect="openai_chat")
    with pytest.warns(CompactordWarning, match=UNBOUNDED):
        synced = listed.sync([{"role": "user", "content": "word " * 40_000}])
    assert [text.startswith(UNBOUNDED) for text in synced.warnings] == [True]


# With this preset, nothing of the window is left before a compaction comes due.
NEVER = {"preset": "klaude", "context_window": 32_000, "max_output_tokens": 32_000}


def test_a_policy_that_never_compacts_is_told_wherever_it_is_chosen(either: compactord.Client) -> None:
    with pytest.warns(CompactordWarning, match="policy.max_output_tokens: the preset klaude never compacts") as warned:
        session = either.create_session(policy=NEVER)
    assert session.warnings == tuple(str(one.message) for one in warned) != ()
    with pytest.warns(CompactordWarning, match="never compacts"):
        assert session.fork().warnings == session.warnings
    with pytest.warns(CompactordWarning, match="never compacts"):
        assert session.start_child().warnings == session.warnings
    with pytest.warns(CompactordWarning, match="never compacts"):
        assert either.open_session(f"of {is_async(either)}".replace(" ", "-"), policy=NEVER).warnings

    told = session.warnings
    session.update(title="the policy stays")
    assert session.warnings == told
    session.update(context_window=200_000)
    assert session.warnings == ()
    with pytest.warns(CompactordWarning, match="never compacts"):
        session.update(context_window=32_000)
    assert session.warnings == told


def test_a_window_alone_leaves_what_others_change(either: compactord.Client) -> None:
    session = either.create_session(policy={"context_window": 9_000, "overhead_tokens": 7})
    other = either.session(session.id)
    session.info()
    other.update(policy={"context_window": 9_000, "overhead_tokens": 700})
    session.update(context_window=8_000, labels={"user": "7"})
    held = session.info().session
    assert (held.policy.context_window, held.policy.overhead_tokens, dict(held.labels)) == (8_000, 700, {"user": "7"})


def test_the_warning_names_the_line_of_the_program(client: compactord.Client) -> None:
    session = client.create_session()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        session.append("word " * 40_000)
    assert [one.filename for one in warned] == [__file__]
