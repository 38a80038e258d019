"""The loop of a turn: model calls, tool calls and compactions until the model has finished."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from compactord import provider_errors, v1, words
from compactord._async.compaction.compacting import AsyncSessionCompactions
from compactord._async.turn.compactions import OnEvent, WriteSummary
from compactord._async.turn.run import aborted_error
from compactord._async.turn.runtime import Interrupted, ModelAnswerLike
from compactord._async.turn.state import AsyncTurnState, Write
from compactord._async.turn.steps import AsyncTools, AsyncTurnSteps, RunTool
from compactord._async.wire.calls import AsyncCalls
from compactord.answers import StreamedAnswer, appendable
from compactord.errors import CompactordError, HistoryRevertedError
from compactord.turns import Turn
from compactord.view import View
from compactord.words import Thinking

CallModel: TypeAlias = Callable[[View], ModelAnswerLike]
"""Calls the model with a view and returns its answer (see :data:`compactord.AnswerLike`) or its events."""


class AsyncTurnLoop(AsyncTurnSteps):
    """One turn of an agent.

    After an error, the next turn of the session continues where this one stopped.
    """

    def __init__(
        self,
        session: AsyncSessionCompactions,
        calls: AsyncCalls,
        state: AsyncTurnState,
        call_model: CallModel,
        *,
        run_tool: RunTool | None = None,
        tools: AsyncTools | None = None,
        max_steps: int | None = None,
        on_event: OnEvent | None = None,
        summarize_with: WriteSummary | None = None,
        checkpoint_steps: bool = False,
        thinking: Thinking | None = None,
        mark_cache_breakpoints: bool = False,
    ) -> None:
        """Make a turn; ``AsyncSession.run_turn`` describes the arguments."""
        if max_steps is not None and max_steps < 1:
            raise ValueError(f"max_steps: must be at least 1, and is {max_steps}")
        super().__init__(
            session,
            calls,
            state,
            thinking=thinking,
            mark_cache_breakpoints=mark_cache_breakpoints,
            on_event=on_event,
            summarize_with=summarize_with,
            run_tool=run_tool,
            tools=tools,
        )
        self._call_model = call_model
        self._max_steps = max_steps
        self._checkpoint_steps = checkpoint_steps

    async def run(self, messages: Sequence[Any]) -> Turn:
        """Run the turn to its end.

        Args:
            messages: Messages to append first.

        Returns:
            The result of the turn.
        """
        token = self._state.begin(self)
        try:
            await self._begin(messages)
            await self._state.wait_for_compactions(self)
            return await self._loop()
        except Interrupted:
            raise aborted_error() from None
        finally:
            # After an abort, another turn may already use the same tools.
            if self._tools is not None and not self.aborted:
                self._tools.discard_mail()
            self._state.end(self, token)

    async def abort(self) -> bool:
        """Abort the turn, from another task or thread.

        Returns:
            Whether a compaction of the turn was cancelled.
        """
        self.aborted = True
        self._work.interrupt()
        compaction = self._compaction
        if compaction is not None:
            compaction.cancel()
        async with self._state.changed:
            self._state.changed.notify_all()
        async with self._write_lock:
            self._state.forget()
            if self._tools is not None:
                self._tools.discard_mail()
        return compaction is not None

    async def _begin(self, messages: Sequence[Any]) -> None:
        """Append the messages that an earlier turn could not append, then the new ones."""
        if messages:
            self._state.queue(tuple(messages))
        await self._drop_reverted()
        for write in tuple(self._state.unsent):
            try:
                await self._write(write)
            except HistoryRevertedError:
                # A revert came after the view of this answer, so the answer is not needed any more.
                if not write.model_answer:
                    raise
        if messages:
            self._state.start_over()

    async def _drop_reverted(self) -> None:
        """Forget the unfinished step of an earlier turn where a revert put its answer aside: its tools must not run."""
        step = self._state.step
        if step is None:
            return
        async for message in self._session.messages(from_index=step.answer.index):
            if message.state == v1.MessageState.MESSAGE_STATE_PUT_ASIDE:
                self._state.forget_step()
            return

    async def _loop(self) -> Turn:
        while True:
            step = self._state.step
            if step is not None:
                turn = await self._finish(step)
                if turn is not None:
                    return turn
            if self._steps == self._max_steps:
                return self._turn(done=False)
            await self._compact_if_due()
            await self._prepare()
            await self._ask()

    async def _ask(self) -> None:
        """Call the model once and append its answer."""
        self._check()
        view = await self._draw()
        self._report = view.report
        streamed = StreamedAnswer(words.dialect(self._session.dialect))
        try:
            answer = await self._work.model(lambda: self._call_model(view), streamed.add)
        except CompactordError:
            self._check()
            raise
        except Exception as error:
            self._check()
            why = await self._overflow_rule(error)
            if why is None:
                raise
            await self._compact_after_overflow(error, why)
            return
        said = streamed.whole() if answer is None else appendable(answer)
        await self._write(Write((said,), view=view, model_answer=True))

    async def _overflow_rule(self, error: Exception) -> str | None:
        """Ask the daemon whether an exception of the provider's package is an overflow.

        Returns:
            The rule that found it; None where it is no overflow, or the daemon cannot be reached.
        """
        request = v1.ClassifyErrorRequest(
            error_text=provider_errors.text(error),
            http_status=provider_errors.http_status(error),
            session_id=self._session.id,
        )
        try:
            verdict = await self._calls.unary(self._calls.compactions.ClassifyError, request)
        except CompactordError:
            # The caller must see the provider's error. The next call reports that the daemon cannot be reached.
            return None
        return verdict.why if verdict.overflow else None

    async def _prepare(self) -> None:
        """Append the announcements that wait, and make the checkpoint of the step."""
        async with self._write_lock:
            self._check()
            if not self._unfinished():
                self._report = await self._state.append_announcements(self._session) or self._report
            mail = self._tools is not None and self._tools.dmail
            if (mail or self._checkpoint_steps) and not self._unfinished():
                self._report = (await self._state.checkpoint(self._session, announce=mail)).report
