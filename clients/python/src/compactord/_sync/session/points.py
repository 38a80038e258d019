# Generated from src/compactord/_async/session/points.py by scripts/unasync.py. Do not edit.
"""Checkpoints, reverts and pins of a session."""

from __future__ import annotations

from compactord import v1
from compactord._sync.session.position import Position
from compactord._sync.view import SessionView
from compactord._sync.wire.calls import Calls
from compactord.arguments import checked_arguments
from compactord.connection import new_request_id
from compactord.results import Checkpoint, Pinned, Reverted


@checked_arguments
class Points(SessionView):
    """The part of a session that makes checkpoints, reverts and pins. It removes nothing from the log."""

    def __init__(self, calls: Calls, session_id: str, dialect: v1.Dialect.ValueType) -> None:
        super().__init__(calls, session_id, dialect)
        self._position = Position()

    def _reverted(self) -> None:
        """Called after each revert and clear. A subclass overrides it."""

    def _went_back(self, answer: v1.RevertToCheckpointResponse | v1.ClearSessionResponse) -> None:
        """Called with the answer to each revert and clear of this object. A subclass overrides it."""

    def checkpoint(
        self,
        title: str = "",
        *,
        announce: bool = False,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> Checkpoint:
        """Make a checkpoint at the end of the log, so that a later revert can go back to it.

        Args:
            title: Its title.
            announce: Whether to show the checkpoint's number to the model, so that the model can go back to it.
            request_id: Makes the call safe to repeat. Default: a new one.
            timeout: The timeout in seconds. Default: the client's.

        Raises:
            ToolCallsOpenError: ``announce`` is set and tool calls are open.
        """
        request = v1.CreateCheckpointRequest(
            session_id=self._id, title=title, announce=announce, request_id=request_id or new_request_id()
        )
        answer = self._calls.unary(self._calls.sessions.CreateCheckpoint, request, timeout)
        made = answer.checkpoint
        marker = made.marker_index if made.HasField("marker_index") else None
        if marker is not None:
            self._position.wrote(marker, marker + 1)
        return Checkpoint(made.id, made.point, made.title, marker, answer.report)

    def revert(
        self,
        *,
        to_checkpoint: int | None = None,
        point: int | None = None,
        turns: int | None = None,
        undo: bool = False,
        message_from_future: str = "",
        summarize: bool = False,
        focus: str = "",
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> Reverted:
        """Go back to an earlier point. Nothing is removed: ``undo`` reverts a revert.

        Give exactly one of ``to_checkpoint``, ``point``, ``turns`` and ``undo``.

        Args:
            to_checkpoint: Go back to this checkpoint.
            point: Go to the state just after the message or record with this sequence, even if it is put aside.
            turns: Go back by this number of turns.
            undo: Undo the newest change of the view, or the newest revert.
            message_from_future: A text for the model about the messages that are put aside.
            summarize: Whether to add a summary of the messages that are put aside.
            focus: With ``summarize``: what the summary must pay attention to.
            request_id: Makes the call safe to repeat. Default: a new one.
            timeout: The timeout of all attempts together, in seconds. Default: the client's; with ``summarize`` the
                client's for compactions.

        Raises:
            NotFoundError: ``CHECKPOINT_NOT_FOUND``: The checkpoint does not exist.
            CompactordError: ``CHECKPOINT_PUT_ASIDE``: A revert to an earlier point put the checkpoint aside.
                ``metadata`` has its ``point``.
            CompactordError: ``NOTHING_TO_REVERT``: There are not enough turns, or there is no change to undo.
            ValueError: None or several of the four were given.
        """
        if sum(where is not None for where in (to_checkpoint, point, turns)) + undo != 1:
            raise ValueError("revert: give exactly one of to_checkpoint, point, turns and undo")
        request = v1.RevertToCheckpointRequest(
            session_id=self._id,
            message_from_future=message_from_future,
            summarize=summarize,
            focus=focus,
            request_id=request_id or new_request_id(),
        )
        if to_checkpoint is not None:
            request.checkpoint_id = to_checkpoint
        elif point is not None:
            request.point = point
        elif turns is not None:
            request.turns = turns
        else:
            request.undo = True
        if timeout is None:
            settings = self._calls.settings
            timeout = settings.compaction_timeout if summarize else settings.timeout
        answer = self._calls.resent(self._calls.sessions.RevertToCheckpoint, request, timeout)
        if answer.record.revert.HasField("future_index"):
            future = answer.record.revert.future_index
            self._position.wrote(future, future + 1)
        self._reverted()
        self._went_back(answer)
        return Reverted(
            record=answer.record if answer.HasField("record") else None,
            point=answer.point,
            report=answer.report,
            messages_put_aside=answer.messages_put_aside,
            first_request_put_aside=(
                answer.first_request_put_aside if answer.HasField("first_request_put_aside") else None
            ),
        )

    def clear(self, *, request_id: str | None = None, timeout: float | None = None) -> Reverted:
        """Put all messages aside except the SYSTEM and DEVELOPER messages at the start."""
        request = v1.ClearSessionRequest(session_id=self._id, request_id=request_id or new_request_id())
        answer = self._calls.unary(self._calls.sessions.ClearSession, request, timeout)
        self._reverted()
        self._went_back(answer)
        record = answer.record if answer.HasField("record") else None
        return Reverted(record, answer.point, answer.report, answer.messages_put_aside)

    def pin(self, *indexes: int, request_id: str | None = None, timeout: float | None = None) -> Pinned:
        """Keep messages word for word in every view. The tool group of a message is pinned with it.

        Args:
            indexes: The indexes of the messages, 1 to 1,000.
            request_id: Makes the call safe to repeat. Default: a new one.
            timeout: The timeout in seconds. Default: the client's.

        Raises:
            NotFoundError: ``CONTENT_NOT_FOUND``: The log does not have one of the messages.
            CompactordError: ``MESSAGE_PUT_ASIDE``: A revert put one of the messages aside.
        """
        request = v1.PinMessagesRequest(session_id=self._id, indexes=indexes, request_id=request_id or new_request_id())
        answer = self._calls.unary(self._calls.sessions.PinMessages, request, timeout)
        return Pinned(answer.record if answer.HasField("record") else None, answer.point, answer.report)

    def unpin(self, *indexes: int, request_id: str | None = None, timeout: float | None = None) -> Pinned:
        """Unpin messages, so that they can be covered and edited again. The arguments are those of :meth:`pin`."""
        request = v1.UnpinMessagesRequest(
            session_id=self._id, indexes=indexes, request_id=request_id or new_request_id()
        )
        answer = self._calls.unary(self._calls.sessions.UnpinMessages, request, timeout)
        return Pinned(answer.record if answer.HasField("record") else None, answer.point, answer.report)
