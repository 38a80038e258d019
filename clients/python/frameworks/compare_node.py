"""The ways of a framework for Node beside ours: `python compare_node.py FRAMEWORK`.

``clients/ts/frameworks/build/compare/FRAMEWORK.js`` holds the conversations, after `npm run build` there. Asked for no
way, it prints the names of all.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import compactord
from compare import Way, compare
from programs import ROOT, TURNS, WINDOW

FOLDER = ROOT / "clients" / "ts" / "frameworks" / "build" / "compare"


def ways(program: Path) -> dict[str, Way]:
    """Each way of a program."""
    done = subprocess.run(["node", str(program)], capture_output=True, text=True, check=True)
    return {name: partial(hold, program, name) for name in done.stdout.splitlines()}


def hold(program: Path, way: str, client: compactord.Client, message: Callable[[int], str]) -> None:
    """Hold the conversation in one way of a program: it gets what the user says in lines."""
    own = {"COMPACTORD_ADDR": client.address, "LANGSMITH_TRACING": "false", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
    done = subprocess.run(
        ["node", str(program), way, str(WINDOW)],
        env=os.environ | own,
        input="".join(f"{message(turn)}\n" for turn in range(TURNS)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip()[-300:])


if __name__ == "__main__":
    compare(ways(FOLDER / f"{sys.argv[1]}.js"))
