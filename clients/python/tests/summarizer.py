"""A model that writes summaries when the test says so."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from typing_extensions import override


class HeldModel:
    """An OpenAI server that holds its answers back until :meth:`let_go`, and answers an error then.

    Attributes:
        asked: Set once it was asked.
    """

    def __init__(self) -> None:
        self.asked = threading.Event()
        self._go = threading.Event()
        held = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                held.asked.set()
                held._go.wait()
                self.send_response(400)
                self.end_headers()

            @override
            def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def config(self) -> dict[str, Any]:
        """The configuration of a daemon whose default summarizer it is."""
        url = f"http://127.0.0.1:{self._server.server_port}/v1"
        held = {"kind": "openai", "model": "held", "base_url": url, "tries": 1, "context_window": 100_000}
        return {"summarizers": {"held": held}, "default_summarizer": "held"}

    def let_go(self) -> None:
        """Answer all that ask, an error."""
        self._go.set()

    def hold(self) -> None:
        """Hold back the next answers."""
        self.asked.clear()
        self._go.clear()

    def close(self) -> None:
        """End it."""
        self.let_go()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@contextmanager
def held_model() -> Generator[HeldModel]:
    """A model for the length of a block."""
    model = HeldModel()
    try:
        yield model
    finally:
        model.close()
