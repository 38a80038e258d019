"""LangChain's own ways beside ours: `python compare_langchain.py`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    SummarizationMiddleware,
)
from langchain.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

import compactord
from compactord.langchain import CompactordMiddleware
from compare import Way, compare
from programs import TURNS, WINDOW

MODEL = "anthropic:make-believe"


@tool
def read_file(path: str) -> str:
    """Reads a text file."""
    return Path(path).read_text()


def way(made: Callable[[compactord.Client], list[AgentMiddleware[Any, Any, Any]]]) -> Way:
    def hold(client: compactord.Client, message: Callable[[int], str]) -> None:
        agent: Any = create_agent(
            MODEL, [read_file], system_prompt="You read files.", middleware=made(client), checkpointer=InMemorySaver()
        )
        config = {"configurable": {"thread_id": "one"}}
        for turn in range(TURNS):
            agent.invoke({"messages": message(turn)}, config)

    return hold


if __name__ == "__main__":
    compare(
        {
            "no middleware": way(lambda _: []),
            "`SummarizationMiddleware`": way(
                lambda _: [SummarizationMiddleware(MODEL, trigger=("tokens", WINDOW * 3 // 4), keep=("messages", 20))]
            ),
            "`ContextEditingMiddleware`": way(
                lambda _: [ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=WINDOW * 3 // 4, keep=3)])]
            ),
            "`CompactordMiddleware`": way(
                lambda client: [CompactordMiddleware(client, policy={"context_window": WINDOW})]
            ),
        }
    )
