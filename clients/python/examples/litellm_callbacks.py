"""A callback of LiteLLM's proxy, with which no conversation of its clients outgrows the context window.

    pip install "./clients/python[litellm]"
    export OPENAI_API_KEY=... LITELLM_MASTER_KEY=sk-$(openssl rand -hex 32)
    cd clients/python/examples && litellm --config litellm_config.yaml

It needs `compactord serve` in another terminal. Clients of the proxy at http://127.0.0.1:4000 give the master key as
their API key and send all messages, as always. They name the conversation, by the header `x-litellm-session-id` or by
`metadata`.
"""

import os

import compactord
from compactord.litellm import CompactordCallback

CONTEXT_WINDOW = int(os.environ.get("CONTEXT_WINDOW", "200000"))

window = CompactordCallback(compactord.Client(), policy={"context_window": CONTEXT_WINDOW})
