"""What tests of turns share: sessions of both kinds, and models that say what the test wrote."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import subprocess
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, cast

import pytest
from typing_extensions import override

import compactord
from compactord import v1
from compactord.view import View
from daemons import Proxy, Restarted
from providers import PROVIDERS, WINDOW, Provider, Said
from summarizer import HeldModel, held_model
from summarizer_server import SummarizerServer, summarizer_server

Answer: TypeAlias = Said | Exception | Callable[[View], Any]
"""What a scripted model does when it is called: says something, raises something, or what a function does."""


class Waiting:
    """An object of the asynchronous client, used as if it were one of the synchronous client.

    One loop runs all of it, in the thread of the test.
    """

    def __init__(self, held: Any, loop: asyncio.AbstractEventLoop) -> None:
        self.held = held
        self.loop = loop

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.held, name)
        return self._wrapped(found) if inspect.ismethod(found) else found

    @override
    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("held", "loop"):
            object.__setattr__(self, name, value)
        else:
            setattr(self.held, name, value)

    def _wrapped(self, method: Callable[..., Any]) -> Callable[..., Any]:
        async def call(*args: Any, **kwargs: Any) -> Any:
            result = method(*map(_held, args), **{name: _held(value) for name, value in kwargs.items()})
            if inspect.isawaitable(result):
                result = await result
            if hasattr(result, "__anext__"):
                return [item async for item in result]
            return Waiting(result, self.loop) if isinstance(result, compactord.AsyncSession) else result

        return lambda *args, **kwargs: self.loop.run_until_complete(call(*args, **kwargs))


def _held(given: Any) -> Any:
    return given.held if isinstance(given, Waiting) else given


class Model:
    """A model that answers what the test wrote, and remembers the views that it was called with.

    It streams its answers where it is told to, or hands out what the provider's package would.
    """

    def __init__(self, provider: Provider, *answers: Answer, form: str = "body") -> None:
        self.provider = provider
        self.views: list[View] = []
        self._answers = list(answers)
        self._form = form

    def __call__(self, view: View) -> Any:
        self.views.append(view)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return self.say(answer) if isinstance(answer, Said) else answer(view)

    def say(self, said: Said) -> Any:
        """What it hands out to say something."""
        match self._form:
            case "body":
                return self.provider.body(said)
            case "sdk":
                return self.provider.sdk(self.provider.body(said))
            case "bytes":
                return json.dumps(self.provider.body(said), ensure_ascii=False).encode()
            case "events":
                return self.provider.events(said)
            case _:
                return iter(self.provider.events(said))


def transcript(session: compactord.Session) -> list[str]:
    """The log, a line a message: role, texts, calls and results."""
    return [line(message.message) for message in session.messages()]


def line(message: v1.Message) -> str:
    """A message in one line."""
    shown: list[str] = []
    for part in message.parts:
        match part.WhichOneof("kind"):
            case "text":
                shown.append(part.text.text)
            case "tool_call":
                shown.append(f"{part.tool_call.name}({part.tool_call.arguments})")
            case "tool_result":
                texts = "".join(piece.text.text for piece in part.tool_result.parts)
                shown.append(f"{'error ' if part.tool_result.is_error else ''}{part.tool_result.name}: {texts}")
            case other:
                shown.append(f"<{other}>")
    failed = " (failed)" if message.stop_reason == v1.StopReason.STOP_REASON_ERROR else ""
    return f"{v1.Role.Name(message.role).removeprefix('ROLE_').lower()}{failed}: {' '.join(shown)}"


def fill(session: compactord.Session, tokens: int, each: int = 500) -> None:
    """Append turns of so many tokens in all, as the session counts."""
    for number in range(tokens // each):
        session.append(compactord.user(f"question {number}"), compactord.assistant(_words(number, each - 10)))


def _words(seed: int, tokens: int) -> str:
    """Text of so many tokens at four characters a token, another for each seed."""
    return "".join(f"w{seed:02}{number:03} "[:8].ljust(8) for number in range(tokens // 2))


def policy(**more: Any) -> dict[str, Any]:
    """A policy for the make-believe models: a compaction leaves the newest 2,000 tokens."""
    strategy = {"summarize": {"recent_tokens": 2_000, "max_summary_tokens": 1_000}}
    return {"context_window": WINDOW, "strategy": strategy} | more


def compactions(session: compactord.Session) -> list[v1.CompactionEntry]:
    """The session's entries, the newest first."""
    return list(session.compactions())


def attempts(session: compactord.Session) -> list[v1.Record]:
    """The records of compactions that failed or were cancelled."""
    return [record for record in session.records() if record.HasField("attempt")]


@pytest.fixture(scope="session")
def binary(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The daemon's program: the one that is given, or one that is built."""
    given = os.environ.get("COMPACTORD_BINARY")
    if given:
        return given
    built = tmp_path_factory.mktemp("bin") / "compactord"
    root = Path(__file__).parents[3]
    subprocess.run(["go", "build", "-o", str(built), "./cmd/compactord"], cwd=root, check=True)
    return str(built)


@pytest.fixture(scope="module")
def summarizer() -> Iterator[SummarizerServer]:
    """A model that writes no summary, which policies can name."""
    with summarizer_server() as server:
        yield server


@pytest.fixture(scope="module")
def client(binary: str, summarizer: SummarizerServer) -> Iterator[compactord.Client]:
    """A client of a daemon that the tests of a module share."""
    with compactord.embedded(binary, config=summarizer.config()) as client:
        yield client


@pytest.fixture(scope="module")
def model() -> Iterator[HeldModel]:
    """A model that holds its answers back, for daemons of a module."""
    with held_model() as model:
        yield model


@pytest.fixture
def proxy(client: compactord.Client) -> Iterator[Proxy]:
    """A proxy before the daemon of the module."""
    made = Proxy(client.address)
    yield made
    made.close()


@pytest.fixture
def restarted(binary: str) -> Iterator[Restarted]:
    """A daemon that can be killed and started again."""
    daemon = Restarted(binary)
    daemon.start()
    yield daemon
    daemon.remove()


@pytest.fixture(params=["sync", "async"])
def either(request: pytest.FixtureRequest, client: compactord.Client) -> Iterator[compactord.Client]:
    """A client of either kind, of the daemon that the tests of a module share."""
    with client_of(request.param, client.address) as made:
        yield made


@contextmanager
def client_of(kind: str, address: str) -> Generator[compactord.Client]:
    """A client of one kind; to types, both are of the one that blocks."""
    if kind == "sync":
        with compactord.Client(address) as blocking:
            yield blocking
        return
    loop = asyncio.new_event_loop()
    waiting = Waiting(compactord.AsyncClient(address), loop)
    try:
        yield cast(compactord.Client, waiting)
    finally:
        waiting.close()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def is_async(client: compactord.Client) -> bool:
    """Whether a client is of the kind for asyncio."""
    given: object = client
    return isinstance(given, Waiting)


def plain(session: compactord.Session) -> Any:
    """The session itself, of whichever kind."""
    given: object = session
    return given.held if isinstance(given, Waiting) else given


@pytest.fixture(params=PROVIDERS, ids=lambda provider: provider.name)
def provider(request: pytest.FixtureRequest) -> Provider:
    """A way in which models answer."""
    assert isinstance(request.param, Provider)
    return request.param


@pytest.fixture
def chat() -> Provider:
    """The way of Chat Completions, where the way does not matter."""
    return PROVIDERS[0]


def tools_of(session: compactord.Session, **options: bool) -> compactord.AgentTools:
    """The agent's tools for a session of either kind."""
    given: object = session
    if isinstance(given, Waiting):
        waiting = Waiting(compactord.AsyncAgentTools(given.held, **options), given.loop)
        return cast(compactord.AgentTools, waiting)
    return compactord.AgentTools(session, **options)
