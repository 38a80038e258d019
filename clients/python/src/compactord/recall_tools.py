"""The tools with which the model of a framework's agent reads what the view leaves out, in no framework's form."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compactord._sync.agent_tools import AgentTools
from compactord._sync.client.session import Session
from compactord.tools import RECALL, SEARCH, ToolCall, ToolOutput, definitions


@dataclass(frozen=True)
class RecallTool:
    """A tool for the agent's model.

    Attributes:
        name: Its name.
        description: What it does, for the model.
        parameters: The JSON Schema of its arguments.
    """

    name: str
    description: str
    parameters: dict[str, Any]

    def output(self, session: Session, arguments: str | Mapping[str, Any]) -> ToolOutput:
        """Execute a call in a session. An answer has at most 16 KiB, or 256 KiB where the model asks for as much.

        Args:
            session: The session of the agent's conversation.
            arguments: What the model wrote, as JSON or read from it. What is wrong in it, the model is told.

        Raises:
            CompactordError: The call failed for a reason that the model cannot mend, such as no daemon.
        """
        written = arguments if isinstance(arguments, str) else json.dumps(arguments)
        output = AgentTools(session).handle(ToolCall("", self.name, written, 0))
        if output is None:
            raise ValueError(f"there is no tool {self.name!r}")
        return output

    async def output_on_thread(self, session: Session, arguments: str | Mapping[str, Any]) -> ToolOutput:
        """Do the same for a program that uses asyncio: a thread waits for the daemon."""
        return await asyncio.to_thread(self.output, session, arguments)


def neutral_tools() -> list[RecallTool]:
    """``recall_content`` and ``search_messages``, whose results no compaction hides."""
    return [RecallTool(**definition) for definition in definitions([RECALL, SEARCH])]
