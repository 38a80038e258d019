"""Sync: an agent's complete list goes in, and the view comes out."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from typing import Any

import pytest

import compactord
from compactord import v1
from daemons import Proxy, Restarted, lose_the_answer, wait_for
from failures import raising
from summarizer import HeldModel
from sync_lists import APART, DIALECTS, Sent, Step, Writer, assistant, call, flat, marks, result, user

DUE: dict[str, Any] = {"context_window": 4_000, "strategy": {"summarize": {"recent_tokens": 200}}}
"""A policy under which some turns are enough for a compaction."""


@pytest.fixture
def sent(client: compactord.Client) -> Iterator[Sent]:
    counted = Sent(client)
    yield counted
    counted.end()


def common(one: list[Any], other: list[Any]) -> int:
    """How many elements two lists begin with in common."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


class Agent:
    """An agent that does to its list what agents do."""

    def __init__(self, client: compactord.Client, dialect: compactord.Dialect | None, seed: int) -> None:
        self.chance = random.Random(seed)
        self.dialect: compactord.Dialect | None = dialect
        self.writer = Writer(dialect, self.chance)
        self.client = client
        self.session = client.create_session(dialect=dialect)
        self.system = "You are an agent."
        self.steps: list[Step] = []
        self.synced: list[Any] | None = None

    def change(self) -> None:
        steps = self.steps
        match self.chance.randrange(6):
            case 0 if steps:  # It drops the end.
                del steps[self.chance.randrange(len(steps)) :]
            case 1 if steps:  # It has the answer written again.
                steps[-1] = [self.writer.answer()]
            case 2 if steps:  # It edits what was said, and goes on from there.
                at = self.chance.randrange(len(steps))
                steps[at:] = [[user(self.dialect, self.writer.text())]]
            case 3:  # It starts again, and knows only its list.
                self.session = self.client.session(self.session.id, dialect=self.dialect)
                self.synced = None
            case _:
                steps += self.writer.steps()

    def sync(self) -> compactord.Synced:
        system = self.system if self.dialect in APART else None
        return self.session.sync(self.list(), system=system)

    def list(self) -> list[Any]:
        first: list[Any] = []
        if self.dialect == "openai_chat":
            first = [{"role": "system", "content": self.system}]
        elif self.dialect is None:
            first = [compactord.system(self.system)]
        return [*first, *flat(self.steps)]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_session_follows_the_list(
    client: compactord.Client, sent: Sent, dialect: compactord.Dialect | None, seed: int
) -> None:
    agent = Agent(client, dialect, seed)
    for _ in range(25):
        agent.change()
        wanted = agent.list()
        synced = agent.sync()
        assert synced.messages is not None
        assert marks(synced.messages) == marks(wanted)
        new = len(wanted) - (0 if agent.synced is None else common(agent.synced, wanted))
        # A step back may have changed what views show: then only the content of all tells what the list has.
        first, *more = sent.taken()
        assert first == new
        assert more in ([], [len(wanted)]), "what the daemon lacks is sent once"
        assert synced.sent == first + sum(more)
        log = list(agent.session.records())
        again = agent.sync()
        assert sent.taken() == [0], "the same list once more"
        assert (again.appended, again.put_aside, again.next_index) == (0, 0, synced.next_index)
        assert list(agent.session.records()) == log
        assert again.messages == synced.messages
        agent.synced = wanted
    active = v1.MessageState.MESSAGE_STATE_ACTIVE
    held = [one.message for one in agent.session.messages() if one.state == active]
    assert marks(held) == marks(flat(agent.steps))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_only_what_is_new_is_sent_while_a_list_grows(
    client: compactord.Client, sent: Sent, dialect: compactord.Dialect | None
) -> None:
    agent = Agent(client, dialect, 7)
    for turn in range(8):
        new = agent.writer.steps()
        agent.steps += new
        synced = agent.sync()
        more = 0 if turn or dialect in APART else 1
        assert sent.taken() == [len(flat(new)) + more]
        assert synced.view is not None
        assert synced.view.messages_sent <= len(flat(new)) + more + 1, "a delta"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_changed_system_prompt_costs_nothing_but_itself(
    client: compactord.Client, sent: Sent, dialect: compactord.Dialect | None
) -> None:
    agent = Agent(client, dialect, 3)
    agent.steps = [*agent.writer.steps(), *agent.writer.steps()]
    agent.sync()
    sent.taken()
    agent.system = "You are another agent."
    synced = agent.sync()
    assert sent.taken() == [0 if dialect in APART else 1]
    assert synced.instructions_replaced
    assert (synced.appended, synced.put_aside) == (0, 0)
    assert "another agent" in str(synced.system if dialect in APART else synced.messages)


@pytest.mark.filterwarnings("ignore::compactord.CompactordWarning")
def test_a_long_list_is_known_by_its_digests_after_a_restart(client: compactord.Client, sent: Sent) -> None:
    writer = Writer("anthropic", random.Random(1), words=4_000)
    steps = [step for _ in range(3) for step in writer.steps()]
    session = client.create_session(dialect="anthropic")
    session.sync(flat(steps))
    assert sent.taken() == [0, len(flat(steps))], "the daemon is asked first what it lacks"
    again = client.session(session.id, dialect="anthropic")
    assert again.sync(flat(steps)).known == len(flat(steps))
    assert sent.taken() == [0]
    new = writer.steps()
    assert client.session(session.id, dialect="anthropic").sync(flat([*steps, *new])).put_aside == 0
    assert sent.taken() == [0, len(flat(new))]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_it_compacts_where_that_is_due_and_takes_its_view_back(
    client: compactord.Client, dialect: compactord.Dialect | None
) -> None:
    writer = Writer(dialect, random.Random(5), words=60)
    session = client.create_session(dialect=dialect, policy=DUE)
    steps = [step for _ in range(20) for step in writer.steps()]
    events: list[str | None] = []
    unwanted = session.sync(flat(steps), compact=False)
    assert unwanted.report.should_compact
    assert unwanted.compaction_result is None
    synced = session.sync(flat(steps), on_event=lambda event: events.append(event.WhichOneof("event")))
    assert events[0] == "started"
    assert events[-1] == "completed"
    assert synced.compacted is not None
    assert synced.messages is not None
    assert len(synced.messages) < len(flat(steps))
    assert not synced.report.should_compact

    whole = session.sync(flat(steps))
    assert (whole.appended, whole.put_aside, whole.compacted) == (0, 0, None)
    assert whole.messages == synced.messages
    stored = session.sync([*synced.messages, user(dialect, "mark0")])
    assert (stored.appended, stored.put_aside, stored.begins_with_view) == (1, 0, True)
    assert stored.messages is not None
    assert stored.messages[: len(synced.messages)] == synced.messages
    assert marks(stored.messages)[-1] == "mark0"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_while_calls_wait_there_is_no_view_in_a_dialect(
    client: compactord.Client, dialect: compactord.Dialect | None
) -> None:
    session = client.create_session(dialect=dialect)
    asked = [user(dialect, "mark1"), call(dialect, "c1", "mark2")]
    synced = session.sync(asked)
    assert [one.name for one in synced.open_calls] == ["look"]
    if dialect is None:
        assert synced.messages is not None
    else:
        assert synced.messages is None
        assert synced.system == []
        with pytest.raises(ValueError, match="tool calls wait"):
            synced.request()
    other = session.sync([asked[0], assistant(dialect, "mark3")])
    assert (other.appended, other.put_aside) == (1, 1), "what the session object itself wrote is no conflict"
    done = session.sync([*asked, result(dialect, "c1", "mark4")])
    assert done.open_calls == []
    assert done.messages is not None
    assert marks(done.messages) == ["mark1", "mark2", "mark4"]


def test_without_a_view(client: compactord.Client) -> None:
    session = client.create_session(dialect="anthropic")
    synced = session.sync([user("anthropic", "Hi.")], view=False)
    assert synced.messages is None
    with pytest.raises(ValueError, match="view=False"):
        synced.request()


def test_the_request_of_a_view(client: compactord.Client) -> None:
    session = client.create_session(dialect="anthropic")
    synced = session.sync([user("anthropic", "Hi.")], system="Be kind.")
    system = [{"type": "text", "text": "Be kind."}]
    assert synced.request(model="m") == {"model": "m", "system": system, "messages": [user("anthropic", "Hi.")]}
    kept = session.sync([user("anthropic", "Hi.")])
    assert kept.system == system
    assert not kept.instructions_replaced


def test_a_large_view_comes_in_pages(client: compactord.Client) -> None:
    writer = Writer("openai_chat", random.Random(2), words=50)
    steps = [step for _ in range(5) for step in writer.steps()]
    session = client.create_session(dialect="openai_chat")
    synced = session.sync(flat(steps), max_bytes=500)
    assert synced.messages == flat(steps)
    assert synced.view is not None
    assert synced.view.messages_sent == len(flat(steps))


def test_two_processes_get_a_conflict_and_no_interleaved_log(client: compactord.Client) -> None:
    first = client.create_session(dialect="openai_chat")
    begin = [user("openai_chat", "mark1"), assistant("openai_chat", "mark2")]
    first.sync(begin)
    second = client.session(first.id, dialect="openai_chat")
    second.sync([*begin, user("openai_chat", "mark3")])
    for _ in range(2):
        with pytest.raises(compactord.SyncConflictError, match=r"session\.refresh\(\)") as caught:
            first.sync([*begin, user("openai_chat", "mark4")])
        assert (caught.value.index, caught.value.next_index) == (2, 3)
    assert marks(one.message for one in first.messages()) == ["mark1", "mark2", "mark3"]
    first.refresh()
    theirs = first.view().messages
    synced = first.sync([*theirs, assistant("openai_chat", "mark5")])
    assert (synced.appended, synced.put_aside) == (1, 0)
    assert first.sync([*begin, user("openai_chat", "mark4")]).put_aside == 2, "now it knows of them"
    with pytest.raises(compactord.SyncConflictError):
        second.sync([*begin, user("openai_chat", "mark3"), assistant("openai_chat", "mark6")])


def test_a_failed_sync_leaves_nothing_that_the_daemon_lacks(client: compactord.Client) -> None:
    one, two = user("openai_chat", "mark1"), assistant("openai_chat", "mark2")
    with compactord.Client(client.address, max_message_bytes=1 << 16) as narrow:
        session = narrow.create_session(dialect="openai_chat")
        session.sync([one])
        with raising("RESOURCE_EXHAUSTED"):
            session.sync([one, two, user("openai_chat", "long " * 20_000)])
        sent = Sent(narrow)
        assert session.sync([one, two]).appended == 1
        assert sent.taken() == [1]


def test_what_others_took_away_is_sent_again(client: compactord.Client, sent: Sent) -> None:
    session = client.create_session(dialect="openai_chat")
    given = [user("openai_chat", "mark1"), assistant("openai_chat", "mark2"), user("openai_chat", "mark3")]
    session.sync(given)
    sent.taken()
    client.session(session.id, dialect="openai_chat").clear()
    with pytest.raises(compactord.SyncConflictError) as caught:
        session.sync(given)
    assert caught.value.index is None
    assert session.refresh().report.tokens == 0
    sent.taken()
    synced = session.sync(given)
    assert sent.taken() == [0, 3]
    assert synced.messages == given


def test_what_the_session_object_took_away_is_sent_again(client: compactord.Client) -> None:
    session = client.create_session(dialect="openai_chat")
    given = [user("openai_chat", "mark1"), assistant("openai_chat", "mark2"), user("openai_chat", "mark3")]
    session.sync(given)
    session.clear()
    assert session.sync(given).messages == given


def test_a_session_that_was_made_anew(client: compactord.Client) -> None:
    session = client.create_session(dialect="openai_chat")
    given = [user("openai_chat", "mark1"), assistant("openai_chat", "mark2")]
    session.sync(given)
    session.delete()
    client.create_session(session.id)
    assert session.sync(given).appended == 2


def test_a_lost_answer(client: compactord.Client, proxy: Proxy) -> None:
    own = client.create_session(dialect="openai_chat")
    given = [user("openai_chat", "mark1"), assistant("openai_chat", "mark2")]
    with compactord.Client(proxy.address, retry=False) as through:
        session = through.session(own.id, dialect="openai_chat")
        session.sync(given[:1])
        thread = lose_the_answer(proxy, own, 1)
        with pytest.raises(compactord.UnavailableError):
            session.sync(given)
        thread.join()
        wait_for(through)
        synced = session.sync([given[0], assistant("openai_chat", "mark3")])
        assert (synced.appended, synced.put_aside) == (1, 1), "it may have been written, so it is no other's"


def test_a_sync_is_sent_again_where_the_daemon_does_not_answer(client: compactord.Client, proxy: Proxy) -> None:
    own = client.create_session(dialect="openai_chat")
    given = [user("openai_chat", "mark1"), assistant("openai_chat", "mark2")]
    with compactord.Client(proxy.address) as through:
        session = through.session(own.id, dialect="openai_chat")
        session.sync(given[:1])
        thread = lose_the_answer(proxy, own, 1)
        assert session.sync(given).messages == given
        thread.join()
    assert marks(one.message for one in own.messages()) == ["mark1", "mark2"]


def test_after_a_crash_of_the_daemon(restarted: Restarted) -> None:
    given = [user("gemini", "mark1"), assistant("gemini", "mark2")]
    with compactord.Client(restarted.address) as client:
        session = client.create_session(dialect="gemini")
        session.sync(given)
        restarted.kill()
        restarted.start()
        synced = session.sync([*given, user("gemini", "mark3")])
        assert (synced.appended, synced.put_aside) == (1, 0)


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ("Hi.", "messages: must be the list of all messages, and is a str"),
        ({"role": "user", "content": "Hi."}, "messages: must be the list of all messages, and is a dict"),
        (7, "messages: must be the list of all messages, and is a int"),
        (["Hi."], r"messages\[0\]: must be a dict or an SDK object, and is a str"),
        (
            [{"role": "user", "content": "a"}, None],
            r"messages\[1\]: must be a dict or an SDK object, and is a NoneType",
        ),
        ([compactord.user("Hi.")], r"messages\[0\]: is a neutral message, and the list is in the dialect openai_chat"),
        ([{"role": "user", "content": {1j}}], r"messages\[0\]: a complex cannot be appended"),
    ],
)
def test_no_lists(client: compactord.Client, given: Any, wrong: str) -> None:
    session = client.session("of-no-one", dialect="openai_chat")
    with pytest.raises(TypeError, match=wrong):
        session.sync(given)


@pytest.mark.parametrize(("dialect", "shape"), [("openai_chat", "openai_chat"), (None, "a neutral list")])
def test_a_system_prompt_where_there_is_none_apart(
    client: compactord.Client, dialect: compactord.Dialect | None, shape: str
) -> None:
    session = client.session("of-no-one", dialect=dialect)
    with pytest.raises(ValueError, match=f"system: {shape} has the system prompt among the messages"):
        session.sync([], system="Be kind.")


def test_no_system_prompts(client: compactord.Client) -> None:
    with pytest.raises(TypeError, match="system: must be a text, and is a dict"):
        client.session("of-no-one", dialect="openai_responses").sync([], system={"text": "x"})
    with pytest.raises(ValueError, match="system: gemini has one system prompt, and there are 2"):
        client.session("of-no-one", dialect="gemini").sync([], system=["a", "b"])


@pytest.fixture
def held(binary: str, model: HeldModel) -> Iterator[compactord.Client]:
    """A client of a daemon whose summarizer answers when the test says so."""
    with compactord.embedded(binary, config=model.config()) as client:
        model.hold()
        yield client
        model.let_go()


LONG = flat(step for _ in range(20) for step in Writer("openai_chat", random.Random(5), words=60).steps())
FAILING = {**DUE, "summary": {"fallback": "SUMMARY_FALLBACK_FAIL"}}


def cancelled(session: compactord.Session) -> bool:
    attempts = [record.attempt.outcome for record in session.records() if record.HasField("attempt")]
    return attempts == [v1.AttemptOutcome.ATTEMPT_OUTCOME_CANCELLED]


async def test_a_cancelled_task_ends_the_compaction(held: compactord.Client) -> None:
    own = held.create_session(dialect="openai_chat", policy=FAILING)
    async with compactord.AsyncClient(held.address) as client:
        session = client.session(own.id, dialect="openai_chat")
        started = asyncio.Event()
        syncing = asyncio.create_task(session.sync(LONG, on_event=lambda _: started.set()))
        await started.wait()
        syncing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await syncing
        assert cancelled(own)
        again = await session.sync(LONG, compact=False)
        assert (again.appended, again.sent, marks(again.messages or [])) == (0, 0, marks(LONG))


def test_an_error_of_the_callback_ends_the_compaction(held: compactord.Client) -> None:
    session = held.create_session(dialect="openai_chat", policy=FAILING)

    def fail(_: v1.CompactionEvent) -> None:
        raise LookupError("no")

    with pytest.raises(LookupError):
        session.sync(LONG, on_event=fail)
    assert cancelled(session)


def test_after_a_failed_compaction_the_log_has_the_list(held: compactord.Client, model: HeldModel) -> None:
    session = held.create_session(dialect="openai_chat", policy=FAILING)
    model.let_go()
    with raising("SUMMARIZER_REFUSED"):
        session.sync(LONG)
    again = session.sync(LONG[:-1], compact=False)
    assert (again.appended, again.put_aside, marks(again.messages or [])) == (0, 1, marks(LONG[:-1]))
