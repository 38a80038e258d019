"""What the adapters of frameworks share: a sync that an agent's run survives where the compaction in it fails."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import takewhile
from typing import Any, cast
from weakref import WeakSet

from compactord import v1
from compactord._sync.client.client import Client
from compactord._sync.client.session import Session
from compactord.errors import CompactordError, InvalidRequestError, SyncConflictError, UnavailableError
from compactord.synced import Synced
from compactord.warned import forgotten, warn, windowless

_VALID_ID = re.compile(r"[!-~]{1,128}")
_windowless: WeakSet[Session] = WeakSet()
"""The sessions whose lack of a context window was warned of."""


def session_id(conversation: str) -> str:
    """The id of the session of a framework's conversation: the same, where a session can have it."""
    return conversation if _VALID_ID.fullmatch(conversation) else hashlib.sha256(conversation.encode()).hexdigest()


def made_room(client: Client, session: Session, error: Exception) -> bool:
    """Whether an exception of a model's package is a context overflow, and the session is smaller now.

    Where the daemon cannot say or do it, a :class:`compactord.CompactordWarning` says why: the caller raises the
    model's exception, which its program knows, and not the daemon's.
    """
    status = getattr(error, "status_code", getattr(error, "code", None))
    try:
        asked = client.classify_error(
            str(error), http_status=status if isinstance(status, int) else 0, session_id=session.id
        )
        return asked.overflow and bool(session.compact(reason="overflow"))
    except CompactordError as failed:
        warn(f"the session could not be made smaller: {failed}")
        return False


def synced(session: Session, messages: Iterable[Any], *, system: object = None) -> Synced:
    """Bring the session in line with a framework's list, and compact where that is due.

    Where the compaction fails, the run goes on with what is not compacted, and a :class:`compactord.CompactordWarning`
    says why. The daemon does not try again at once: after some failures it waits longer and longer. Others say
    that the list has nothing of what the session held, as where its history was forgotten, and once for a session that
    it has no context window.

    Raises:
        CompactordError: No daemon answers, it does not take the list, or another process has written to the session.
    """
    listed = list(messages)
    try:
        made = session.sync(listed, system=system)
    except (InvalidRequestError, SyncConflictError, UnavailableError):
        raise
    except CompactordError as error:
        made = session.sync(listed, system=system, compact=False)
        warn(f"the session could not be compacted: {error}")
    _warn_once_of_no_window(session, made)
    instructions = len(list(takewhile(_instructs, listed)))
    warn(forgotten(session.id, made.put_aside, made.known - instructions))
    return made


def _warn_once_of_no_window(session: Session, made: Synced) -> None:
    text = "" if session in _windowless else windowless(made.report)
    if text:
        _windowless.add(session)
    warn(text)


def _instructs(element: Any) -> bool:
    """Whether an element of a list is an instruction, in the neutral shape or in one of OpenAI's."""
    is_dict = isinstance(element, Mapping)
    role = cast("Mapping[str, Any]", element).get("role") if is_dict else getattr(element, "role", None)
    return role in (v1.Role.ROLE_SYSTEM, v1.Role.ROLE_DEVELOPER, "system", "developer")


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
