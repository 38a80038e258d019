"""Google ADK's own ways beside ours: `python compare_google_adk.py`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.apps.app import EventsCompactionConfig
from google.adk.plugins import BasePlugin
from google.adk.plugins.context_filter_plugin import ContextFilterPlugin
from google.adk.runners import InMemoryRunner

import compactord
from compactord.google_adk import CompactordPlugin
from compare import Way, compare
from programs import TURNS, WINDOW


def read_file(path: str) -> str:
    """Reads a text file."""
    return Path(path).read_text()


def way(made: Callable[[compactord.Client], list[BasePlugin]], **own: Any) -> Way:
    def hold(client: compactord.Client, message: Callable[[int], str]) -> None:
        agent = LlmAgent(name="reader", model="gemini-make-believe", instruction="You read files.", tools=[read_file])
        runner = InMemoryRunner(app=App(name="files", root_agent=agent, plugins=made(client), **own))

        async def talk() -> None:
            for turn in range(TURNS):
                await runner.run_debug(message(turn), quiet=True)
            await runner.close()

        asyncio.run(talk())

    return hold


if __name__ == "__main__":
    compare(
        {
            "no plugin": way(lambda _: []),
            "`EventsCompactionConfig` by tokens": way(
                lambda _: [],
                events_compaction_config=EventsCompactionConfig(
                    token_threshold=WINDOW * 3 // 4, event_retention_size=20
                ),
            ),
            "`EventsCompactionConfig` by turns": way(
                lambda _: [],
                events_compaction_config=EventsCompactionConfig(compaction_interval=5, overlap_size=1),
            ),
            "`ContextFilterPlugin` of 8 turns": way(lambda _: [ContextFilterPlugin(num_invocations_to_keep=8)]),
            "`CompactordPlugin`": way(lambda client: [CompactordPlugin(client, policy={"context_window": WINDOW})]),
        }
    )
