"""The OpenAI Agents SDK's own ways beside ours: `python compare_openai_agents.py`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from agents.memory import SessionABC, SessionSettings

import compactord
from agents import Agent, RunConfig, Runner, SQLiteSession, function_tool, set_tracing_disabled
from compactord.openai_agents import CompactordFilter, CompactordSession
from compare import Way, compare
from programs import TURNS, WINDOW


@function_tool
def read_file(path: str) -> str:
    """Reads a text file."""
    return Path(path).read_text()


def way(made: Callable[[compactord.Session], tuple[SessionABC, RunConfig]]) -> Way:
    def hold(client: compactord.Client, message: Callable[[int], str]) -> None:
        held = client.create_session(dialect="openai_responses", policy={"context_window": WINDOW})
        session, config = made(held)
        agent = Agent(name="Reader", instructions="You read files.", model="make-believe", tools=[read_file])

        async def talk() -> None:
            for turn in range(TURNS):
                await Runner.run(agent, message(turn), session=session, run_config=config)

        asyncio.run(talk())

    return hold


def kept(held: compactord.Session) -> tuple[SessionABC, RunConfig]:
    session = CompactordSession(held)
    return session, RunConfig(call_model_input_filter=session.model_input)


if __name__ == "__main__":
    set_tracing_disabled(True)
    compare(
        {
            "`SQLiteSession` alone": way(lambda _: (SQLiteSession("one"), RunConfig())),
            "`SessionSettings(limit=40)`": way(
                lambda _: (SQLiteSession("one"), RunConfig(session_settings=SessionSettings(limit=40)))
            ),
            "`SQLiteSession` and `CompactordFilter`": way(
                lambda held: (SQLiteSession("one"), RunConfig(call_model_input_filter=CompactordFilter(held)))
            ),
            "`CompactordSession`": way(kept),
        }
    )
