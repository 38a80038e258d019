"""Compacts a session with a progress bar in the terminal, by the `rich` package.

export COMPACTORD_ADDR=127.0.0.1:7440
python progress.py SESSION
"""

import argparse

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

import compactord
from compactord import v1


def main() -> None:
    """Compact the session, and say what that brought."""
    parser = argparse.ArgumentParser(description="Compacts a session with a progress bar.")
    parser.add_argument("session")
    arguments = parser.parse_args()

    console = Console()
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:.0f} of {task.total:.0f}"))
    with compactord.Client() as client, Progress(*columns, console=console) as progress:
        compaction = client.session(arguments.session).compacting()
        bar = progress.add_task("plan", total=1)
        for event in compaction:
            if event.HasField("progress"):
                show(progress, bar, event.progress)
    result = compaction.result
    if entry := result.compaction:
        console.print(f"{entry.tokens_before} tokens before, {entry.tokens_after} after")
    elif not result:
        console.print(f"nothing to do: {result.message}")


def show(progress: Progress, bar: TaskID, told: v1.CompactionProgress) -> None:
    """Move the bar. Each stage counts what it counts: tokens, checks, commits."""
    stage = v1.CompactionStage.Name(told.stage).removeprefix("COMPACTION_STAGE_").lower()
    progress.update(bar, description=stage, completed=told.done, total=max(told.total, 1))


if __name__ == "__main__":
    main()
