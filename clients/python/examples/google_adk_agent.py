"""An agent of Google's ADK that reads files, whose conversation never outgrows the context window.

    pip install "./clients/python[google-adk]"
    export GOOGLE_API_KEY=...
    python clients/python/examples/google_adk_agent.py my-conversation

It needs `compactord serve` in another terminal. Each line of stdin is a message. ADK keeps the events in the file of
--database: started again with the same name, the agent goes on with the conversation.
"""

import argparse
import asyncio
import sys
from pathlib import Path

from google.adk.agents import LlmAgent, RunConfig
from google.adk.agents.run_config import StreamingMode
from google.adk.apps import App
from google.adk.runners import Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types

import compactord
from compactord.google_adk import CompactordPlugin


def read_file(path: str) -> str:
    """Reads a text file."""
    return Path(path).read_text()


async def main() -> None:
    """Answer each line of stdin."""
    parser = argparse.ArgumentParser(description="An agent that reads files.")
    parser.add_argument("conversation")
    parser.add_argument("--model", default="gemini-3.8-flash")
    parser.add_argument("--context-window", type=int, default=1_000_000, help="the model's, in tokens")
    parser.add_argument("--database", default="events.db", help="where ADK keeps the events")
    parser.add_argument("--stream", action="store_true", help="print the answer while it comes")
    arguments = parser.parse_args()

    window = CompactordPlugin(compactord.Client(), policy={"context_window": arguments.context_window})
    tools = [read_file, *window.recall_tools()]
    agent = LlmAgent(name="reader", model=arguments.model, instruction="You read files.", tools=tools)
    app = App(name="files", root_agent=agent, plugins=[window])
    runner = Runner(app=app, session_service=SqliteSessionService(arguments.database), auto_create_session=True)
    config = RunConfig(streaming_mode=StreamingMode.SSE if arguments.stream else StreamingMode.NONE)
    for line in sys.stdin:
        message = types.Content(role="user", parts=[types.Part(text=line)])
        async for event in runner.run_async(
            user_id="me", session_id=arguments.conversation, new_message=message, run_config=config
        ):
            parts = event.content.parts if event.content else None
            said = "".join(part.text or "" for part in parts or [] if not part.thought)
            if event.partial:
                print(said, end="")
            elif event.is_final_response():
                print("" if arguments.stream else said, flush=True)
    await runner.close()


if __name__ == "__main__":
    asyncio.run(main())
