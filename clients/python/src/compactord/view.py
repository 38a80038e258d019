"""The view of a session, and joining its deltas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from compactord import v1
from compactord.errors import internal
from compactord.words import Dialect, dialect_name


@dataclass(frozen=True)
class View:
    """The messages that the model needs to go on. A view does not change after it was fetched.

    Attributes:
        dialect: The provider's shape; None where the messages are neutral.
        token: The view token. The append of an answer that was made from the view sends it.
        report: How full the context is, and whether to compact.
        view_report: How the daemon made the view.
        messages_sent: How many messages the daemon sent for this view: only new ones.
        complete: Whether all pages were joined. True for every view that a session returns.
    """

    dialect: Dialect | None
    token: str = ""
    report: v1.ContextReport = field(default_factory=v1.ContextReport, repr=False)
    view_report: v1.ViewReport = field(default_factory=v1.ViewReport, repr=False)
    messages_sent: int = 0
    complete: bool = False
    _raw: tuple[str, ...] = field(default=(), repr=False)
    _neutral: tuple[v1.ViewMessage, ...] = field(default=(), repr=False)
    _system: tuple[str, ...] = field(default=(), repr=False)

    @property
    def messages(self) -> list[Any]:
        """The messages: dicts in the provider's shape, or without a dialect :class:`compactord.v1.ViewMessage`.

        Each access makes them anew: what you change in them changes no view. So keep the list for a loop, and take
        :attr:`messages_json` to count them. Use :attr:`messages_json`, too, where a number such as ``1.0`` must keep
        all its digits.
        """
        return [json.loads(raw) for raw in self._raw] if self.dialect else [_copy(message) for message in self._neutral]

    @property
    def messages_json(self) -> list[str]:
        """The messages as the daemon wrote them, byte for byte; empty without a dialect."""
        return list(self._raw)

    @property
    def system(self) -> list[Any]:
        """The system prompt, for providers that have it apart from the messages.

        Anthropic's blocks, Gemini's one content, or the one text of OpenAI Responses. Made anew at each access.
        """
        return [json.loads(raw) for raw in self._system]

    @property
    def system_json(self) -> list[str]:
        """The system prompt as the daemon wrote it, byte for byte."""
        return list(self._system)

    @property
    def disable_thinking(self) -> bool:
        """Whether the open tool loop lost its thinking, so that a request with a budget for thinking would be refused.

        :meth:`request` then turns off thinking that is ``"enabled"``.
        """
        return self.view_report.disable_thinking

    def request(self, **own: Any) -> dict[str, Any]:
        """Make a provider's request of the view, for use with ``**``.

        Args:
            **own: Your own fields of the request, such as ``model``. Give ``thinking`` here, too: where
                :attr:`disable_thinking` is true, ``{"type": "enabled", ...}`` becomes ``{"type": "disabled"}``. Any
                other ``thinking`` stays as it is, and none is added.

        Returns:
            Your own fields, and those that contain the conversation.
            Chat Completions: ``messages``. Responses: ``input``, and ``instructions`` where there are some. Anthropic:
            ``messages``, and ``system`` where there is one. Gemini: ``contents``, and ``systemInstruction`` where there
            is one.

        Raises:
            ValueError: The view is neutral.
        """
        if self.dialect == "anthropic" and self.disable_thinking and _has_a_budget(own.get("thinking")):
            # Anthropic wants a tool loop to begin with thinking then. With adaptive thinking it does not, and some
            # models refuse a request that turns thinking off.
            own = own | {"thinking": {"type": "disabled"}}
        return own | self._conversation()

    def _conversation(self) -> dict[str, Any]:
        system = self.system
        match self.dialect:
            case "openai_chat":
                return {"messages": self.messages}
            case "openai_responses":
                return ({"instructions": system[0]} if system else {}) | {"input": self.messages}
            case "anthropic":
                return ({"system": system} if system else {}) | {"messages": self.messages}
            case "gemini":
                return ({"systemInstruction": system[0]} if system else {}) | {"contents": self.messages}
            case None:
                raise ValueError("the view is neutral, which no provider accepts: open the session with a dialect")

    def joined(self, page: v1.GetLLMViewResponse, *, sent_before: int = 0) -> View:
        """Join a page to this view.

        Args:
            page: The page, which was requested with this view's token.
            sent_before: How many messages the pages before it had.

        Raises:
            CompactordError: ``INTERNAL``: The page does not belong to this view.
        """
        held = len(self._raw) if self.dialect else len(self._neutral)
        if page.unchanged_prefix > held:
            raise internal(f"the view has {held} messages, but the daemon continues after {page.unchanged_prefix}")
        prefix = page.unchanged_prefix
        return View(
            dialect=self.dialect,
            token=page.view_token,
            report=page.report,
            view_report=page.view_report,
            messages_sent=sent_before + len(page.messages) + len(page.messages_json),
            complete=not page.has_more,
            _raw=self._raw[:prefix] + tuple(page.messages_json),
            _neutral=self._neutral[:prefix] + tuple(page.messages),
            _system=tuple(page.system_json),
        )


def empty(dialect: v1.Dialect.ValueType) -> View:
    """Make an empty view."""
    return View(dialect=dialect_name(dialect))


def _has_a_budget(thinking: object) -> bool:
    return isinstance(thinking, Mapping) and cast("Mapping[object, object]", thinking).get("type") == "enabled"


def _copy(message: v1.ViewMessage) -> v1.ViewMessage:
    copied = v1.ViewMessage()
    copied.CopyFrom(message)
    return copied
