"""An agent of Pydantic AI that reads files, whose conversation never outgrows the context window.

    pip install "./clients/python[pydantic-ai]" "pydantic-ai-slim[anthropic]"
    export ANTHROPIC_API_KEY=...
    python clients/python/examples/pydantic_ai_agent.py my-conversation

It needs `compactord serve` in another terminal. Each line of stdin is a message. The history is in the file of
--history, which is written before each call of the model: started again with the same name, the agent goes on with it.
"""

import argparse
import asyncio
import sys
from pathlib import Path

from pydantic_ai import Agent, ModelMessagesTypeAdapter
from pydantic_ai.messages import ModelMessage

import compactord
from compactord.pydantic_ai import CompactordCapability


def read_file(path: str) -> str:
    """Reads a text file."""
    return Path(path).read_text()


async def main() -> None:
    """Answer each line of stdin."""
    parser = argparse.ArgumentParser(description="An agent that reads files.")
    parser.add_argument("conversation")
    parser.add_argument("--model", default="anthropic:claude-sonnet-5-5")
    parser.add_argument("--context-window", type=int, default=200_000, help="the model's, in tokens")
    parser.add_argument("--history", type=Path, default=Path("history.json"), help="where the messages are kept")
    parser.add_argument("--stream", action="store_true", help="print the answer while it comes")
    arguments = parser.parse_args()

    window = CompactordCapability(compactord.Client(), policy={"context_window": arguments.context_window})
    agent = Agent(arguments.model, instructions="You read files.", tools=[read_file], capabilities=[window])

    def keep(messages: list[ModelMessage]) -> None:
        made = arguments.history.with_suffix(".new")
        made.write_bytes(ModelMessagesTypeAdapter.dump_json(messages))
        made.replace(arguments.history)

    history: list[ModelMessage] = []
    if arguments.history.exists():
        history = ModelMessagesTypeAdapter.validate_json(arguments.history.read_bytes())
    for line in sys.stdin:
        async with agent.iter(line, message_history=history, conversation_id=arguments.conversation) as run:
            async for node in run:
                if not Agent.is_model_request_node(node):
                    continue
                keep([*run.all_messages(), node.request])
                if arguments.stream:
                    async with node.stream(run.ctx) as answer:
                        async for text in answer.stream_text(delta=True):
                            print(text, end="")
        assert run.result is not None
        history = run.all_messages()
        keep(history)
        print("" if arguments.stream else run.result.output, flush=True)


if __name__ == "__main__":
    asyncio.run(main())
