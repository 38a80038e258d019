"""The client of compactord.

compactord is the daemon that keeps the conversations of language model agents within their context window.

:class:`Client` and :class:`Session` block; :class:`AsyncClient` and :class:`AsyncSession` are the same for asyncio.
:mod:`compactord.v1` holds the messages and enums of the contract, :mod:`compactord.errors` the exceptions.
"""

from importlib.metadata import version

from compactord import v1
from compactord._async.agent_tools import AsyncAgentTools
from compactord._async.client.client import AsyncClient
from compactord._async.client.embedded import async_embedded
from compactord._async.client.session import AsyncSession
from compactord._async.compaction.compaction import AsyncCompaction
from compactord._async.session.watch import AsyncWatch
from compactord._sync.agent_tools import AgentTools
from compactord._sync.client.client import Client
from compactord._sync.client.embedded import embedded
from compactord._sync.client.session import Session
from compactord._sync.compaction.compaction import Compaction
from compactord._sync.session.watch import Watch
from compactord.answers import AnswerLike
from compactord.blocks import BlockContent, block
from compactord.connection import TLS
from compactord.errors import (
    CompactordError,
    ConflictError,
    ContextOverflowError,
    DeadlineExceededError,
    InvalidRequestError,
    NotFoundError,
    SessionExistsError,
    SessionNotFoundError,
    SyncConflictError,
    ToolCallsOpenError,
    TurnAbortedError,
    UnauthenticatedError,
    UnavailableError,
    WrongNextIndexError,
)
from compactord.list_state import Compacted
from compactord.messages import (
    Appendable,
    SDKObject,
    assistant,
    developer,
    system,
    tool_result,
    user,
)
from compactord.prompts import Prompt, PromptAnswer
from compactord.results import (
    Appended,
    Checkpoint,
    ChildEnded,
    CompactionResult,
    ContextChanged,
    Pinned,
    Reverted,
    SessionInfo,
)
from compactord.synced import Synced
from compactord.tokens import Token
from compactord.tools import ToolCall, ToolOutput, ToolRejected
from compactord.turns import Turn
from compactord.view import View
from compactord.warned import CompactordWarning
from compactord.words import Dialect, Policy, word

__version__ = version("compactord")

__all__ = [
    "TLS",
    "AgentTools",
    "AnswerLike",
    "Appendable",
    "Appended",
    "AsyncAgentTools",
    "AsyncClient",
    "AsyncCompaction",
    "AsyncSession",
    "AsyncWatch",
    "BlockContent",
    "Checkpoint",
    "ChildEnded",
    "Client",
    "Compacted",
    "Compaction",
    "CompactionResult",
    "CompactordError",
    "CompactordWarning",
    "ConflictError",
    "ContextChanged",
    "ContextOverflowError",
    "DeadlineExceededError",
    "Dialect",
    "InvalidRequestError",
    "NotFoundError",
    "Pinned",
    "Policy",
    "Prompt",
    "PromptAnswer",
    "Reverted",
    "SDKObject",
    "Session",
    "SessionExistsError",
    "SessionInfo",
    "SessionNotFoundError",
    "SyncConflictError",
    "Synced",
    "Token",
    "ToolCall",
    "ToolCallsOpenError",
    "ToolOutput",
    "ToolRejected",
    "Turn",
    "TurnAbortedError",
    "UnauthenticatedError",
    "UnavailableError",
    "View",
    "Watch",
    "WrongNextIndexError",
    "__version__",
    "assistant",
    "async_embedded",
    "block",
    "developer",
    "embedded",
    "system",
    "tool_result",
    "user",
    "v1",
    "word",
]
