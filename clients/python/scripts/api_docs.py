"""Writes docs/api.md from the docstrings of what the package exports.

Usage: python scripts/api_docs.py [--check]

With --check it writes nothing, and fails where the file is not what would be written.
"""

import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

FOLDER = Path(__file__).resolve().parent.parent
DOCS = FOLDER / "docs" / "api.md"

HEAD = """# The Python API

Generated from the docstrings by `scripts/api_docs.py`; the [README](../README.md) shows how things are used. What is
named `Async...` is the same as what is named without it, with `await`, and is left out here. Messages and enums of the
contract are in `compactord.v1`.
"""


SUBJECTS = {
    "The client": ["Client", "TLS", "embedded"],
    "Sessions": ["Session", "SessionInfo", "Appended", "Pinned", "ContextChanged", "block"],
    "Messages": ["user", "assistant", "system", "developer", "tool_result", "SDKObject"],
    "Views and whole lists": ["View", "Synced", "Compacted"],
    "Compactions": ["Compaction", "CompactionResult", "Prompt", "PromptAnswer"],
    "Turns and tools": ["Turn", "AgentTools", "ToolCall", "ToolOutput", "ToolRejected"],
    "Going back, watching, children": ["Checkpoint", "Reverted", "Watch", "ChildEnded"],
    "Words": ["word"],
}
"""What is documented under each subject, in this order. Exceptions come after them, and each name is in one place."""
ERRORS = "Errors"
REASONS = """### type `errors.ReasonName`

The words of `CompactordError.reason`: those of the daemon, whose metadata the contract's `error.proto` says; the names
of statuses, for errors of gRPC itself; and those of this package. A newer daemon may have others.

"""


def subjects(compactord: ModuleType) -> dict[str, list[str]]:
    """The documented names by subject.

    Raises:
        ValueError: A name has no subject, or a subject a name that is not exported.
    """
    names = [name for name in compactord.__all__ if not name.lower().startswith("async")]
    placed = [name for listed in SUBJECTS.values() for name in listed]
    rest = [name for name in names if name not in placed and written(name, getattr(compactord, name))]
    errors = [name for name in rest if name.endswith(("Error", "Warning"))]
    strays = {*rest} - {*errors} | {*placed} - {*names}
    if strays:
        raise ValueError(f"SUBJECTS: {', '.join(sorted(strays))}: each exported name belongs to one subject")
    return {**SUBJECTS, ERRORS: ["CompactordError", *(name for name in errors if name != "CompactordError")]}


def anchor(title: str) -> str:
    """The anchor that a heading gets."""
    return re.sub(r"[^a-z0-9_ -]", "", title.lower()).replace(" ", "-")


def written(name: str, thing: Any) -> str:
    """What is said of one exported name."""
    if inspect.isclass(thing) and thing.__module__.startswith("compactord"):
        kind = "exception" if issubclass(thing, Exception) else "class"
        parts = [f"### {kind} `{name}`\n", text(thing.__doc__)]
        if kind == "class" and inspect.isfunction(thing.__init__) and thing.__init__.__doc__:
            parts += [f"```python\n{name}{signature(thing.__init__)}\n```\n", text(thing.__init__.__doc__)]
        parts += [member(name, *one) for one in members(thing)]
        return "\n".join(parts)
    if inspect.isfunction(thing):
        return f"### function `{name}`\n\n```python\n{name}{signature(thing)}\n```\n\n{text(thing.__doc__)}"
    return ""


def members(thing: type) -> list[tuple[str, Any]]:
    """The public methods and properties of a class, its bases' of this package first."""
    found: dict[str, Any] = {}
    for base in reversed(thing.__mro__):
        if base.__module__.startswith("compactord"):
            found |= {name: value for name, value in vars(base).items() if not name.startswith("_")}
    return [(name, value) for name, value in found.items() if inspect.isfunction(value) or isinstance(value, property)]


def member(owner: str, name: str, value: Any) -> str:
    """What is said of a method or property."""
    if isinstance(value, property):
        return f"#### `{owner}.{name}`\n\n{text(value.__doc__)}"
    return f"#### `{owner}.{name}()`\n\n```python\n{name}{signature(value)}\n```\n\n{text(value.__doc__)}"


def signature(function: Any) -> str:
    """The parameters, without self, each on a line of its own where they are many."""
    given = inspect.signature(function)
    parameters = [str(one) for one in given.parameters.values() if one.name != "self"]
    keywords = [one for one in given.parameters.values() if one.kind is one.KEYWORD_ONLY]
    variadic = any(one.kind is one.VAR_POSITIONAL for one in given.parameters.values())
    if keywords and not variadic:
        parameters.insert(len(parameters) - len(keywords), "*")
    answer = given.return_annotation
    arrow = "" if answer is given.empty else f" -> {answer}"
    flat = f"({', '.join(parameters)}){arrow}"
    spread = "(\n" + "".join(f"    {one},\n" for one in parameters) + f"){arrow}"
    return (flat if len(flat) < 80 else spread).replace("'", "")


def text(docstring: str | None) -> str:
    """A docstring as Markdown: its sections become lists, and references code."""
    said = inspect.cleandoc(docstring or "")
    said = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", said).replace("``", "`")
    lines: list[str] = []
    listing = False
    for line in said.splitlines():
        if re.fullmatch(r"(Args|Returns|Raises|Yields|Attributes):", line):
            lines += [f"**{line.removesuffix(':')}**", ""]
            listing = True
        elif listing and (entry := re.fullmatch(r"    (\*?\w+): (.*)", line)):
            lines.append(f"- `{entry[1]}`: {entry[2]}")
        elif listing and line.startswith("    "):
            lines.append("  " + line.strip() if lines[-1] else line.strip())
        else:
            listing = listing and not line
            lines.append(line)
    return "\n".join(lines) + "\n"


def main(check: bool) -> int:
    """Write the document, or compare it."""
    sys.path.insert(0, str(FOLDER / "src"))
    compactord = import_module("compactord")
    by_subject = subjects(compactord)
    parts = [HEAD, "".join(f"- [{title}](#{anchor(title)})\n" for title in by_subject)]
    for title, names in by_subject.items():
        parts += [f"## {title}\n", *(written(name, getattr(compactord, name)) for name in names)]
    errors = import_module("compactord.errors")
    parts += [written(f"errors.{name}", getattr(errors, name)) for name in ("FieldViolation", "from_rpc_error")]
    parts.append(REASONS + "\n".join(f"- `{reason}`" for reason in get_args(errors.ReasonName)) + "\n")
    wanted = "\n".join(part for part in parts if part)
    if check:
        fresh = DOCS.exists() and DOCS.read_text("utf-8") == wanted
        if not fresh:
            print(f"{DOCS} is out of date: run scripts/api_docs.py", file=sys.stderr)
        return 0 if fresh else 1
    DOCS.parent.mkdir(exist_ok=True)
    DOCS.write_text(wanted, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
