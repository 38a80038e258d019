"""The package for threads is what the package for asyncio gives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"


def test_the_generated_modules_are_fresh() -> None:
    made = subprocess.run(
        [sys.executable, SCRIPTS / "unasync.py", "--check"], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
