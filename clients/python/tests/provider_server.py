"""A make-believe provider that speaks Chat Completions and Messages over HTTP, for programs that talk to one."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from typing_extensions import override

from providers import PROVIDERS, Said

TOO_LONG = "This model's maximum context length is 8000 tokens. However, your messages resulted in 9000 tokens."


class ProviderServer(ThreadingHTTPServer):
    """Answers as it is told, one request after the other.

    Attributes:
        answers: What it still has to say; None is an error: the context is too long.
        requests: The bodies of the requests so far.
    """

    daemon_threads = True

    def __init__(self, *answers: Said | None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = list(answers)
        self.requests: list[Any] = []

    def environment(self) -> dict[str, str]:
        """Where the providers' packages look for it."""
        url = f"http://127.0.0.1:{self.server_port}"
        return {
            "OPENAI_BASE_URL": f"{url}/v1",
            "OPENAI_API_KEY": "none",
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "none",
        }


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        """Say what is next."""
        server = cast(ProviderServer, self.server)
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.requests.append(request)
        said = server.answers.pop(0)
        provider = PROVIDERS[0] if self.path.endswith("/chat/completions") else PROVIDERS[2]
        if said is None:
            self._answer(400, "application/json", json.dumps({"error": {"message": TOO_LONG}}))
        elif request.get("stream"):
            events = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in provider.events(said))
            self._answer(200, "text/event-stream", "".join(events))
        else:
            self._answer(200, "application/json", json.dumps(provider.body(said)))

    def _answer(self, status: int, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @override
    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Say nothing."""


@contextmanager
def provider_server(*answers: Said | None) -> Generator[ProviderServer]:
    """Run one."""
    server = ProviderServer(*answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
