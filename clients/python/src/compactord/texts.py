"""The texts for the agent's model. They are the same in the clients for all languages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources


def model_text(name: str, /, **values: object) -> str:
    """Return a text for the model.

    Args:
        name: Its name in ``texts.json``.
        values: The values for its placeholders.

    Raises:
        KeyError: There is no text with this name, or a value for a placeholder is missing.
    """
    return _texts()[name].format(**values)


@cache
def _texts() -> Mapping[str, str]:
    texts: dict[str, str] = json.loads(resources.files("compactord").joinpath("texts.json").read_text(encoding="utf-8"))
    return texts
