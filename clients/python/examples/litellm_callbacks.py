"""A callback of LiteLLM's proxy, with which no conversation of its clients outgrows the context window.

    pip install "./clients/python[litellm]"
    export OPENAI_API_KEY=...
    cd clients/python/examples && litellm --config litellm_config.yaml

It needs `compactord serve` in another terminal. Clients of the proxy name their conversation, by the header
`x-litellm-session-id` or by `metadata`, and send all of its messages, as always.
"""

import os

import compactord
from compactord.litellm import CompactordCallback

CONTEXT_WINDOW = int(os.environ.get("CONTEXT_WINDOW", "200000"))

window = CompactordCallback(compactord.Client(), policy={"context_window": CONTEXT_WINDOW})
