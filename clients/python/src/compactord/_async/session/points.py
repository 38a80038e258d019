"""Points of a session: checkpoints and reverts; and pins."""

from __future__ import annotations

from compactord import v1
from compactord._async.view import AsyncSessionView
from compactord.connection import new_request_id
from compactord.results import Checkpoint, Pinned, Reverted


class AsyncPoints(AsyncSessionView):
    """The part of a session that goes back and forth in its log. It removes nothing."""

    def _taken_back(self) -> None:
        """Take note that the session was taken back. A layer above overrides it."""

    async def checkpoint(
        self,
        title: str = "",
        *,
        announce: bool = False,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> Checkpoint:
        """Name the end of the log, so that a later revert can go back to it.

        Args:
            title: What to call it.
            announce: Whether the model is shown the checkpoint's number, so that it can ask to be sent back there.
            request_id: Makes the call safe to make again. Default: a new one.
            timeout: Seconds that it may take. Default: the client's.

        Raises:
            ToolCallsOpenError: It is to be announced, and calls are open.
        """
        request = v1.CreateCheckpointRequest(
            session_id=self._id, title=title, announce=announce, request_id=request_id or new_request_id()
        )
        answer = await self._calls.unary(self._calls.sessions.CreateCheckpoint, request, timeout)
        made = answer.checkpoint
        marker = made.marker_index if made.HasField("marker_index") else None
        return Checkpoint(made.id, made.point, made.title, marker, answer.report)

    async def revert(
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
        """Go back. Nothing is removed: ``undo`` takes a revert back.

        Args:
            to_checkpoint: To this checkpoint. One of the first four says where to.
            point: To the state just after the message or record with this sequence; also one that was put aside.
            turns: So many turns are taken back.
            undo: The newest change of the view, or the newest revert, is undone.
            message_from_future: Tells the model what it learnt in what is put aside.
            summarize: Whether what is put aside becomes a summary that the model sees.
            focus: With ``summarize``: what the summary is to attend to.
            request_id: Makes the call safe to make again. Default: a new one.
            timeout: Seconds that it may take, repetitions included. Default: the client's, with ``summarize`` that for
                compactions.

        Raises:
            CheckpointNotFoundError: There is no such checkpoint.
            CheckpointPutAsideError: A revert went back to before the checkpoint; the error tells its point.
            NothingToRevertError: There are not so many turns, or there is no change to undo.
            ValueError: Not just one place to go to was given.
        """
        if sum(where is not None for where in (to_checkpoint, point, turns)) + undo != 1:
            raise ValueError("revert: give one of to_checkpoint, point, turns and undo")
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
        answer = await self._calls.resent(self._calls.sessions.RevertToCheckpoint, request, timeout)
        self._taken_back()
        return Reverted(
            record=answer.record if answer.HasField("record") else None,
            point=answer.point,
            report=answer.report,
            messages_put_aside=answer.messages_put_aside,
            first_request_put_aside=(
                answer.first_request_put_aside if answer.HasField("first_request_put_aside") else None
            ),
        )

    async def clear(self, *, request_id: str | None = None, timeout: float | None = None) -> Reverted:
        """Put all aside but the leading messages of system and developer."""
        request = v1.ClearSessionRequest(session_id=self._id, request_id=request_id or new_request_id())
        answer = await self._calls.unary(self._calls.sessions.ClearSession, request, timeout)
        self._taken_back()
        record = answer.record if answer.HasField("record") else None
        return Reverted(record, answer.point, answer.report, answer.messages_put_aside)

    async def pin(self, *indexes: int, request_id: str | None = None, timeout: float | None = None) -> Pinned:
        """Keep messages word for word in every view. Each takes its tool group along.

        Args:
            indexes: The messages, 1 to 1,000.
            request_id: Makes the call safe to make again. Default: a new one.
            timeout: Seconds that it may take. Default: the client's.

        Raises:
            ContentNotFoundError: The log has no such message.
            MessagePutAsideError: A revert put one aside.
        """
        request = v1.PinMessagesRequest(session_id=self._id, indexes=indexes, request_id=request_id or new_request_id())
        answer = await self._calls.unary(self._calls.sessions.PinMessages, request, timeout)
        return Pinned(answer.record if answer.HasField("record") else None, answer.point, answer.report)

    async def unpin(self, *indexes: int, request_id: str | None = None, timeout: float | None = None) -> Pinned:
        """Let messages be covered and edited again. The arguments are those of :meth:`pin`."""
        request = v1.UnpinMessagesRequest(
            session_id=self._id, indexes=indexes, request_id=request_id or new_request_id()
        )
        answer = await self._calls.unary(self._calls.sessions.UnpinMessages, request, timeout)
        return Pinned(answer.record if answer.HasField("record") else None, answer.point, answer.report)
