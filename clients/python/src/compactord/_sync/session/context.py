# Generated from src/compactord/_async/session/context.py by scripts/unasync.py. Do not edit.
"""Context blocks and instructions of a session: what views show that is not in the order of the log."""

from __future__ import annotations

from collections.abc import Iterator, Iterable

from compactord import messages, v1, words
from compactord._sync.session.reading import LogReading
from compactord.arguments import checked_arguments, listed
from compactord.blocks import BlockContent, block
from compactord.connection import new_request_id
from compactord.results import ContextChanged


@checked_arguments
class SessionContext(LogReading):
    """The part of a session that sets context blocks and instructions. Each change is a record; nothing is removed."""

    def set_block(
        self,
        name: str,
        content: BlockContent,
        *,
        place: words.Place | None = None,
        priority: int = 0,
        max_tokens: int | None = None,
        turns: int | None = None,
        operator: bool = False,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> ContextChanged:
        """Set a context block: a plan, a memory, a skill. It replaces the block with this name.

        It is no message: views show only its newest value, in one place, and no compaction covers it. Setting a block
        to what it is already writes nothing. The arguments are those of :func:`block`.

        Args:
            name: Its name, such as ``"plan"`` or ``"skill:deploy"``.
            content: A text, or parts.
            place: Where views show it: ``"leading"``, or ``"latest"``, which is the default.
            priority: Where not all blocks fit, those of the lowest priority are cut first.
            max_tokens: The most tokens that views show of it. Default: no limit.
            turns: The number of turns that it holds. Default: until it is replaced or removed.
            operator: Whether views show it as a SYSTEM message, which the policy must allow.
            request_id: Makes the call safe to repeat. Default: a new one.
            timeout: The timeout in seconds. Default: the client's.

        Raises:
            InvalidRequestError: The name or the content is not valid, or the policy does not allow ``operator``.
            CompactordError: ``LIMIT_EXCEEDED``: The session would have too many blocks, or too large ones.
        """
        made = block(
            name,
            content,
            place=place,
            priority=priority,
            max_tokens=max_tokens,
            turns=turns,
            operator=operator,
        )
        return self.update_blocks(made, request_id=request_id, timeout=timeout)

    def remove_block(
        self, *names: str, request_id: str | None = None, timeout: float | None = None
    ) -> ContextChanged:
        """Remove context blocks. A name that no block has is ignored.

        Args:
            names: The names.
            request_id: Makes the call safe to repeat. Default: a new one.
            timeout: The timeout in seconds. Default: the client's.
        """
        return self.update_blocks(remove=names, request_id=request_id, timeout=timeout)

    def update_blocks(
        self,
        *blocks: v1.ContextBlock,
        remove: Iterable[str] = (),
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> ContextChanged:
        """Set and remove several context blocks in one record: all of them or, on any error, none.

        Args:
            blocks: The blocks to set, as :func:`block` makes them.
            remove: The names of the blocks to remove.
            request_id: Makes the call safe to repeat. Default: a new one.
            timeout: The timeout in seconds. Default: the client's.

        Raises:
            InvalidRequestError: A block is not valid, or a name is given twice.
        """
        request = v1.UpdateContextBlocksRequest(
            session_id=self._id, set=blocks, remove=listed("remove", remove), request_id=request_id or new_request_id()
        )
        answer = self._calls.unary(self._calls.sessions.UpdateContextBlocks, request, timeout)
        return _changed(answer)

    def blocks(
        self, *names: str, as_of: int | None = None, timeout: float | None = None
    ) -> Iterator[v1.ContextBlockState]:
        """Iterate over the context blocks in force, whole, in the order in which they were first set.

        Args:
            names: Only these. Default: all.
            as_of: The point at which to look. Default: now. Earlier values can be read so.
            timeout: The timeout of each response in seconds. Default: the client's.
        """
        request = v1.ListContextBlocksRequest(session_id=self._id, as_of=as_of, names=names)
        return self._pages(self._calls.sessions.ListContextBlocks, request, lambda page: page.blocks, timeout)

    def replace_instructions(
        self, *instructions: str | v1.Message, request_id: str | None = None, timeout: float | None = None
    ) -> ContextChanged:
        """Replace the SYSTEM and DEVELOPER messages at the start of views. The old ones stay in the log.

        Views in every dialect show the new ones as their system prompt. Thinking and prompt caches of what follows are
        lost.

        Args:
            instructions: Texts, which are SYSTEM messages, and neutral messages, such as :func:`developer` makes. None:
                views begin without instructions.
            request_id: Makes the call safe to repeat. Default: a new one.
            timeout: The timeout in seconds. Default: the client's.

        Raises:
            InvalidRequestError: One of them is neither a SYSTEM nor a DEVELOPER message.
            CompactordError: ``LIMIT_EXCEEDED``: There are too many of them, or they are too large.
            TypeError: One of them is neither a text nor a neutral message.
        """
        request = v1.ReplaceInstructionsRequest(
            session_id=self._id,
            messages=messages.instructions(instructions),
            request_id=request_id or new_request_id(),
        )
        answer = self._calls.unary(self._calls.sessions.ReplaceInstructions, request, timeout)
        return _changed(answer)


def _changed(answer: v1.UpdateContextBlocksResponse | v1.ReplaceInstructionsResponse) -> ContextChanged:
    return ContextChanged(answer.sequence if answer.HasField("sequence") else None, answer.point, answer.report)
