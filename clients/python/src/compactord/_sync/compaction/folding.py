# Generated from src/compactord/_async/compaction/folding.py by scripts/unasync.py. Do not edit.
"""Folding finished work of a session into one text."""

from __future__ import annotations

from compactord import v1
from compactord._sync.compaction.syncing import SessionSync
from compactord.arguments import checked_arguments
from compactord.results import CompactionResult


@checked_arguments
class SessionFolds(SessionSync):
    """The part of a session that folds a finished sub-task where it stands."""

    def fold(
        self,
        start: int | None = None,
        end: int | None = None,
        *,
        checkpoint: int | None = None,
        text: str = "",
        focus: str = "",
        dry_run: bool = False,
        abort_running: bool = True,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> CompactionResult:
        """Fold messages into one text: views show it where the messages stood, with the way to recall them.

        The messages are whole turns, or whole tool groups within one turn; where the range begins or ends within a tool
        group, that group is left out. The log keeps them, a later compaction reads them as they are there, and
        ``revert(undo=True)`` shows them again. It is a compaction: progress, interrupts and errors are those of
        :meth:`compact`. For its events one by one, and to cancel it, pass the range as ``fold`` to
        :meth:`compacting`.

        Args:
            start: The index of the first message.
            end: The index after the last message. Default: the end of the log, without calls that wait for results.
            checkpoint: In place of ``start``: the first message after this checkpoint.
            text: The text that views show. Default: the summarizer writes it.
            focus: What the summarizer must pay attention to.
            dry_run: Whether to make only the plan, which is ``planned`` of the result.
            abort_running: Whether to abort the running turn of this session object first.
            request_id: Makes the call safe to repeat. Default: a new one.
            timeout: The timeout in seconds. Default: the client's for compactions.

        Returns:
            The result; true where something was folded. ``prune`` has the edits.

        Raises:
            ConflictError: ``PLAN_INVALID``: The range begins within one turn and ends within another, has a pinned
                message, or divides what is folded already.
            NotFoundError: ``CHECKPOINT_NOT_FOUND``: The checkpoint does not exist.
            CompactordError: ``CHECKPOINT_PUT_ASIDE``: A revert to an earlier point put the checkpoint aside.
            ValueError: Neither or both of ``start`` and ``checkpoint`` were given.
        """
        if (start is None) == (checkpoint is None):
            raise ValueError("fold: give either start or checkpoint")
        fold = v1.FoldRange(end=end, text=text)
        if start is not None:
            fold.start = start
        elif checkpoint is not None:
            fold.checkpoint_id = checkpoint
        return self.compact(
            focus=focus,
            dry_run=dry_run,
            fold=fold,
            abort_running=abort_running,
            request_id=request_id,
            timeout=timeout,
        )
