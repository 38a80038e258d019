"""Pydantic AI's own ways beside ours: `python compare_pydantic_ai.py`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.capabilities import AbstractCapability, ProcessHistory
from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart

import compactord
from compactord.pydantic_ai import CompactordCapability
from compare import Way, compare
from programs import TURNS, WINDOW


def read_file(path: str) -> str:
    """Reads a text file."""
    return Path(path).read_text()


def newest(messages: list[ModelMessage]) -> list[ModelMessage]:
    """What the documents of Pydantic AI show: the newest messages, from where a cut is valid."""
    begins = [at for at, message in enumerate(messages) if is_prompt(message)]
    cut = [at for at in begins if at >= len(messages) - 30]
    return messages[(cut or begins[-1:])[0] :]


def is_prompt(message: ModelMessage) -> bool:
    return isinstance(message, ModelRequest) and all(isinstance(part, UserPromptPart) for part in message.parts)


def way(made: Callable[[compactord.Client], list[AbstractCapability[Any]]]) -> Way:
    def hold(client: compactord.Client, message: Callable[[int], str]) -> None:
        agent = Agent(
            "anthropic:make-believe", instructions="You read files.", tools=[read_file], capabilities=made(client)
        )

        async def talk() -> None:
            history: list[ModelMessage] = []
            for turn in range(TURNS):
                result = await agent.run(message(turn), message_history=history, conversation_id="one")
                history = result.all_messages()

        asyncio.run(talk())

    return hold


if __name__ == "__main__":
    compare(
        {
            "no capability": way(lambda _: []),
            "`ProcessHistory` of the newest 30 messages": way(lambda _: [ProcessHistory(newest)]),
            "`CompactordCapability`": way(
                lambda client: [CompactordCapability(client, policy={"context_window": WINDOW})]
            ),
        }
    )
