# Generated from src/compactord/_async/agent_tools.py by scripts/unasync.py. Do not edit.
"""Tools for the agent's model: read and search content that views hide, go back to a checkpoint, and fold from one."""

from __future__ import annotations

from typing import Any

from compactord import v1
from compactord._sync.compaction.folding import SessionFolds
from compactord._sync.turn.runtime import Lock
from compactord.errors import CompactordError, is_outage
from compactord.recalled import content_text, hits_text
from compactord.results import CompactionResult
from compactord.texts import model_text
from compactord.tools import (
    DMAIL,
    FOLD,
    RECALL,
    SEARCH,
    ArgumentError,
    Arguments,
    Mail,
    ToolCall,
    ToolOutput,
    definitions,
)
from compactord.words import Dialect

_RECALL_BYTES = 16 * 1024
_CONTEXT_LINES = 2
_HITS = 20
_PAGE = 1_000
_NOT_DONE = {RECALL: "not_recalled", SEARCH: "not_searched", DMAIL: "mail_not_sent", FOLD: "not_folded"}


class AgentTools:
    """Tools for the model of an agent, and their implementation.

    - ``recall_content`` reads content of the log word for word, also content that the view does not show.
    - ``search_messages`` searches all of the log. Both tools also reach the logs of the session's children.
    - ``send_dmail`` takes the conversation back to an announced checkpoint and adds a message there. ``run_turn``
      delivers it after the step, unless a tool call of the step was rejected. Off by default.
    - ``fold_since`` folds what was done since an announced checkpoint into the model's own text. D-Mail goes back and
      forgets what was done; this keeps it done, and shows the result alone. Off by default.

    No compaction hides results of tools with the first two names.

    Attributes:
        dmail: Whether the model has ``send_dmail``.
        fold: Whether the model has ``fold_since``.
    """

    def __init__(
        self,
        session: SessionFolds,
        *,
        recall: bool = True,
        search: bool = True,
        dmail: bool = False,
        fold: bool = False,
    ) -> None:
        """Make the tools for a session.

        Args:
            session: The session that the tools read. They never read others than its children.
            recall: Whether to offer ``recall_content``.
            search: Whether to offer ``search_messages``.
            dmail: Whether to offer ``send_dmail``.
            fold: Whether to offer ``fold_since``.
        """
        self.dmail = dmail
        self.fold = fold
        self._session = session
        self._fold_lock = Lock()
        self._mail_lock = Lock()
        self._mail: Mail | None = None
        offered = {RECALL: recall, SEARCH: search, DMAIL: dmail, FOLD: fold}
        self._names = tuple(name for name, wanted in offered.items() if wanted)

    @property
    def name_checkpoints(self) -> bool:
        """Whether a tool takes the number of a checkpoint. A turn then announces one before each step."""
        return self.dmail or self.fold

    def definitions(self, dialect: Dialect | None = None) -> list[dict[str, Any]]:
        """Make the definitions of the tools for a provider's request.

        Args:
            dialect: The provider's shape. Default: the session's. Without a dialect: name, description and parameters.

        Returns:
            Elements for the request's ``tools``, to be added to the agent's own. A new list each time.
        """
        return definitions(self._names, dialect or self._session.dialect)

    def handle(self, call: ToolCall) -> ToolOutput | None:
        """Execute a call.

        Args:
            call: The call.

        Returns:
            The result; None where the call is of another tool. For wrong arguments, and where the daemon refuses the
            call, it is an error text for the model. The texts are the same in the clients for all languages.

        Raises:
            CompactordError: The call failed for a reason that the model cannot mend, such as a daemon that cannot be
                reached.
        """
        if call.name not in self._names:
            return None
        try:
            match call.name:
                case "recall_content":
                    return self._recall(Arguments(call))
                case "search_messages":
                    return self._search(Arguments(call))
                case "fold_since":
                    return self._fold_since(Arguments(call))
                case _:
                    # Of two calls in one step the second finds the first pending.
                    with self._mail_lock:
                        return self._send_dmail(call)
        except ArgumentError as error:
            return _failed(call.name, str(error))
        except CompactordError as error:
            if is_outage(error):
                raise
            return _failed(call.name, error.message)

    def take_mail(self) -> Mail | None:
        """Return and forget the message that waits to be delivered; None where there is none."""
        mail, self._mail = self._mail, None
        return mail

    def discard_mail(self) -> None:
        """Forget the message that waits to be delivered."""
        self._mail = None

    def _recall(self, arguments: Arguments) -> ToolOutput:
        match, first_line = arguments.text("match"), arguments.number("first_line")
        line_count, first_byte = arguments.number("line_count"), arguments.number("first_byte")
        if first_byte is not None and (match or first_line is not None or line_count is not None):
            raise ArgumentError("bytes_or_lines")
        if match and line_count is not None:
            raise ArgumentError("count_or_match")
        context = arguments.number("context_lines")
        answer = self._session.recall(
            arguments.text("reference"),
            offset=first_byte,
            first_line=first_line,
            line_count=line_count,
            match=match or None,
            ignore_case=arguments.flag("ignore_case"),
            context_lines=_CONTEXT_LINES if context is None else context,
            max_bytes=arguments.number("max_bytes") or _RECALL_BYTES,
        )
        return ToolOutput(content_text(answer, by_bytes=first_byte is not None, match=match))

    def _search(self, arguments: Arguments) -> ToolOutput:
        words, pattern = arguments.text("words"), arguments.text("pattern")
        if bool(words) == bool(pattern):
            raise ArgumentError("words_or_pattern")
        limit, skip = arguments.number("limit") or _HITS, arguments.number("skip") or 0
        hits: list[v1.SearchHit] = []
        passed = 0
        more = False
        for hit in self._session.search(
            words or None,
            pattern=pattern or None,
            newest_first=arguments.flag("newest_first"),
            include_children=True,
            page_size=min(skip + limit + 1, _PAGE),
        ):
            if passed < skip:
                passed += 1
            elif len(hits) == limit:
                more = True
                break
            else:
                hits.append(hit)
        return ToolOutput(hits_text(hits, skipped=skip, more=more))

    def _fold_since(self, arguments: Arguments) -> ToolOutput:
        result, checkpoint_id = arguments.trimmed("result"), arguments.number("checkpoint_id") or 0
        # The calls of one step run at the same time, and a session has one compaction at a time.
        with self._fold_lock:
            try:
                folded = self._session.fold(checkpoint=checkpoint_id, text=result, abort_running=False)
            except CompactordError as error:
                if error.reason == "CHECKPOINT_NOT_FOUND":
                    last = error.metadata.get("last_checkpoint", 0)
                    told = model_text("fold_from_unknown", checkpoint=checkpoint_id, last=last)
                elif error.reason == "CHECKPOINT_PUT_ASIDE":
                    told = model_text("fold_from_put_aside", checkpoint=checkpoint_id)
                else:
                    raise
                return ToolOutput(told, is_error=True)
        return _fold_output(folded, checkpoint_id)

    def _send_dmail(self, call: ToolCall) -> ToolOutput:
        if self._mail is not None:
            return ToolOutput(model_text("mail_pending"), is_error=True)
        arguments = Arguments(call)
        mail = Mail(arguments.trimmed("message"), arguments.number("checkpoint_id") or 0)
        wrong = self._wrong_checkpoint(mail.checkpoint_id)
        if wrong:
            return ToolOutput(wrong, is_error=True)
        self._mail = mail
        return ToolOutput(model_text("mail_sent"))

    def _wrong_checkpoint(self, checkpoint_id: int) -> str:
        """Return the text that says why the checkpoint cannot be used; empty where it can."""
        last = 0
        for listed in self._session.checkpoints():
            last = listed.checkpoint.id
            if last == checkpoint_id:
                return model_text("mail_to_put_aside", checkpoint=checkpoint_id) if listed.put_aside else ""
        return model_text("mail_to_unknown", checkpoint=checkpoint_id, last=last)


def _failed(tool: str, why: str) -> ToolOutput:
    """Make the result of a call that was not executed."""
    return ToolOutput(model_text(_NOT_DONE[tool], why=why), is_error=True)


def _fold_output(folded: CompactionResult, checkpoint_id: int) -> ToolOutput:
    """Make the result of a fold that did not fail."""
    if folded.prune is not None:
        first = folded.prune.edits[0]
        return ToolOutput(model_text("folded", first=first.fold_start, last=first.fold_end - 1))
    if folded.reason == "no_gain":
        return ToolOutput(model_text("fold_not_shorter"), is_error=True)
    return ToolOutput(model_text("nothing_folded", checkpoint=checkpoint_id), is_error=True)
