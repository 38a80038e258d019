"""LiteLLM's proxy, as a program, before a make-believe provider."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from http_server import environment
from programs import EXAMPLES, WINDOW

KEY = f"sk-{secrets.token_hex(32)}"
COMPACTORD: Mapping[str, Any] = {"callbacks": "litellm_callbacks.window"}
"""The settings with the callback of the example."""


@contextmanager
def proxy(
    folder: Path, port: int, provider: str, address: str, settings: Mapping[str, Any] = COMPACTORD
) -> Generator[subprocess.Popen[str]]:
    """Run it in a folder, with the models ``openai`` and ``anthropic`` of the provider.

    Args:
        folder: Where its configuration is written, and beside it the callback of the example.
        port: Where it listens.
        provider: The provider's address.
        address: The daemon's.
        settings: ``litellm_settings`` of its configuration.
    """
    models = [
        {"model_name": name, "litellm_params": {"model": f"{name}/make-believe", "api_key": "none", "api_base": base}}
        for name, base in (("openai", f"{provider}/v1"), ("anthropic", provider))
    ]
    # JSON is YAML.
    (folder / "config.yaml").write_text(json.dumps({"model_list": models, "litellm_settings": dict(settings)}))
    (folder / "litellm_callbacks.py").write_text((EXAMPLES / "litellm_callbacks.py").read_text())
    own = {"COMPACTORD_ADDR": address, "CONTEXT_WINDOW": str(WINDOW), "LITELLM_MASTER_KEY": KEY}
    own["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    arguments = ["--config", str(folder / "config.yaml"), "--host", "127.0.0.1", "--port", str(port)]
    program = subprocess.Popen(
        [Path(sys.executable).with_name("litellm"), *arguments, "--telemetry", "False"],
        env=os.environ | environment(provider) | own,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert program.stdout is not None
    said: list[str] = []
    for line in program.stdout:
        said.append(line)
        if "Uvicorn running on" in line:
            break
    else:
        raise AssertionError("".join(said))
    # What nobody reads would stop it.
    reading = threading.Thread(target=said.extend, args=(program.stdout,))
    reading.start()
    try:
        yield program
    finally:
        program.kill()
        program.wait()
        reading.join()
        program.stdout.close()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port
