"""The cases that all clients are held to, with the client that blocks and the one for asyncio."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

import compactord
from case_runner import Runner
from case_steps import STEPS
from case_table import Case, cases

CASES = cases()

# Some policies cannot do what they are for, which test_warned.py is about.
pytestmark = pytest.mark.filterwarnings("ignore:policy:compactord.CompactordWarning")


@pytest.fixture(scope="module")
def client(binary: str) -> Iterator[compactord.Client]:
    """A client of a daemon as all clients have it for the cases, without models of its own."""
    with compactord.embedded(binary) as client:
        yield client


def test_there_are_cases() -> None:
    assert len(CASES) >= 80
    assert [case.name for case in CASES if len(case.steps) != len(case.want)] == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_case(client: compactord.Client, case: Case) -> None:
    _compare(case, await Runner(client, case).run(STEPS))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_case_with_asyncio(client: compactord.Client, case: Case) -> None:
    async with compactord.AsyncClient(client.address) as async_client:
        _compare(case, await Runner(async_client, case).run(STEPS))


def _compare(case: Case, answers: list[dict[str, object]]) -> None:
    for number, (step, answer, want) in enumerate(zip(case.steps, answers, case.want, strict=True)):
        assert _text(answer) == _text(want), f"step {number}: {step['do']}"


def _text(value: object) -> str:
    """As JSON: to Python 1, 1.0 and True are equal."""
    return json.dumps(value, sort_keys=True, indent=1)


def test_values_of_different_types_are_different() -> None:
    assert len({_text({"is": value}) for value in (1, 1.0, True, "1")}) == 4
