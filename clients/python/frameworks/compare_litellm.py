"""The own way of LiteLLM's proxy beside ours: `python compare_litellm.py`.

An agent of Anthropic's Messages sends all messages to the proxy, in each way the same.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx

import compactord
from compare import Way, compare
from litellm_proxy import COMPACTORD, KEY, free_port, proxy
from programs import LONG, TURNS, WINDOW

HEADERS = {"Authorization": f"Bearer {KEY}", "x-litellm-session-id": "support-42"}
TOOL: Mapping[str, Any] = {
    "name": "read_file",
    "description": "Reads a text file.",
    "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
}
REQUEST: Mapping[str, Any] = {"model": "anthropic", "max_tokens": 1_000, "system": "You read files.", "tools": [TOOL]}


def way(settings: Mapping[str, Any]) -> Way:
    def hold(client: compactord.Client, message: Callable[[int], str]) -> None:
        provider, port = os.environ["ANTHROPIC_BASE_URL"], free_port()
        with (
            tempfile.TemporaryDirectory() as folder,
            proxy(Path(folder), port, provider, client.address, settings),
            httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=HEADERS, timeout=LONG) as agent,
        ):
            messages: list[dict[str, Any]] = []
            for turn in range(TURNS):
                messages.append({"role": "user", "content": message(turn)})
                while results := answered(agent, messages):
                    messages.append({"role": "user", "content": results})

    return hold


def answered(agent: httpx.Client, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The results of what the model calls next; none where the turn is done."""
    answer = agent.post("/v1/messages", json={**REQUEST, "messages": messages})
    if answer.is_error:
        raise RuntimeError(answer.text)
    content = answer.json()["content"]
    messages.append({"role": "assistant", "content": content})
    calls = [block for block in content if block["type"] == "tool_use"]
    read = [Path(block["input"]["path"]).read_text() for block in calls]
    return [
        {"type": "tool_result", "tool_use_id": block["id"], "content": text}
        for block, text in zip(calls, read, strict=True)
    ]


if __name__ == "__main__":
    own = {"enabled": True, "compression_trigger": WINDOW * 3 // 4}
    compare(
        {
            "no callback": way({}),
            "`compression_interception`": way(
                {"callbacks": ["compression_interception"], "compression_interception_params": own}
            ),
            "`CompactordCallback`": way(COMPACTORD),
        }
    )
