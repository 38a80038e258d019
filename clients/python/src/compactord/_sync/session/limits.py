# Generated from src/compactord/_async/session/limits.py by scripts/unasync.py. Do not edit.
"""Whether what a provider's error says of its model contradicts the policy of a session."""

from __future__ import annotations

from compactord import v1
from compactord._sync.wire.calls import Calls
from compactord.errors import CompactordError
from compactord.warned import contradicted, warn


def warned_of_limit(
    calls: Calls, session_id: str, verdict: v1.ClassifyErrorResponse, timeout: float | None = None
) -> str:
    """Warn where the limit in the text of an overflow is below the session's context window.

    Returns:
        The warning; empty where there is nothing to warn of, or the daemon does not answer.
    """
    if not verdict.overflow or not verdict.HasField("limit_tokens"):
        return ""
    request = v1.GetSessionRequest(session_id=session_id)
    try:
        held = (calls.unary(calls.sessions.GetSession, request, timeout)).session.policy
    except CompactordError:
        # The caller asked about another error, which must not be hidden by this one.
        return ""
    text = contradicted(held, verdict.limit_tokens)
    warn(text)
    return text
