"""A make-believe provider that is as strict as the real ones, for agents that run as programs.

It speaks Responses, Chat Completions, Messages and Gemini's API, streamed or not. Each request is judged by the rules
of its dialect: one that breaks a rule is refused, as the provider would, and so is one that is longer than the window.
The model has a plan for each turn: a user's message "Turn N: ..." makes it read files, two at once and sometimes a
third, before it answers. "Look up by TOOL: ARGUMENTS" makes it call another tool.
"""

from __future__ import annotations

import json
import re
import subprocess
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from http_server import EVENTS, JSON, Answer, environment, serving
from wire import PROTOCOLS, Call, Protocol, Said

TURN = re.compile(r"^Turn (\d+):[^\n]*\Z", re.MULTILINE)
"""The end of the newest message, where the user has begun a turn."""


LOOK_UP = re.compile(r"^Look up by (\w+): (\{[^\n]*\})\Z", re.MULTILINE)
"""The end of the newest message, where the user has the model call a tool."""


@dataclass(frozen=True)
class Request:
    """A request that the provider got.

    Attributes:
        turn: The turn of the conversation that it belongs to.
        messages: The elements of the conversation, with the system prompt first.
        streamed: Whether the answer was streamed.
        refused: Why it was refused; empty where it was not.
    """

    turn: int
    messages: list[str]
    streamed: bool
    refused: str = ""

    @property
    def tokens(self) -> int:
        """Its size, at four characters a token, as models are shown it: without the JSON around the texts."""
        return sum(_characters(json.loads(one)) for one in self.messages) // 4


def _characters(value: Any) -> int:
    match value:
        case str():
            return len(value)
        case list() | dict():
            within: list[Any] = list(value.values()) if isinstance(value, dict) else value
            return sum(_characters(one) for one in within)
        case _:
            return 0


def go_on(_turn: int, _step: int) -> None:
    """Hold no answer."""


@dataclass
class Model:
    """What the model does: the plan of each turn, and how far it has come.

    Attributes:
        name: Makes the path of a file to read, of a turn and a letter.
        hold: Called with the turn and the step before each answer, so that a test can stop the agent there.
    """

    name: Callable[[int, str], str]
    hold: Callable[[int, int], None] = go_on
    turn: int = 0
    step: int = 0
    answers: int = 0
    looked_up: bool = False

    def answer(self, last_text: str | None) -> Said:
        """Say what comes next, where the newest message is a user's text, or None for results of tools."""
        self.answers += 1
        if last_text is None and self.looked_up:
            return Said(self.answers, "", "I have looked it up.")
        if last_text is not None:
            asked = LOOK_UP.search(last_text.strip())
            self.looked_up = asked is not None
            if asked is not None:
                call = Call(f"call_{self.answers}", asked[1], json.loads(asked[2]))
                return Said(self.answers, "", "I look it up.", [call])
            found = TURN.search(last_text.strip())
            if found is None:
                return Said(self.answers, "", "I heard you.")
            self.turn, self.step = int(found[1]), 0
        self.hold(self.turn, self.step)
        letters = {0: "ab", 1: "c" if self.turn % 3 == 0 else ""}.get(self.step, "")
        self.step += 1
        thought = f"I think about turn {self.turn}."
        if not letters:
            return Said(self.answers, thought, f"Turn {self.turn} is done.")
        paths = {letter: self.name(self.turn, letter) for letter in letters}
        calls = [Call(f"call_{self.answers}_{letter}", "read_file", {"path": path}) for letter, path in paths.items()]
        return Said(self.answers, thought, "I read on.", calls)


@dataclass
class Provider:
    """A running provider.

    Attributes:
        forgiving: Whether it answers what breaks a rule all the same, once it is noted as refused.
    """

    model: Model
    binary: str
    window: int
    forgiving: bool = False
    url: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)
    requests: list[Request] = field(default_factory=list[Request])

    def environment(self) -> dict[str, str]:
        """Where the providers' packages look for it."""
        return environment(self.url)

    def refusal(self, protocol: Protocol, body: dict[str, Any]) -> str:
        """Why a request is refused; empty where it is not."""
        judged = {key: value for key, value in body.items() if key in protocol.conversation}
        command = [self.binary, "validate", "--dialect", protocol.dialect, "--quiet", "-"]
        done = subprocess.run(command, input=json.dumps(judged), capture_output=True, text=True, check=False)
        return "" if done.returncode == 0 else done.stdout or done.stderr

    def refused(self) -> list[str]:
        """Why requests were refused so far."""
        return [one.refused for one in self.requests if one.refused]

    def reused(self) -> float:
        """The part of all that was sent which was the same as the start of the request before."""
        same = 0
        for before, now in zip(self.requests, self.requests[1:], strict=False):
            for one, other in zip(before.messages, now.messages, strict=False):
                if one != other:
                    break
                same += len(one)
        return same / sum(sum(map(len, one.messages)) for one in self.requests)

    def answer(self, path: str, body: Any) -> Answer:
        """Answer a request, one after the other."""
        protocol = next(one for one in PROTOCOLS if path.split("?")[0].endswith(one.paths))
        with self.lock:
            return self._answered(protocol, body, streamed=bool(body.get("stream")) or ":stream" in path)

    def _answered(self, protocol: Protocol, body: dict[str, Any], *, streamed: bool) -> Answer:
        messages = [json.dumps(one) for one in protocol.messages(body)]
        last = protocol.last_text(body)
        begun = TURN.search((last or "").strip())
        asked = Request(int(begun[1]) if begun else self.model.turn, messages, streamed)
        refused = self.refusal(protocol, body)
        too_long = asked.tokens > self.window
        if too_long:
            refused = (
                f"This model's maximum context length is {self.window} tokens. "
                f"However, your messages resulted in {asked.tokens} tokens."
            )
        self.requests.append(Request(asked.turn, messages, streamed, refused))
        if refused and (too_long or not self.forgiving):
            return Answer(400, JSON, json.dumps({"error": {"message": refused, "type": "invalid"}}))
        said = self.model.answer(last)
        if streamed:
            return Answer(200, EVENTS, "".join(f"{text}\n\n" for text in protocol.events(said, asked.tokens)))
        return Answer(200, JSON, json.dumps(protocol.body(said, asked.tokens)))


@contextmanager
def running(model: Model, binary: str, window: int) -> Generator[Provider]:
    """Run a provider."""
    provider = Provider(model, binary, window)
    with serving(provider.answer) as provider.url:
        yield provider
