"""The frame of make-believe providers over HTTP. The client's own tests use it, too, so it needs no framework."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, cast

from typing_extensions import override

JSON = "application/json"
EVENTS = "text/event-stream"


class Answer(NamedTuple):
    """An answer: its status, the type of its content, and the content."""

    status: int
    kind: str
    text: str


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answer: Callable[[str, Any], Answer]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        """Answer a request."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, kind, text = cast(_Server, self.server).answer(self.path, body)
        # An agent that was killed does not wait for its answer.
        with suppress(ConnectionError):
            self._write(status, kind, text.encode())

    def _write(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @override
    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Say nothing."""


@contextmanager
def serving(answer: Callable[[str, Any], Answer]) -> Generator[str]:
    """Answer each POST, by its path and its JSON, each on a thread of its own.

    Yields:
        The address of the server.
    """
    server = _Server(answer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def environment(url: str) -> dict[str, str]:
    """Where the packages of providers look for one."""
    return {
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": "none",
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GOOGLE_API_KEY": "none",
    }
