"""Compacting a list of which the daemon keeps nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from compactord import list_state, lists, v1, words
from compactord import view as views
from compactord._async.wire import runtime
from compactord._async.wire.calls import AsyncCalls
from compactord._async.wire.runtime import Result, resolve
from compactord.connection import limit_of
from compactord.deadlines import Deadline
from compactord.errors import CompactordError, internal
from compactord.list_state import Compacted, ListState
from compactord.lists import ElementList
from compactord.results import CompactionResult, result_of
from compactord.warned import fallback, warn

OnEvent = Callable[[v1.CompactionEvent], Result[object]]


class AsyncListCompactions:
    """The part of a client that compacts lists of which the daemon keeps nothing."""

    _calls: AsyncCalls

    async def compacted(
        self,
        messages: Iterable[Any],
        *,
        dialect: words.Dialect | None = None,
        policy: words.Policy | None = None,
        state: str | None = None,
        system: object = None,
        compact: bool = True,
        focus: str = "",
        on_event: OnEvent | None = None,
        mark_cache_breakpoints: bool = False,
        estimator: words.Estimator | None = None,
        timeout: float | None = None,
    ) -> Compacted:
        """Return a complete list as the model is to see it, compacted where that is due, without a session.

        The daemon keeps nothing: give the complete list each time, and the ``state`` of the last result. The state has
        what was compacted. Where messages that it covers have changed, the list is compacted anew, and ``began_anew``
        says so. Of the SYSTEM and DEVELOPER messages at the start only the number must stay. Another policy goes on
        with the same state.

        Interrupting the call (Ctrl-C, cancelling its task) cancels the compaction.

        Args:
            messages: As for :meth:`AsyncSession.sync`.
            dialect: The provider's shape of the messages. Default: neutral messages.
            policy: When and how to compact. It should have at least ``{"context_window": 200_000}``. Default: the
                daemon's, in which nothing is due without a context window.
            state: The state of the last result. Default, also for "": none yet.
            system: As for :meth:`AsyncSession.sync`, but needed in each call.
            compact: Whether to compact, if that is due. Nothing is done where a compaction cannot help.
            focus: What the summary must pay attention to.
            on_event: Called with each event of the compaction, in order. An exception that it raises cancels it.
            mark_cache_breakpoints: As for :meth:`AsyncSession.view`.
            estimator: How tokens are counted. Default ``"chars4"``.
            timeout: The timeout of the compaction in seconds. Default: the client's for compactions.

        Raises:
            ToolCallsOpenError: Tool calls of the list wait for results.
            InvalidRequestError: The messages or the policy are malformed.
            TypeError: ``messages`` is no list, an element is no object, or the state is no text.
            ValueError: The state is none, or of a list in another dialect; or ``system`` was given in a dialect that
                has the system prompt among the messages.
            CompactordError: The compaction failed. The class depends on the reason.
        """
        shape = words.dialect(dialect)
        one = AsyncListCompaction(
            self._calls,
            lists.listed(messages, shape),
            lists.system_json(system, shape),
            list_state.read(state, shape),
            words.policy(policy),
            words.estimator(estimator),
        )
        return await one.run(
            v1.CompactRequest(focus=focus) if compact else None, on_event, mark_cache_breakpoints, timeout
        )


class AsyncListCompaction:
    """One compaction of a list."""

    def __init__(
        self,
        calls: AsyncCalls,
        listed: ElementList,
        system: list[str],
        state: ListState,
        policy: v1.Policy | None,
        estimator: v1.Estimator.ValueType,
    ) -> None:
        self._calls = calls
        self._listed = listed
        self._system = system
        self._began_anew = not state.fits(listed, len(system))
        self._state = ListState(state.dialect) if self._began_anew else state
        self._policy = policy
        self._estimator = estimator

    async def run(
        self, compact: v1.CompactRequest | None, on_event: OnEvent | None, marks: bool, timeout: float | None
    ) -> Compacted:
        """Fetch the view, compact where it is due, and fetch the view again then."""
        elements = len(self._listed.elements)
        if elements < self._state.elements:
            self._state = self._state.shortened(elements, await self._messages_of(elements))
        request = v1.GetLLMViewRequest(
            history=self._history(), dialect=self._state.dialect, policy=self._policy, mark_cache_breakpoints=marks
        )
        page = await self._calls.unary(self._calls.compactions.GetLLMView, request)
        result: CompactionResult | None = None
        if compact is not None and page.report.should_compact:
            result = await self._compacted(compact, on_event, timeout)
        if result:
            await self._keep(result)
            request.history.CopyFrom(self._history())
            page = await self._calls.unary(self._calls.compactions.GetLLMView, request)
        return Compacted(
            view=views.empty(self._state.dialect).joined(page),
            state=self._state.text(),
            compacted=bool(result),
            began_anew=self._began_anew,
            findings=page.findings,
            compaction_result=result,
        )

    async def _compacted(
        self, request: v1.CompactRequest, on_event: OnEvent | None, timeout: float | None
    ) -> CompactionResult | None:
        """Compact; None where that cannot help."""
        request.history.CopyFrom(self._history())
        request.reason = v1.CompactionReason.COMPACTION_REASON_THRESHOLD
        if self._policy is not None:
            request.policy.CopyFrom(self._policy)
        method = self._calls.compactions.Compact
        deadline = Deadline(limit_of(method, timeout))
        stream = runtime.Stream(method, request, timeout)
        result: CompactionResult | None = None
        try:
            while (response := await stream.read()) is not None:
                result = result_of(response.event) or result
                if on_event is not None:
                    await resolve(on_event(response.event))
        except CompactordError as error:
            if error.reason == "TARGET_UNREACHABLE":
                return None
            raise deadline.classified(error) from None
        finally:
            stream.cancel()
        if result is not None:
            warn(fallback(result.fallback_cause))
        else:
            raise internal("the stream of the compaction ended before its last event")
        return result

    async def _keep(self, result: CompactionResult) -> None:
        """Keep what was committed, with the elements that it is of."""
        state = self._state.after(result)
        covered = await self._elements_before(state.named_messages)
        self._state = state.of(self._listed, len(self._system), covered)

    async def _elements_before(self, messages: int) -> int:
        """How many elements at the start have this many messages. One element can be several messages."""
        few, enough = 0, len(self._listed.elements)
        while few < enough:
            middle = (few + enough) // 2
            if await self._messages_of(middle) < messages:
                few = middle + 1
            else:
                enough = middle
        return enough

    async def _messages_of(self, elements: int) -> int:
        """How many messages the first elements are."""
        if not self._state.dialect:
            return elements
        counted = v1.CountedMessages(provider_json=self._document(elements))
        request = v1.CountTokensRequest(messages=counted)
        return len((await self._calls.unary(self._calls.compactions.CountTokens, request)).messages)

    def _history(self) -> v1.InlineHistory:
        history = v1.InlineHistory(
            compaction=self._state.compaction, prunes=self._state.prunes, estimator=self._estimator
        )
        if self._state.dialect:
            history.provider_json.CopyFrom(self._document(len(self._listed.elements)))
        else:
            history.messages.extend(element.message for element in self._listed.elements)
        return history

    def _document(self, elements: int) -> v1.ProviderJson:
        """The first elements as the body of a request."""
        text = lists.document(self._listed, self._system, elements, self._state.dialect)
        return v1.ProviderJson(dialect=self._state.dialect, json=text)
