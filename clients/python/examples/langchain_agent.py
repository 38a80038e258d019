"""An agent of LangChain that reads files, whose conversation never outgrows the context window.

    pip install "./clients/python[langchain]" langchain-anthropic langgraph-checkpoint-sqlite
    export ANTHROPIC_API_KEY=...
    python clients/python/examples/langchain_agent.py my-conversation

It needs `compactord serve` in another terminal. Each line of stdin is a message. LangGraph keeps the thread in the file
of --database: started again with the same name, the agent goes on with it.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver

import compactord
from compactord.langchain import CompactordMiddleware


@tool
def read_file(path: str) -> str:
    """Reads a text file."""
    return Path(path).read_text()


def main() -> None:
    """Answer each line of stdin."""
    parser = argparse.ArgumentParser(description="An agent that reads files.")
    parser.add_argument("conversation")
    parser.add_argument("--model", default="anthropic:claude-sonnet-5-5")
    parser.add_argument("--context-window", type=int, default=200_000, help="the model's, in tokens")
    parser.add_argument("--database", default="threads.db", help="where LangGraph keeps the threads")
    parser.add_argument("--stream", action="store_true", help="print the answer while it comes")
    arguments = parser.parse_args()

    window = CompactordMiddleware(compactord.Client(), policy={"context_window": arguments.context_window})
    with SqliteSaver.from_conn_string(arguments.database) as saver:
        agent: Any = create_agent(
            arguments.model,
            tools=[read_file],
            system_prompt="You read files.",
            middleware=[window],
            checkpointer=saver,
        )
        config = {"configurable": {"thread_id": arguments.conversation}}
        for line in sys.stdin:
            asked = {"messages": [{"role": "user", "content": line}]}
            if arguments.stream:
                for chunk, _ in agent.stream(asked, config, stream_mode="messages", durability="sync"):
                    if chunk.type == "AIMessageChunk":
                        print(chunk.text, end="")
                print(flush=True)
            else:
                print(agent.invoke(asked, config, durability="sync")["messages"][-1].text, flush=True)


if __name__ == "__main__":
    main()
