"""What this package says to the agent's model: the same as the clients for other languages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources


def told(name: str, **values: object) -> str:
    """A text for the model.

    Args:
        name: Its name in ``texts.json``.
        values: What goes into its braces.

    Raises:
        KeyError: There is no such text, or it has braces that no value is given for.
    """
    return _texts()[name].format(**values)


@cache
def _texts() -> Mapping[str, str]:
    texts: dict[str, str] = json.loads(resources.files("compactord").joinpath("texts.json").read_text(encoding="utf-8"))
    return texts
