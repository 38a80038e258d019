"""The adapter of LiteLLM, with the real proxy."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

import compactord
from litellm_proxy import KEY, free_port, proxy
from programs import BINARY, LONG, TURNS, WINDOW, check_log, documented, model
from provider import Provider, go_on, running

HEADERS = {"x-litellm-session-id": "support-42"}
SESSION = "default_user_id/support-42"


class Agent:
    """An agent that knows nothing of compactord: it sends all messages, to the proxy."""

    def __init__(self, port: int) -> None:
        self.messages: list[Any] = [{"role": "system", "content": "You read files."}]
        self._openai = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key=KEY, max_retries=0)

    def turn(self, text: str, *, stream: bool) -> str:
        self.messages.append({"role": "user", "content": text})
        while True:
            said = self._streamed() if stream else self._answered()
            self.messages.append(said)
            for call in said.get("tool_calls") or []:
                path = json.loads(call["function"]["arguments"])["path"]
                result = {"role": "tool", "tool_call_id": call["id"], "content": Path(path).read_text()}
                self.messages.append(result)
            if not said.get("tool_calls"):
                return str(said["content"])

    def _answered(self) -> dict[str, Any]:
        answer = self._openai.chat.completions.create(model="openai", messages=self.messages, extra_headers=HEADERS)
        return answer.choices[0].message.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True)

    def _streamed(self) -> dict[str, Any]:
        with self._openai.chat.completions.stream(
            model="openai", messages=self.messages, extra_headers=HEADERS
        ) as stream:
            message = stream.get_final_completion().choices[0].message
        kept = message.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True)
        for call in kept.get("tool_calls") or []:
            call["function"] = {key: call["function"][key] for key in ("name", "arguments")}
            call.pop("index", None)
        return kept


def test_a_long_conversation(client: compactord.Client, tmp_path: Path) -> None:
    """Nothing twice, nothing lost, though the proxy is killed: and no request breaks a rule."""
    port = free_port()
    half = TURNS // 2
    with running(model(tmp_path), BINARY, WINDOW) as provider:
        agent = Agent(port)

        def talk(turns: range, *, stream: bool) -> None:
            for turn in turns:
                said = agent.turn(f"Turn {turn}: which crate is in part {turn}?", stream=stream)
                assert said == f"Turn {turn} is done."

        with proxy(tmp_path, port, provider.url, client.address) as program:
            talk(range(half), stream=False)
            kill_while_it_thinks(program, provider, lambda: talk(range(half, half + 1), stream=False))
        with proxy(tmp_path, port, provider.url, client.address):
            talk(range(half, TURNS), stream=True)
        assert provider.refused() == []
        assert {one.streamed for one in provider.requests} == {False, True}
        if TURNS >= 30:
            assert provider.reused() > 0.8
    session = client.session(SESSION, dialect="openai_chat")
    # The last answer comes into the log with the next request.
    synced = session.sync(agent.messages, compact=False, view=False)
    assert (synced.appended, synced.put_aside) == (1, 0)
    check_log(session)


def kill_while_it_thinks(program: subprocess.Popen[str], provider: Provider, turn: Any) -> None:
    """Kill the proxy while the model thinks about the results of its tools."""
    asked, go = threading.Event(), threading.Event()

    def hold(_: int, step: int) -> None:
        if step == 1:
            asked.set()
            go.wait()

    def kill() -> None:
        try:
            assert asked.wait(LONG)
        finally:
            program.kill()

    provider.model.hold = hold
    killing = threading.Thread(target=kill)
    killing.start()
    try:
        with pytest.raises(openai.APIError):
            turn()
    finally:
        killing.join()
        provider.model.hold = go_on
        go.set()


def test_other_apis_and_other_requests(
    client: compactord.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    with running(model(tmp_path), BINARY, WINDOW) as provider, proxy(tmp_path, port, provider.url, client.address):
        hello = {"role": "user", "content": "Hello."}

        def ask(path: str, body: dict[str, Any], **headers: str) -> str:
            own = {"Authorization": f"Bearer {KEY}", **headers}
            return httpx.post(f"http://127.0.0.1:{port}/v1/{path}", json=body, headers=own, timeout=LONG).text

        claude: dict[str, Any] = {"model": "anthropic", "max_tokens": 9, "system": "Be brief.", "messages": [hello]}
        gpt: dict[str, Any] = {"model": "openai", "instructions": "Be brief.", "input": [hello]}
        chat: dict[str, Any] = {"model": "openai", "messages": [hello]}
        assert "I heard you." in ask("messages", claude, **{"x-litellm-session-id": "claude"})
        assert "I heard you." in ask("responses", gpt, **{"x-litellm-session-id": "gpt"})
        assert "I heard you." in ask("chat/completions", chat)
        assert "I heard you." in ask("chat/completions", chat | {"metadata": {"session_id": "named"}})
        monkeypatch.setenv("LITELLM_MASTER_KEY", KEY)
        places = {"127.0.0.1:4000": f"127.0.0.1:{port}", '"gpt"': '"openai"', "support-42": "documented"}
        answer = documented("LiteLLM", 1, places)["answer"]
        assert answer.choices[0].message.content == "I heard you."
        assert provider.refused() == []
    for name, said in (
        ("claude", ["Be brief.", "Hello."]),
        ("gpt", ["Be brief.", "Hello."]),
        ("named", ["Hello."]),
        ("documented", ["What did we decide?"]),
    ):
        logged = client.session(f"default_user_id/{name}").messages()
        assert [part.text.text for one in logged for part in one.message.parts] == said
    known = {one.session_id for one in client.list_sessions()}
    assert known <= {SESSION, *(f"default_user_id/{name}" for name in ("claude", "gpt", "named", "documented"))}
