"""A make-believe provider that speaks Chat Completions and Messages over HTTP, for programs that talk to one."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from http_server import EVENTS, JSON, Answer, environment, serving
from providers import PROVIDERS, Said

TOO_LONG = "This model's maximum context length is 8000 tokens. However, your messages resulted in 9000 tokens."


class ProviderServer:
    """Answers as it is told, one request after the other.

    Attributes:
        url: Where it listens.
        answers: What it still has to say; None is an error: the context is too long.
        requests: The bodies of the requests so far.
    """

    def __init__(self, *answers: Said | None) -> None:
        self.url = ""
        self.answers = list(answers)
        self.requests: list[Any] = []

    def environment(self) -> dict[str, str]:
        """Where the providers' packages look for it."""
        return environment(self.url)

    def answer(self, path: str, request: Any) -> Answer:
        """Say what is next."""
        self.requests.append(request)
        said = self.answers.pop(0)
        provider = PROVIDERS[0] if path.endswith("/chat/completions") else PROVIDERS[2]
        if said is None:
            return Answer(400, JSON, json.dumps({"error": {"message": TOO_LONG}}))
        if request.get("stream"):
            events = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in provider.events(said))
            return Answer(200, EVENTS, "".join(events))
        return Answer(200, JSON, json.dumps(provider.body(said)))


@contextmanager
def provider_server(*answers: Said | None) -> Generator[ProviderServer]:
    """Run one."""
    server = ProviderServer(*answers)
    with serving(server.answer) as server.url:
        yield server
