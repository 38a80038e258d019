"""What the adapters of frameworks share: a sync that an agent's run survives where the compaction in it fails."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from compactord._sync.client.client import Client
from compactord._sync.client.session import Session
from compactord.errors import CompactordError, InvalidRequestError, SyncConflictError, UnavailableError
from compactord.synced import Synced
from compactord.warned import warn

_VALID_ID = re.compile(r"[!-~]{1,128}")


def session_id(conversation: str) -> str:
    """The id of the session of a framework's conversation: the same, where a session can have it."""
    return conversation if _VALID_ID.fullmatch(conversation) else hashlib.sha256(conversation.encode()).hexdigest()


def made_room(client: Client, session: Session, error: Exception) -> bool:
    """Whether an exception of a model's package is a context overflow, and the session is smaller now."""
    status = getattr(error, "status_code", getattr(error, "code", None))
    asked = client.classify_error(
        str(error), http_status=status if isinstance(status, int) else 0, session_id=session.id
    )
    return asked.overflow and bool(session.compact(reason="overflow"))


def synced(session: Session, messages: Iterable[Any], *, system: object = None) -> Synced:
    """Bring the session in line with a framework's list, and compact where that is due.

    Where the compaction fails, the run goes on with what is not compacted, and a :class:`compactord.CompactordWarning`
    says why. The daemon does not try again at once: after some failures it waits longer and longer.

    Raises:
        CompactordError: No daemon answers, it does not take the list, or another process has written to the session.
    """
    listed = list(messages)
    try:
        return session.sync(listed, system=system)
    except (InvalidRequestError, SyncConflictError, UnavailableError):
        raise
    except CompactordError as error:
        made = session.sync(listed, system=system, compact=False)
        warn(f"the session could not be compacted: {error}")
        return made


async def synced_on_thread(session: Session, messages: Iterable[Any], *, system: object = None) -> Synced:
    """Do the same for a program that uses asyncio, in whichever event loop: a thread waits for the daemon.

    Where the task is cancelled, so is the compaction.
    """
    try:
        return await asyncio.to_thread(synced, session, messages, system=system)
    except asyncio.CancelledError:
        with suppress(CompactordError):
            await asyncio.to_thread(session.cancel_compaction)
        raise
