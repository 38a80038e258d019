"""One conversation of 100 turns in several ways, as a table: what docs/frameworks.md shows."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import compactord
from programs import BINARY, TURNS, WINDOW, fact, model
from provider import Provider, running

Way = Callable[[compactord.Client, Callable[[int], str]], None]
"""Holds the conversation: it gets what the user says in each turn."""

HEAD = ("way", "turns answered", "requests", "refused", "tokens sent", "prefix reused", "of 10 new facts", "of all")


def compare(ways: Mapping[str, Way]) -> None:
    """Hold the conversation in each way, and print the table."""
    print("| " + " | ".join(HEAD) + " |")
    print("|---|---|---|---|---|---|---|---|")
    for name, way in ways.items():
        with (
            tempfile.TemporaryDirectory() as folder,
            running(model(Path(folder)), BINARY, WINDOW) as provider,
            compactord.embedded(BINARY) as client,
        ):
            ended = hold(way, client, provider)
            print(f"| {name} | {row(provider)} |", *filter(None, [ended]), flush=True)


def hold(way: Way, client: compactord.Client, provider: Provider) -> str:
    """Hold it in one way; what ended it early."""
    os.environ.update(provider.environment())
    try:
        way(client, lambda turn: f"Turn {turn}: which crate is in part {turn}?")
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:120]}"
    return ""


def row(provider: Provider) -> str:
    """The figures of a conversation."""
    last = json.dumps([one for one in provider.requests if not one.refused][-1].messages)
    known = [fact(turn, "a") in last for turn in range(TURNS)]
    reached = provider.model.turn
    answered = len({one.turn for one in provider.requests if not one.refused})
    figures = [
        answered if answered == TURNS else f"{reached} of {TURNS}",
        len(provider.requests),
        len(provider.refused()),
        f"{sum(one.tokens for one in provider.requests):,}",
        f"{provider.reused():.0%}",
        sum(known[max(0, reached - 9) : reached + 1]),
        sum(known),
    ]
    return " | ".join(map(str, figures))
