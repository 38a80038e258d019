"""A coding agent that keeps more than messages in its context, on top of the `openai` package.

    export OPENAI_API_KEY=...
    python coding_agent.py "Refunds are a cent short. Find out why, and mend it." --memory MEMORY.md --documents docs

Memory and skills are context blocks that rarely change, the plan is one that often does. The time, and the documents
that fit the request, are blocks of one view alone. The model folds each part of the work when it is done, and has the
result reviewed by a sub-agent, in a session of its own. The daemon is the one at COMPACTORD_ADDR; without that the
program starts one of its own.
"""

import argparse
import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any

from openai import OpenAI

import compactord
from compactord import ToolCall, v1
from compactord.view import View

INSTRUCTIONS = (
    "You are a coding agent. Keep your plan with set_plan. When a part of it is done, fold it with fold_since. At the "
    "end, have what you changed reviewed with start_task."
)
REVIEW = "You review code. You read files and change none. Your last answer is a short report, with paths and lines."


def tool(name: str, description: str, *parameters: str) -> Any:
    """Make the definition of a tool whose arguments are texts."""
    properties = {parameter: {"type": "string"} for parameter in parameters}
    schema = {"type": "object", "properties": properties, "required": [*parameters]}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


READ_FILE = tool("read_file", "Reads a text file.", "path")
EDIT_FILE = tool("edit_file", "Replaces a text in a file by another one.", "path", "old", "new")
SET_PLAN = tool("set_plan", "Replaces your plan, which you see before the user's newest message.", "plan")
START_TASK = tool("start_task", "Has a sub-agent do a task. It sees your memory and the task, and reads files.", "task")


def main() -> None:
    """Work on one request, and print the answer."""
    parser = argparse.ArgumentParser(description="A coding agent.")
    parser.add_argument("request")
    parser.add_argument("--memory", type=Path, help="a file with what the agent must always know")
    parser.add_argument("--skill", type=Path, action="append", default=[], help="a file that says how to do something")
    parser.add_argument("--documents", type=Path, help="a folder with documents to look for what fits the request")
    parser.add_argument("--model", default="gpt-6.2-sol")
    parser.add_argument("--context-window", type=int, default=128_000, help="the model's, in tokens")
    parser.add_argument("--show", action="store_true", help="print each view as the model reads it")
    arguments = parser.parse_args()

    # The package types each field of a request; the view's are made for it as they are.
    create: Any = OpenAI().chat.completions.create

    def model(*toolbox: Any) -> Callable[[View], Any]:
        def ask(view: View) -> Any:
            if arguments.show:
                show(view)
            return create(model=arguments.model, tools=toolbox, **view.request())

        return ask

    with daemon() as client:
        session = client.create_session(
            dialect="openai_chat", policy={"preset": "default", "context_window": arguments.context_window}
        )
        session.append(compactord.system(INSTRUCTIONS))
        session.update_blocks(*standing(arguments.memory, arguments.skill))

        def start_task(task: str, call: ToolCall) -> str:
            with session.child(blocks=blocks_of(session, "memory"), call=call, title="review") as child:
                child.append(compactord.system(REVIEW))
                return child.run_turn(model(READ_FILE), task, run_tool=read_only).text

        def run_tool(call: ToolCall) -> str:
            match call.name, call.json():
                case "set_plan", {"plan": plan}:
                    session.set_block("plan", plan)
                    return "done"
                case "start_task", {"task": task}:
                    return start_task(task, call)
                case "edit_file", {"path": path, "old": old, "new": new}:
                    return edit(Path(path), old, new)
                case _:
                    return read_only(call)

        def for_this_view() -> Iterable[v1.ContextBlock]:
            yield from found(arguments.documents, arguments.request)
            yield compactord.block("time", f"{datetime.now().astimezone():%A, %d %B %Y, %H:%M}")

        tools = compactord.AgentTools(session, fold=True)
        toolbox = (READ_FILE, EDIT_FILE, SET_PLAN, START_TASK, *tools.definitions())
        turn = session.run_turn(
            model(*toolbox), arguments.request, run_tool=run_tool, tools=tools, extra_blocks=for_this_view
        )
        print(turn.text)


def standing(memory: Path | None, skills: Sequence[Path]) -> Iterable[v1.ContextBlock]:
    """What the model sees after its instructions for the whole session."""
    if memory is not None:
        yield compactord.block("memory", memory.read_text(), place="leading", priority=10)
    for skill in skills:
        yield compactord.block(f"skill:{skill.stem}", skill.read_text(), place="leading", max_tokens=2_000)


def blocks_of(session: compactord.Session, *names: str) -> list[str]:
    """Those of the names that the session has blocks of."""
    return [state.block.name for state in session.blocks(*names)]


def found(documents: Path | None, request: str) -> Iterable[v1.ContextBlock]:
    """The two documents that have the most words of the request."""
    wanted = set(re.findall(r"\w{4,}", request.lower()))

    def fit(document: Path) -> int:
        return len(wanted & set(re.findall(r"\w{4,}", document.read_text().lower())))

    fitting = [document for document in documents.glob("**/*.md") if fit(document)] if documents else []
    for document in sorted(fitting, key=lambda one: (-fit(one), one))[:2]:
        yield compactord.block(f"retrieved:{document}", document.read_text(), max_tokens=1_000)


def read_only(call: ToolCall) -> str:
    """Run a tool that changes nothing. What goes wrong here, the model is told."""
    if call.name != "read_file":
        raise ValueError(f"there is no tool {call.name}")
    return Path(call.json()["path"]).read_text()


def edit(path: Path, old: str, new: str) -> str:
    """Replace a text that occurs once."""
    text = path.read_text()
    if text.count(old) != 1:
        raise ValueError(f"{path} has the text {text.count(old)} times: name one that it has once")
    path.write_text(text.replace(old, new))
    return "done"


def show(view: View) -> None:
    """Print the messages of a view as the model reads them."""
    print(f"=== {len(view.messages)} messages, {view.report.tokens} tokens")
    for message in view.request()["messages"]:
        print(f"--- {message['role']}")
        if message.get("content"):
            print(message["content"])
        for call in message.get("tool_calls", ()):
            print(f"calls {call['function']['name']} {call['function']['arguments']}")


def daemon() -> AbstractContextManager[compactord.Client]:
    """The daemon that is there, or one for this program alone."""
    return compactord.Client() if os.environ.get("COMPACTORD_ADDR") else compactord.embedded()


if __name__ == "__main__":
    main()
