"""Prints the documents of this package: ``python -m compactord readme`` or ``api``."""

from __future__ import annotations

import sys
from importlib import resources

_DOCUMENTS = {"readme": "README.md", "api": "api.md"}
_USAGE = (
    "usage: python -m compactord readme|api\n\nPrints a document of the Python client. Programs: compactord --help\n"
)


def main(arguments: list[str]) -> int:
    """Print the document that is asked for, and return the exit code."""
    name = _DOCUMENTS.get(arguments[0]) if len(arguments) == 1 else None
    if name is None:
        sys.stderr.write(_USAGE)
        return 2
    document = resources.files("compactord") / "docs" / name
    if not document.is_file():
        sys.stderr.write(f"{name} comes with an installed package, and this one runs from its source\n")
        return 1
    sys.stdout.buffer.write(document.read_bytes())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
