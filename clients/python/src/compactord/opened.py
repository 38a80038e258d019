"""The sessions of an adapter: one for each conversation of a framework, of which it keeps a bounded number."""

from __future__ import annotations

import inspect
import threading
from collections import OrderedDict
from typing import TypeVar

from compactord import v1, words
from compactord._sync.client.client import Client
from compactord._sync.client.session import Session
from compactord.errors import SessionExistsError
from compactord.words import Dialect, Policy

T = TypeVar("T")

MOST_OPENED = 1_000
"""How many sessions an adapter keeps. A server has conversations without end, and each session holds its view."""


class OpenedSessions:
    """The sessions that were used last. Another one is opened anew, which costs one complete list. Safe for threads."""

    def __init__(self, client: Client, policy: Policy, *, most: int = MOST_OPENED) -> None:
        """Keep no session yet.

        Args:
            client: The client of a daemon.
            policy: That of the sessions.
            most: How many sessions are kept.

        Raises:
            TypeError: This is another client, such as that for asyncio.
            ValueError: The policy has a field that there is not, or a wrong value.
        """
        self._client = checked(client, Client, "client: must be a compactord.Client")
        self._policy = words.policy(policy) or v1.Policy()
        self._most = most
        self._lock = threading.Lock()
        self._sessions: OrderedDict[tuple[str, Dialect | None], Session] = OrderedDict()

    def get(self, session_id: str, *, dialect: Dialect | None = None) -> Session:
        """The session of an id. It is made where there is none, and gets the policy where it has another one.

        Raises:
            UnavailableError: No daemon answers.
        """
        key = (session_id, dialect)
        with self._lock:
            if key in self._sessions:
                self._sessions.move_to_end(key)
                return self._sessions[key]
        # Without the lock: the others need not wait for the daemon. Who opens it at the same time takes the first one.
        opened = self._opened(session_id, dialect)
        with self._lock:
            kept = self._sessions.setdefault(key, opened)
            self._sessions.move_to_end(key)
            while len(self._sessions) > self._most:
                self._sessions.popitem(last=False)
            return kept

    def _opened(self, session_id: str, dialect: Dialect | None) -> Session:
        try:
            return self._client.open_session(session_id, dialect=dialect, policy=self._policy)
        except SessionExistsError:
            # The program has another policy now, such as for a model with another window.
            opened = self._client.session(session_id, dialect=dialect)
            opened.update(policy=self._policy)
            return opened


def checked(given: object, kind: type[T], wanted: str) -> T:
    """What was given, where it is of a kind.

    Raises:
        TypeError: It is not. The text begins with what is wanted.
    """
    if isinstance(given, kind):
        return given
    if inspect.iscoroutine(given):
        given.close()  # It will never be awaited, of which Python would warn.
    kind_given = type(given).__name__
    blocks = ": the adapter calls it on threads, so an event loop is not blocked" if _awaits(given) else ""
    raise TypeError(f"{wanted}, not of the type {kind_given}{blocks}")


def _awaits(given: object) -> bool:
    """Whether this is of the client for asyncio, which a program with an event loop gives in good faith."""
    return inspect.iscoroutine(given) or type(given).__name__.startswith("Async")
