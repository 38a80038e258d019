"""Context blocks, as a program writes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, cast

from compactord import v1, words
from compactord.messages import text_part

BlockContent: TypeAlias = str | v1.Part | Iterable[str | v1.Part]
"""The content of a context block: a text, a part of the contract such as an image, or several of them."""


def block(
    name: str,
    content: BlockContent,
    *,
    place: words.Place | None = None,
    priority: int = 0,
    max_tokens: int | None = None,
    turns: int | None = None,
    operator: bool = False,
) -> v1.ContextBlock:
    """Make a context block: content that views show under a name, in one place, and that is no message.

    Args:
        name: Its name, such as ``"plan"`` or ``"skill:deploy"``.
        content: A text, or parts.
        place: Where views show it: ``"leading"``, after the instructions, for what rarely changes; ``"latest"``, before
            the user's newest message, for what changes often. A change costs the provider's prompt cache what follows.
            Default ``"latest"``.
        priority: Where not all blocks fit, those of the lowest priority are cut first. 0 to 1,000.
        max_tokens: The most tokens that views show of it. Default: no limit.
        turns: The number of turns that it holds, at least 1. Default: until it is replaced or removed.
        operator: Whether views show it as a SYSTEM message. Needs ``"leading"``, text alone, and the policy's
            ``context_blocks.allow_operator``.

    Raises:
        ValueError: The place is unknown, or ``max_tokens`` or ``turns`` is below 1.
        TypeError: The content is neither text nor parts.
    """
    if min(1 if max_tokens is None else max_tokens, 1 if turns is None else turns) < 1:
        raise ValueError("block: max_tokens and turns must be at least 1; leave them out for no limit")
    return v1.ContextBlock(
        name=name,
        parts=_parts(content),
        place=words.place(place),
        priority=priority,
        max_tokens=max_tokens or 0,
        turns=turns or 0,
        operator=operator,
    )


def _parts(content: object) -> list[v1.Part]:
    if isinstance(content, str):
        return [text_part(content)]
    if isinstance(content, v1.Part):
        return [content]
    if isinstance(content, Iterable) and not isinstance(content, bytes):
        return [part for one in cast("Iterable[object]", content) for part in _parts(one)]
    raise TypeError(f"the content of a context block is a text or parts, not a {type(content).__name__}")
