"""What programs are warned of: results say it in ``warnings``, and Python warns of it, too."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable

from compactord import v1

UNBOUNDED_TOKENS = 32_000
"""The tokens above which a session without a context window deserves a warning."""


class CompactordWarning(UserWarning):
    """What works, but is probably not meant: results say it in ``warnings``, too."""


def warn(text: str) -> None:
    """Warn of this in the program's line that has called the package. An empty text is no warning."""
    if not text:
        return
    level, frame = 1, inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("compactord."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, CompactordWarning, stacklevel=level)


def of_policy(found: Iterable[v1.PolicyWarning]) -> tuple[str, ...]:
    """Warn of what the daemon finds in a policy that is probably not meant, and return it in sentences."""
    texts = tuple(f"{one.field}: {one.text}" for one in found)
    for text in texts:
        warn(text)
    return texts


def fallback(cause: str) -> str:
    """What to say of a summary that the policy's fallback has written; empty where it has not."""
    return f"the policy's fallback wrote the summary, in place of its summarizer: {cause}" if cause else ""


def unbounded(report: v1.ContextReport | None) -> str:
    """What to say of a session that has no context window and grows; empty where it has one, or is small."""
    if report is None or v1.BlockedBy.BLOCKED_BY_WINDOW_UNKNOWN not in report.blocked_by:
        return ""
    if report.tokens <= UNBOUNDED_TOKENS:
        return ""
    return (
        f"the session has more than {UNBOUNDED_TOKENS:,} tokens and no context window, so no compaction comes due: set "
        f"it, such as session.update(context_window=200_000)"
    )


def windowless(report: v1.ContextReport) -> str:
    """What to say of a conversation that has no context window, while it is small; empty where it has one.

    Above :data:`UNBOUNDED_TOKENS`, it is :func:`unbounded` that says it.
    """
    if v1.BlockedBy.BLOCKED_BY_WINDOW_UNKNOWN not in report.blocked_by or unbounded(report):
        return ""
    return (
        "the policy of the session has no context window, so no compaction comes due: give the model's, such as "
        'policy={"context_window": 200_000}'
    )


def forgotten(session_id: str, put_aside: int, known: int) -> str:
    """What to say of a list that has nothing of a session but its instructions; empty where it has.

    Args:
        session_id: The session.
        put_aside: How many messages the list has put aside. One alone may be a question that nobody answered.
        known: How many elements of the list the session had, without the instructions.
    """
    if known > 0 or put_aside < 2:
        return ""
    return (
        f"the list has nothing of the messages that session {session_id} held, so they are put aside: if that is not "
        "meant, give each run the whole history, and keep it where a restart does not lose it"
    )


def contradicted(policy: v1.Policy, limit: int) -> str:
    """What to say of a policy whose model accepts ``limit`` tokens, as its provider says; empty where they agree."""
    known = [tokens for tokens in (policy.context_window, policy.max_input_tokens) if tokens]
    if known and min(known) <= limit:
        return ""
    held = f"the policy's context window is {min(known):,}" if known else "the policy has no context window"
    return (
        f"the model accepts {limit:,} tokens, as its provider's error says, and {held}, so compactions come too late: "
        f"session.update(context_window={limit:_}) mends it"
    )
