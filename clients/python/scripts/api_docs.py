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
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent
DOCS = FOLDER / "docs" / "api.md"

HEAD = """# The Python API

Generated from the docstrings by `scripts/api_docs.py`; the [README](../README.md) shows how things are used. What is
named `Async...` is the same as what is named without it, with `await`, and is left out here. Messages and enums of the
contract are in `compactord.v1`.
"""


def written(name: str, thing: Any) -> str:
    """What is said of one exported name."""
    if inspect.isclass(thing) and thing.__module__.startswith("compactord"):
        kind = "exception" if issubclass(thing, Exception) else "class"
        parts = [f"## {kind} `{name}`\n", text(thing.__doc__)]
        if kind == "class" and inspect.isfunction(thing.__init__) and thing.__init__.__doc__:
            parts += [f"```python\n{name}{signature(thing.__init__)}\n```\n", text(thing.__init__.__doc__)]
        parts += [member(name, *one) for one in members(thing)]
        return "\n".join(parts)
    if inspect.isfunction(thing):
        return f"## function `{name}`\n\n```python\n{name}{signature(thing)}\n```\n\n{text(thing.__doc__)}"
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
        return f"### `{owner}.{name}`\n\n{text(value.__doc__)}"
    return f"### `{owner}.{name}()`\n\n```python\n{name}{signature(value)}\n```\n\n{text(value.__doc__)}"


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
    parts = [HEAD]
    for name in compactord.__all__:
        thing = getattr(compactord, name)
        if not name.lower().startswith("async") and not isinstance(thing, ModuleType):
            parts.append(written(name, thing))
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
