"""A model that writes summaries when the test says so."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from http_server import JSON, Answer, serving


class HeldModel:
    """An OpenAI server that holds its answers back until :meth:`let_go`, and answers an error then.

    Attributes:
        url: Where it listens.
        asked: Set once it was asked.
    """

    def __init__(self) -> None:
        self.url = ""
        self.asked = threading.Event()
        self._go = threading.Event()

    def answer(self, _path: str, _request: Any) -> Answer:
        """Answer an error, once it may."""
        self.asked.set()
        self._go.wait()
        return Answer(400, JSON, "{}")

    def config(self) -> dict[str, Any]:
        """The configuration of a daemon whose default summarizer it is."""
        url = f"{self.url}/v1"
        held = {"kind": "openai", "model": "held", "base_url": url, "tries": 1, "context_window": 100_000}
        return {"summarizers": {"held": held}, "default_summarizer": "held"}

    def let_go(self) -> None:
        """Answer all that ask, an error."""
        self._go.set()

    def hold(self) -> None:
        """Hold back the next answers."""
        self.asked.clear()
        self._go.clear()


@contextmanager
def held_model() -> Generator[HeldModel]:
    """A model for the length of a block."""
    model = HeldModel()
    with serving(model.answer) as model.url:
        try:
            yield model
        finally:
            model.let_go()
