"""The daemon killed and started again in the middle of an agent's loop, at each step of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import compactord
from agents import Model, client_of, compactions, fill, plain, policy, tools_of, transcript
from compactord import ToolCall, Turn, v1
from compactord.view import View
from daemons import Restarted
from providers import PROVIDERS, Called, Provider, Said

LOOK = Called("call-1", "look")
KINDS = ["sync", "async"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_daemon_dies_at_each_step(restarted: Restarted, kind: str) -> None:
    """It dies before the append, within compactions, while the model answers and while the tool runs."""
    with client_of(kind, restarted.address) as client:
        undisturbed = _told(_loop(client, PROVIDERS[0], lambda: None))
        disturbed = _told(_loop(client, PROVIDERS[0], lambda: _crash(restarted)))
        assert disturbed == undisturbed


def _crash(daemon: Restarted) -> None:
    daemon.kill()
    daemon.start()


def _loop(client: compactord.Client, provider: Provider, disturb: Callable[[], None]) -> compactord.Session:
    """Two turns with a compaction, an overflow, a tool and a D-Mail, disturbed wherever a function is called."""
    session = client.create_session(policy=policy(trigger={"trigger_tokens": 6_000}), dialect=provider.dialect)
    fill(session, 7_000)
    disturbed: set[str] = set()

    def once(place: str) -> None:
        if place not in disturbed:
            disturbed.add(place)
            disturb()

    def on_event(event: v1.CompactionEvent) -> None:
        once(f"{event.WhichOneof('event')} of a compaction")

    answers: list[Any] = [Said("", [LOOK]), provider.overflow(), Said("Done.")]

    def call_model(_: View) -> Any:
        answer = answers.pop(0)
        once(f"model {len(answers)}")
        if isinstance(answer, Exception):
            raise answer
        return provider.body(answer)

    def run_tool(call: ToolCall) -> str:
        once(f"tool {call.id}")
        return "seen " * 1_600

    disturb()
    turn = session.run_turn(call_model, "Go on.", run_tool=run_tool, on_event=on_event, checkpoint_steps=True)
    assert turn.done
    answers = [Said("Done again.")]
    disturb()
    assert session.run_turn(call_model, "And on.").done
    return session


def _told(session: compactord.Session) -> tuple[list[str], list[Any], list[Any]]:
    """What is left of it all, ids and times aside."""
    entries = [(entry.provenance.reason, entry.first_kept_index, entry.summary) for entry in compactions(session)]
    return transcript(session), entries, [one.checkpoint.id for one in session.checkpoints()]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("call", range(1, 12))
def test_a_turn_is_taken_up_where_it_stopped(client: compactord.Client, kind: str, call: int) -> None:
    """The answer to one call of the turn is lost, and the daemon out of reach: the next run_turn goes on from there."""
    whole = _lossy(client, kind, None)
    assert _lossy(client, kind, call) == whole


def _lossy(client: compactord.Client, kind: str, lost: int | None) -> Any:
    """A turn whose so-manieth call reaches the daemon, and fails on the way back."""
    provider = PROVIDERS[0]
    with client_of(kind, client.address) as made:
        session = made.create_session(policy=policy(), dialect=provider.dialect)
        tools = tools_of(session)
        model = Model(provider, Said("", [LOOK, Called("call-2", "look")]), Said("", [Called("call-3", "look")]))
        looked: list[str] = []
        _lose(plain(session)._calls, kind, lost)

        def run_tool(call: ToolCall, looked: list[str] = looked) -> str:
            looked.append(call.id)
            return f"seen {call.id}"

        def call_model(view: View, model: Model = model) -> Any:
            return model(view) if len(model.views) < 2 else provider.body(Said("Done."))

        given: tuple[str, ...] = ("Go on.",)
        turn: Turn | None = None
        while turn is None:
            try:
                turn = session.run_turn(call_model, *given, run_tool=run_tool, tools=tools, checkpoint_steps=True)
            except compactord.UnavailableError:
                # Whether to say it again or not: it is not doubled.
                given = ("Go on.",) if lost == 1 else ()
        assert turn.done
        assert sorted(looked) == ["call-1", "call-2", "call-3"]
        return transcript(session)


def _lose(calls: Any, kind: str, lost: int | None) -> None:
    real = calls.unary
    made: list[str] = []

    def fails() -> bool:
        made.append("call")
        return len(made) == lost

    def unary(method: Any, request: Any, timeout: float | None = None) -> Any:
        answer = real(method, request, timeout)
        if fails():
            raise compactord.UnavailableError("the answer was lost")
        return answer

    async def unary_later(method: Any, request: Any, timeout: float | None = None) -> Any:
        answer = await real(method, request, timeout)
        if fails():
            raise compactord.UnavailableError("the answer was lost")
        return answer

    calls.unary = unary if kind == "sync" else unary_later
