"""A long agent's loop: what it costs is what is new, and memory stays flat."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

import compactord
from agents import client_of, policy
from compactord import ToolCall
from compactord.view import View
from daemons import Proxy
from providers import PROVIDERS, Called, Said

if TYPE_CHECKING:
    from collections.abc import Iterator

TURNS = 2_000 if "COMPACTORD_TEST_FULL" in os.environ else 400


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_long_loop(client: compactord.Client, kind: str) -> None:
    proxy = Proxy(client.address)
    try:
        with client_of(kind, proxy.address) as made:
            _run(made, proxy, TURNS)
    finally:
        proxy.close()


def _run(made: Any, proxy: Proxy, turns: int) -> None:
    provider = PROVIDERS[0]
    small = policy(context_window=8_000, trigger={"trigger_tokens": 5_000})
    session = made.create_session(policy=small, dialect=provider.dialect)
    session.append({"role": "system", "content": "You look and tell."})
    compacted = 0
    said = 0
    moved: list[int] = []
    blocks: list[int] = []
    calls: list[int] = []
    for number in range(turns):
        answers = [Said("tell " * 20)]
        if number % 4 == 0:
            answers.insert(0, Said("", [Called(f"call-{number}", "look", f'{{"at":{number}}}')]))

        def call_model(_: View, answers: list[Said] = answers) -> Any:
            return provider.body(answers.pop(0))

        def run_tool(call: ToolCall) -> str:
            return f"{call.arguments} {'seen ' * 40}"

        question = f"question {number} {'why ' * 10}"
        turn = session.run_turn(call_model, question, run_tool=run_tool)
        assert turn.done
        compacted += len(turn.compactions)
        said += len(question) + 400 + (600 if number % 4 == 0 else 0)
        if (number + 1) % (turns // 4) == 0:
            gc.collect()
            blocks.append(sys.getallocatedblocks())
            calls.append(_calls())
            moved.append(proxy.sent + proxy.received)
    assert compacted > turns // 100
    _, half, _, whole = moved
    assert whole - half < 1.3 * half
    # Requests and answers of a turn on the wire, reports and the compactions' streams included: no history.
    assert whole < 12 * said
    # Blocks of memory that Python holds, garbage aside, after a quarter of the way and at its end.
    assert blocks[-1] < 1.1 * blocks[0]
    # And of gRPC, whose own memory is not among these: no call is kept, which is what would hold it.
    assert calls[-1] <= calls[0] + 2


def _calls() -> int:
    """How many calls of gRPC this process holds."""
    # By the type's names: to ask an object what it is could make it load something.
    kinds: Iterator[object] = map(type, gc.get_objects())
    names = map(repr, kinds)
    return sum(name.startswith(("<class 'grpc", "<class '_cython")) and "Call" in name for name in names)
