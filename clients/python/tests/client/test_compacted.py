"""Compacting a list of which the daemon keeps nothing."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import compactord
from compactord import v1
from summarizer import HeldModel
from sync_lists import APART, DIALECTS, Step, Writer, call, flat, marks, user

DUE: dict[str, Any] = {"context_window": 4_000, "strategy": {"summarize": {"recent_tokens": 200}}}
PRUNES: dict[str, Any] = {
    "context_window": 4_000,
    "strategy": {"ladder": {"rungs": [{"strategy": {"clear_tool_uses": {"keep_calls": 1, "trigger_tokens": 0}}}]}},
}


class Program:
    """A program that keeps its list and the state of it."""

    def __init__(self, client: compactord.Client, dialect: compactord.Dialect | None, policy: dict[str, Any]) -> None:
        self.client = client
        self.dialect: compactord.Dialect | None = dialect
        self.policy = policy
        self.writer = Writer(dialect, random.Random(5), words=60)
        self.steps: list[Step] = []
        self.state = ""

    def compacted(self, **options: Any) -> compactord.Compacted:
        system = "Be kind." if self.dialect in APART else None
        made = self.client.compacted(
            flat(self.steps), dialect=self.dialect, policy=self.policy, state=self.state, system=system, **options
        )
        self.state = made.state
        return made

    def grow(self) -> compactord.Compacted:
        """Add turns until the list is compacted."""
        while True:
            self.steps += self.writer.steps()
            made = self.compacted()
            if made.compacted:
                return made
            assert len(self.steps) < 100


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_list_is_compacted_again_and_again(client: compactord.Client, dialect: compactord.Dialect | None) -> None:
    program = Program(client, dialect, DUE)
    whole = program.compacted()
    assert (whole.messages, whole.state, whole.compacted) == ([], "", False)
    before, made = "", whole
    for _ in range(3):
        made = program.grow()
        assert made.compaction_result is not None
        entry = made.compaction_result.compaction
        assert entry is not None
        assert entry.previous_entry_id == before
        assert len(made.messages) < len(flat(program.steps))
        assert not made.report.should_compact
        assert not made.began_anew
        again = program.compacted()
        assert (again.messages, again.state, again.compacted) == (made.messages, made.state, False)
        before = entry.id
    if dialect in APART:
        assert "Be kind." in str(made.system)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_end_may_change_and_what_is_covered_may_not(
    client: compactord.Client, dialect: compactord.Dialect | None
) -> None:
    program = Program(client, dialect, DUE)
    program.grow()
    covered = json.loads(program.state)["covered"]
    elements = flat(program.steps)
    assert 0 < covered < len(elements)
    state = program.state
    system = "Be kind." if dialect in APART else None

    def compacted(given: list[Any]) -> compactord.Compacted:
        return client.compacted(given, dialect=dialect, policy=DUE, state=state, system=system, compact=False)

    kept = compacted([*elements[:covered], user(dialect, "mark0")])
    assert not kept.began_anew
    assert "stands in for earlier messages" in str(kept.messages)
    assert marks(kept.messages)[-1] == "mark0"
    longer = compacted([*elements, *flat(program.writer.steps())])
    assert not longer.began_anew
    for changed in ([*elements[: covered - 1], user(dialect, "mark0")], [user(dialect, "mark0"), *elements[1:]]):
        anew = compacted(changed)
        assert (anew.began_anew, anew.state) == (True, "")
        assert marks(anew.messages) == marks(changed)


def test_leading_messages_may_change(client: compactord.Client) -> None:
    program = Program(client, "openai_chat", DUE)
    program.steps = [[{"role": "system", "content": "Be kind."}]]
    program.grow()
    program.steps[0] = [{"role": "system", "content": "Be rude."}]
    made = program.compacted()
    assert (made.began_anew, made.messages[0]) == (False, {"role": "system", "content": "Be rude."})
    program.steps[:0] = [[{"role": "system", "content": "mark0"}]]
    assert program.compacted().began_anew


def test_edits_are_kept_in_the_state(client: compactord.Client) -> None:
    program = Program(client, "anthropic", PRUNES)
    made = program.grow()
    assert made.compaction_result is not None
    assert made.compaction_result.prune is not None
    assert made.compaction_result.compaction is None
    assert len(made.messages) == len(flat(program.steps))
    assert marks(made.messages) != marks(flat(program.steps))
    assert program.compacted().messages == made.messages
    second = program.grow()
    assert len(json.loads(second.state)["prunes"]) == 2


def test_another_policy_goes_on_with_the_state(client: compactord.Client) -> None:
    program = Program(client, "gemini", DUE)
    made = program.grow()
    program.policy = {"context_window": 100_000}
    assert program.compacted().messages == made.messages


def test_events_and_the_request(client: compactord.Client) -> None:
    program = Program(client, "openai_responses", DUE)
    program.steps = [step for _ in range(20) for step in program.writer.steps()]
    events: list[str | None] = []

    def on_event(event: v1.CompactionEvent) -> None:
        events.append(event.WhichOneof("event"))

    made = program.compacted(on_event=on_event)
    assert (events[0], events[-1]) == ("started", "completed")
    assert made.request(model="m") == {"model": "m", "instructions": "Be kind.", "input": made.messages}


async def test_with_asyncio(client: compactord.Client) -> None:
    program = Program(client, "openai_chat", DUE)
    program.steps = [step for _ in range(20) for step in program.writer.steps()]
    events: list[v1.CompactionEvent] = []

    async def keep(event: v1.CompactionEvent) -> None:
        events.append(event)

    async with compactord.AsyncClient(client.address) as waiting:
        made = await waiting.compacted(flat(program.steps), dialect="openai_chat", policy=DUE, on_event=keep)
    assert made.compacted
    assert events


def test_calls_without_results_and_other_wrong_lists(client: compactord.Client) -> None:
    with pytest.raises(compactord.ToolCallsOpenError):
        client.compacted([user("openai_chat", "a"), call("openai_chat", "c1", "b")], dialect="openai_chat")
    with pytest.raises(compactord.InvalidRequestError):
        client.compacted([{"content": "no role"}], dialect="openai_chat")
    with pytest.raises(TypeError, match="messages: must be the list of all messages, and is a str"):
        client.compacted("Hi.", dialect="openai_chat")


@pytest.mark.parametrize(
    ("state", "kind", "wrong"),
    [
        (7, TypeError, "state: must be the text that an earlier call returned, and is a int"),
        ("7", ValueError, "state: it is not what an earlier call returned"),
        ("{}", ValueError, "state: it is not what an earlier call returned"),
        ("no JSON", ValueError, "state: it is not what an earlier call returned"),
        ('{"version":2}', ValueError, "state: it was made by a newer client than this one"),
        (
            '{"version":1,"dialect":"gemini"}',
            ValueError,
            "it is of a list in the dialect gemini, and this list is in n",
        ),
        (
            '{"version":1,"dialect":null,"compaction":"!","prunes":[],"apart":0,"leading":0,"covered":0,"digest":""}',
            ValueError,
            "state: it is not what an earlier call returned",
        ),
    ],
)
def test_no_states(client: compactord.Client, state: Any, kind: type[Exception], wrong: str) -> None:
    with pytest.raises(kind, match=wrong):
        client.compacted(["Hi."], state=state)


@pytest.mark.filterwarnings("ignore::compactord.CompactordWarning")
def test_an_error_of_the_callback_cancels(binary: str, model: HeldModel) -> None:
    with compactord.embedded(binary, config=model.config()) as client:
        program = Program(client, "openai_chat", DUE)
        program.steps = [step for _ in range(20) for step in program.writer.steps()]

        def fail(_: v1.CompactionEvent) -> None:
            raise LookupError("no")

        with pytest.raises(LookupError):
            program.compacted(on_event=fail)
        assert program.state == ""
        model.let_go()
        assert program.compacted().compacted, "the fallback writes"
