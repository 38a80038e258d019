"""A make-believe model that writes summaries, as the daemon asks for them, and whose answers the test times."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from http_server import JSON, Answer, serving

NAME = "make-believe"


class SummarizerServer:
    """Refuses every request, once `released` is set.

    Attributes:
        url: Where it listens.
        asked: Gets an item for each request.
        released: Whether requests are answered.
        requests: How many requests there were.
    """

    def __init__(self) -> None:
        self.url = ""
        self.asked: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.released = threading.Event()
        self.released.set()
        self.requests = 0

    def config(self) -> dict[str, Any]:
        """The daemon's configuration with this model."""
        model = {"kind": "openai", "base_url": f"{self.url}/v1", "model": "m", "context_window": 100_000}
        # One request for a text, however many texts there are.
        model |= {"tries": 1, "concurrency": 1}
        return {"summarizers": {NAME: model}}

    def hold(self) -> None:
        """Answer no request until :meth:`release`."""
        self.released.clear()

    def release(self) -> None:
        """Answer again."""
        self.released.set()

    def answer(self, _path: str, _request: Any) -> Answer:
        """Refuse."""
        self.requests += 1
        self.asked.put(None)
        self.released.wait()
        return Answer(500, JSON, '{"error":{"message":"out of order"}}')


@contextmanager
def summarizer_server() -> Generator[SummarizerServer]:
    """Run one."""
    server = SummarizerServer()
    with serving(server.answer) as server.url:
        try:
            yield server
        finally:
            server.release()


def summary(*, fails: bool) -> dict[str, Any]:
    """What a policy says of summaries by it: whether a compaction fails with it, or is done without."""
    return {"summarizer": NAME, "fallback": "SUMMARY_FALLBACK_FAIL" if fails else "SUMMARY_FALLBACK_EXTRACTIVE"}
