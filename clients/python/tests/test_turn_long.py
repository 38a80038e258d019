"""A long agent's loop: what it costs is what is new, and memory stays flat."""

from __future__ import annotations

import gc
import inspect
import sys
from typing import Any

import pytest

import compactord
from agents import client_of, plain, policy
from compactord import ToolCall
from compactord.view import View
from providers import PROVIDERS, Called, Said

TURNS = 2_000


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_long_loop(client: compactord.Client, kind: str) -> None:
    # The asynchronous client takes the loop a quarter of the way: it is the same code.
    turns = TURNS if kind == "sync" else TURNS // 4
    with client_of(kind, client.address) as made:
        _run(made, turns)


def _run(made: Any, turns: int) -> None:
    provider = PROVIDERS[0]
    small = policy(context_window=8_000, trigger={"trigger_tokens": 5_000})
    session = made.create_session(policy=small, dialect=provider.dialect)
    session.append({"role": "system", "content": "You look and tell."})
    compacted = 0
    said = 0
    bytes_of = _count(plain(session))
    moved: list[int] = []
    memory: list[int] = []
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
            memory.append(sys.getallocatedblocks())
            moved.append(sum(bytes_of))
            bytes_of[:] = [moved[-1]]
    assert compacted > turns // 100
    quarter, half, _, whole = moved
    assert whole - half < 1.3 * half
    # Requests and answers of a turn, reports included: no history.
    assert whole < 12 * said
    # Blocks of memory that Python holds, garbage aside, after a quarter of the way and at its end.
    assert memory[-1] < 1.1 * memory[0]
    assert quarter > 0


def _count(session: Any) -> list[int]:
    """The bytes of all requests of a session from now on, and of what answers them."""
    moved: list[int] = []
    calls = session._calls
    real = calls.unary

    def unary(method: Any, request: Any, timeout: float | None = None) -> Any:
        answer = real(method, request, timeout)
        if inspect.isawaitable(answer):
            return counted_later(request, answer)
        moved.append(request.ByteSize() + answer.ByteSize())
        return answer

    async def counted_later(request: Any, answer: Any) -> Any:
        answered = await answer
        moved.append(request.ByteSize() + answered.ByteSize())
        return answered

    calls.unary = unary
    return moved
