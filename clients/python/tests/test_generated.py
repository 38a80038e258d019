"""What is generated is what would be generated: the package for threads, and the document of the API."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"


@pytest.mark.parametrize("script", ["unasync.py", "api_docs.py"])
def test_what_is_generated_is_fresh(script: str) -> None:
    command = [sys.executable, str(SCRIPTS / script), "--check"]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
