"""One conversation of 100 turns in several ways, as a table: what docs/frameworks.md shows."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path

import compactord
from programs import BINARY, TURNS, WINDOW, fact, model
from provider import Provider, running

Way = Callable[[compactord.Client, Callable[[int], str]], None]
"""Holds the conversation: it gets what the user says in each turn."""

HEAD = (
    "way",
    "turns answered",
    "requests",
    "refused",
    "tokens sent",
    "prefix reused",
    "5 turns later",
    "20 turns later",
    "with recall",
)


def compare(ways: Mapping[str, Way]) -> None:
    """Hold the conversation in each way, and print the table."""
    print("| " + " | ".join(HEAD) + " |")
    print("|---" * len(HEAD) + "|")
    for name, way in ways.items():
        with (
            tempfile.TemporaryDirectory() as folder,
            running(model(Path(folder)), BINARY, WINDOW) as provider,
            compactord.embedded(BINARY) as client,
        ):
            # What breaks a rule is counted, and the conversation goes on, so that the rest can be measured.
            provider.forgiving = True
            ended = hold(way, client, provider)
            if not provider.requests:
                raise RuntimeError(f"{name}: no model was asked: {ended}")
            print(f"| {name} | {row(client, provider, ended)} |", ended, *why(provider), flush=True)


def hold(way: Way, client: compactord.Client, provider: Provider) -> str:
    """Hold it in one way; what ended it early."""
    os.environ.update(provider.environment())
    try:
        way(client, lambda turn: f"Turn {turn}: which crate is in part {turn}?")
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    return ""


def why(provider: Provider) -> set[str]:
    """The rules that requests broke."""
    return {rule for one in provider.requests for rule in re.findall(r": ([a-z_]+\.[a-z-]+): ", one.refused)}


def row(client: compactord.Client, provider: Provider, ended: str) -> str:
    """The figures of a conversation."""
    reached = provider.model.turn
    figures = [
        f"{reached} of {TURNS}" if ended else TURNS,
        len(provider.requests),
        len(provider.refused()),
        f"{sum(one.tokens for one in provider.requests):,}",
        f"{provider.reused():.0%}",
        _later(provider, 5),
        _later(provider, 20),
        _recalled(client, reached),
    ]
    return " | ".join(map(str, figures))


def _later(provider: Provider, turns: int) -> str:
    """How often the first request of a turn has a fact that was read some turns before."""
    firsts: dict[int, str] = {}
    for one in provider.requests:
        firsts.setdefault(one.turn, json.dumps(one.messages))
    known = [fact(turn - turns, "a") in text for turn, text in firsts.items() if turn >= turns]
    return f"{sum(known) / len(known):.0%}" if known else "-"


def _recalled(client: compactord.Client, reached: int) -> str:
    """How many of the facts that were read the model can find, where it has a search."""
    sessions = [client.session(one.session_id) for one in client.list_sessions()]
    sessions = [one for one in sessions if any(one.messages())]
    if not sessions:
        return "none"
    found = [any(_finds(session, turn) for session in sessions) for turn in range(reached + 1)]
    return f"{sum(found) / len(found):.0%}"


def _finds(session: compactord.Session, turn: int) -> bool:
    """Whether the first hits of what a model would search for have the fact."""
    hits = islice(session.search(f"crate part {turn}a"), 3)
    return any(fact(turn, "a") in session.recall(hit.index).text for hit in hits)
