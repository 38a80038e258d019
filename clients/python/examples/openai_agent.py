"""An agent that reads files, on top of the `openai` package.

    export OPENAI_API_KEY=...
    python openai_agent.py "What does setup.py install?"

The daemon is the one at COMPACTORD_ADDR; without that the program starts one of its own.
"""

import argparse
import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from openai import OpenAI

import compactord
from compactord import ToolCall
from compactord.view import View

READ_FILE: Any = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Reads a text file.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}


def main() -> None:
    """Ask one question, and print the answer."""
    parser = argparse.ArgumentParser(description="An agent that reads files.")
    parser.add_argument("question")
    parser.add_argument("--model", default="gpt-6.2-sol")
    parser.add_argument("--context-window", type=int, default=128_000, help="the model's, in tokens")
    arguments = parser.parse_args()

    provider = OpenAI()
    with daemon() as client:
        session = client.create_session(
            dialect="openai_chat", policy={"preset": "default", "context_window": arguments.context_window}
        )
        session.append({"role": "system", "content": "You answer questions about files. Read them before you answer."})
        tools = compactord.AgentTools(session)
        toolbox: Any = [READ_FILE, *tools.definitions()]

        # The package types each field of a request; the view's are made for it as they are.
        create: Any = provider.chat.completions.create

        def call_model(view: View) -> Any:
            return create(model=arguments.model, tools=toolbox, **view.request())

        turn = session.run_turn(call_model, arguments.question, run_tool=read_file, tools=tools)
        for compaction in turn.compactions:
            print(f"[compacted: {compaction}]" if isinstance(compaction, Exception) else "[compacted]")
        print(turn.text)


def read_file(call: ToolCall) -> str:
    """Answer a call of the model. What goes wrong here, it is told."""
    path = Path(call.json()["path"])
    print(f"[reading {path}]")
    return path.read_text()


def daemon() -> AbstractContextManager[compactord.Client]:
    """The daemon that is there, or one for this program alone."""
    return compactord.Client() if os.environ.get("COMPACTORD_ADDR") else compactord.embedded()


if __name__ == "__main__":
    main()
