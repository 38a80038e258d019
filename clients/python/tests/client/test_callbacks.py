"""The caller's functions that a compaction calls, plain and for asyncio."""

from __future__ import annotations

import pytest

import compactord
from compactord.prompts import Prompt
from daemons import talk

POLICY = {"context_window": 8_000, "strategy": {"summarize": {"recent_turns": 1}}}


@pytest.fixture
def session(client: compactord.Client) -> compactord.Session:
    session = client.create_session(policy=POLICY)
    talk(session, 6)
    return session


@pytest.mark.filterwarnings("ignore::compactord.CompactordWarning")
async def test_a_summary_may_be_written_by_a_plain_function(
    session: compactord.Session, client: compactord.Client
) -> None:
    asked: list[str] = []

    def write(prompt: Prompt) -> str:
        asked.append(prompt.complaint)
        return "nothing of use"

    async with compactord.AsyncClient(client.address) as other:
        result = await other.session(session.id).compact_with(write)
    assert result.completed is not None
    assert asked
