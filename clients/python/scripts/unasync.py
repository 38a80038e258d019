"""Generates the package for threads from the package for asyncio, token by token.

Usage: python scripts/unasync.py [--check]

With --check it writes nothing, and fails where a file is not what would be written.
"""

import io
import re
import sys
import tokenize
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "compactord"
BY_HAND = {"__init__.py", "wire/runtime.py", "wire/stubs.py", "turn/runtime.py"}
HEADER = "# Generated from {source} by scripts/unasync.py. Do not edit.\n"

NAMES = {
    "AsyncIterator": "Iterator",
    "AsyncIterable": "Iterable",
    "AsyncGenerator": "Generator",
    "AsyncContextManager": "ContextManager",
    "StopAsyncIteration": "StopIteration",
    "__aiter__": "__iter__",
    "__anext__": "__next__",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "aiter": "iter",
    "anext": "next",
    "asynccontextmanager": "contextmanager",
    "async_embedded": "embedded",
    "_async": "_sync",
}
"""Names that become others. Names that begin with Async or _Async lose that."""

DROPPED = {"async", "await"}
"""Keywords that go, with the space behind them."""

UNWRAPPED = "Awaitable"
"""Awaitable[X] becomes X."""


def renamed(name: str) -> str:
    """The name in the package for threads."""
    if name in NAMES:
        return NAMES[name]
    for prefix, kept in (("Async", ""), ("_Async", "_")):
        if name.startswith(prefix) and name != prefix:
            return kept + name.removeprefix(prefix)
    return name


def prose(text: str) -> str:
    """A string or a comment, with the names in it that are the package's own."""
    for word in (
        "AsyncAgentTools",
        "AsyncClient",
        "AsyncSession",
        "AsyncCompaction",
        "AsyncTurn",
        "AsyncWatch",
        "compactord._async",
    ):
        text = text.replace(word, word.replace("Async", "").replace("_async", "_sync"))
    return text


def unasync(source: str) -> str:
    """The module for threads of a module for asyncio."""
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    lines = source.splitlines(keepends=True)
    out: list[str] = []
    row, column = 1, 0
    brackets: list[bool] = []
    skip_space = False
    position = 0
    while position < len(tokens):
        token = tokens[position]
        start_row, start_column = token.start
        gap = between(lines, (row, column), token.start)
        out.append("" if skip_space else gap)
        skip_space = False
        row, column = token.end
        if token.type == tokenize.NAME and token.string in DROPPED:
            skip_space = True
        elif token.type == tokenize.NAME and token.string == UNWRAPPED and tokens[position + 1].string == "[":
            brackets.append(True)
            position += 1
            row, column = tokens[position].end
        elif token.string == "[" and token.type == tokenize.OP:
            brackets.append(False)
            out.append(token.string)
        elif token.string == "]" and token.type == tokenize.OP:
            out.append("" if brackets.pop() else token.string)
        elif token.type == tokenize.NAME:
            out.append(renamed(token.string))
        elif token.type in (tokenize.STRING, tokenize.COMMENT):
            out.append(prose(token.string))
        elif token.type not in (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            out.append(token.string)
        else:
            # Indentation is in the gaps.
            row, column = (start_row, start_column) if token.type == tokenize.INDENT else (row, column)
        position += 1
    return re.sub(rf"^(from collections\.abc import .*?)\b{UNWRAPPED}, ", r"\1", "".join(out), flags=re.MULTILINE)


def between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    """What stands between two places of a source."""
    if start[0] == end[0]:
        return lines[start[0] - 1][start[1] : end[1]] if start[0] <= len(lines) else ""
    parts = [lines[start[0] - 1][start[1] :], *lines[start[0] : end[0] - 1]]
    if end[0] <= len(lines):
        parts.append(lines[end[0] - 1][: end[1]])
    return "".join(parts)


def modules(package: Path) -> list[Path]:
    """The modules of a package that are not written by hand in both."""
    return [path for path in sorted(package.rglob("*.py")) if path.relative_to(package).as_posix() not in BY_HAND]


def main(check: bool) -> int:
    """Write all modules, or compare them."""
    asyncio, threads = PACKAGE / "_async", PACKAGE / "_sync"
    wanted: dict[Path, str] = {}
    for path in modules(asyncio):
        source = path.relative_to(PACKAGE.parent.parent).as_posix()
        wanted[threads / path.relative_to(asyncio)] = HEADER.format(source=source) + unasync(path.read_text("utf-8"))
    there = set(modules(threads))
    stale = [path for path, text in wanted.items() if path not in there or path.read_text("utf-8") != text]
    stale += sorted(there - wanted.keys())
    if check:
        for path in stale:
            print(f"{path} is out of date: run scripts/unasync.py", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        if path in wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[path], "utf-8")
        else:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
