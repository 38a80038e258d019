"""A chat with an agent that runs a calculator, on top of the `anthropic` package. Answers are printed as they stream.

    export ANTHROPIC_API_KEY=...
    python anthropic_agent.py

The daemon is the one at COMPACTORD_ADDR; without that the program starts one of its own.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any

from anthropic import AsyncAnthropic

import compactord
from compactord import ToolCall
from compactord.view import View

ADD: Any = {
    "name": "add",
    "description": "Adds numbers.",
    "input_schema": {
        "type": "object",
        "properties": {"numbers": {"type": "array", "items": {"type": "number"}}},
        "required": ["numbers"],
    },
}


async def main() -> None:
    """Answer each line of the standard input."""
    parser = argparse.ArgumentParser(description="A chat with an agent.")
    parser.add_argument("--model", default="claude-sonnet-5-5")
    parser.add_argument("--context-window", type=int, default=200_000, help="the model's, in tokens")
    arguments = parser.parse_args()

    provider = AsyncAnthropic()
    async with daemon() as client:
        session = await client.create_session(
            dialect="anthropic",
            # The model thinks adaptively, also where the request does not say so.
            policy={"preset": "default", "context_window": arguments.context_window, "thinking": "adaptive"},
        )
        tools = compactord.AsyncAgentTools(session)
        toolbox: Any = [ADD, *tools.definitions()]

        async def call_model(view: View) -> AsyncIterator[Any]:
            stream = await provider.messages.create(
                model=arguments.model,
                max_tokens=4_096,
                tools=toolbox,
                stream=True,
                **view.request(),
            )
            async for event in stream:
                if event.type == "content_block_delta" and event.delta.type == "text_delta":
                    print(event.delta.text, end="", flush=True)
                # Whatever the event is, the turn wants it: all of them together are the answer.
                yield event

        for line in sys.stdin:
            turn = await session.run_turn(
                call_model, line.strip(), run_tool=add, tools=tools, mark_cache_breakpoints=True
            )
            report = turn.report
            tokens = report.tokens if report is not None else 0
            print(f"\n[{turn.steps} steps, {len(turn.compactions)} compactions, {tokens} tokens]")


async def add(call: ToolCall) -> str:
    """Answer a call of the model."""
    return str(sum(call.json()["numbers"]))


def daemon() -> AbstractAsyncContextManager[compactord.AsyncClient]:
    """The daemon that is there, or one for this program alone."""
    return compactord.AsyncClient() if os.environ.get("COMPACTORD_ADDR") else compactord.async_embedded()


if __name__ == "__main__":
    asyncio.run(main())
