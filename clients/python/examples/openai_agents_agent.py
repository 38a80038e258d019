"""An agent of the OpenAI Agents SDK that reads files, whose conversation never outgrows the context window.

    pip install "./clients/python[openai-agents]"
    export OPENAI_API_KEY=...
    python clients/python/examples/openai_agents_agent.py my-conversation

It needs `compactord serve` in another terminal. Each line of stdin is a message. Started again with the same name, it
goes on with the conversation. The items of the conversation are in the daemon, or with --database=FILE in a file of the
SDK, beside which the daemon makes what the model is to see.
"""

import argparse
import asyncio
import sys
from pathlib import Path

import compactord
from agents import Agent, RunConfig, Runner, SQLiteSession, function_tool
from compactord.openai_agents import CompactordFilter, CompactordSession, recall_tools


@function_tool
def read_file(path: str) -> str:
    """Reads a text file."""
    return Path(path).read_text()


async def main() -> None:
    """Answer each line of stdin."""
    parser = argparse.ArgumentParser(description="An agent that reads files.")
    parser.add_argument("conversation")
    parser.add_argument("--model", default="gpt-6.2-sol")
    parser.add_argument("--context-window", type=int, default=128_000, help="the model's, in tokens")
    parser.add_argument("--database", help="keep the items in this SQLite file")
    parser.add_argument("--stream", action="store_true", help="print the answer while it comes")
    arguments = parser.parse_args()

    held = compactord.Client().open_session(
        arguments.conversation,
        dialect="openai_responses",
        policy={"context_window": arguments.context_window},
    )
    session: SQLiteSession | CompactordSession
    if arguments.database:
        session = SQLiteSession(arguments.conversation, arguments.database)
        config = RunConfig(call_model_input_filter=CompactordFilter(held))
    else:
        session = CompactordSession(held)
        config = RunConfig(call_model_input_filter=session.model_input)

    tools = [read_file, *recall_tools()]
    agent = Agent(name="Reader", instructions="You read files.", model=arguments.model, tools=tools)
    for line in sys.stdin:
        if arguments.stream:
            result = Runner.run_streamed(agent, line, session=session, run_config=config)
            async for event in result.stream_events():
                if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                    print(event.data.delta, end="")
            print(flush=True)
        else:
            answer = await Runner.run(agent, line, session=session, run_config=config)
            print(answer.final_output, flush=True)


if __name__ == "__main__":
    asyncio.run(main())
