"""A make-believe model that writes summaries, as the daemon asks for them, and whose answers the test times."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from typing_extensions import override

NAME = "make-believe"


class SummarizerServer(ThreadingHTTPServer):
    """Refuses every request, once `released` is set.

    Attributes:
        asked: Gets an item for each request.
        released: Whether requests are answered.
        requests: How many requests there were.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Refusal)
        self.asked: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.released = threading.Event()
        self.released.set()
        self.requests = 0

    def config(self) -> dict[str, Any]:
        """The daemon's configuration with this model."""
        url = f"http://127.0.0.1:{self.server_port}/v1"
        model = {"kind": "openai", "base_url": url, "model": "m", "context_window": 100_000}
        # One request for a text, however many texts there are.
        model |= {"tries": 1, "concurrency": 1}
        return {"summarizers": {NAME: model}}

    def hold(self) -> None:
        """Answer no request until :meth:`release`."""
        self.released.clear()

    def release(self) -> None:
        """Answer again."""
        self.released.set()


class _Refusal(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        """Refuse."""
        server = cast(SummarizerServer, self.server)
        self.rfile.read(int(self.headers["Content-Length"]))
        server.requests += 1
        server.asked.put(None)
        server.released.wait()
        body = b'{"error":{"message":"out of order"}}'
        self.send_response(500)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @override
    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Say nothing."""


@contextmanager
def summarizer_server() -> Generator[SummarizerServer]:
    """Run one."""
    server = SummarizerServer()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.release()
        server.shutdown()
        thread.join()
        server.server_close()


def summary(*, fails: bool) -> dict[str, Any]:
    """What a policy says of summaries by it: whether a compaction fails with it, or is done without."""
    return {"summarizer": NAME, "fallback": "SUMMARY_FALLBACK_FAIL" if fails else "SUMMARY_FALLBACK_EXTRACTIVE"}
