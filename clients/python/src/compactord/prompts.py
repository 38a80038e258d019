"""The prompts for the client's own model, and its answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from compactord import v1
from compactord.awaitables import refuse_awaitable


@dataclass(frozen=True)
class Prompt:
    """One request to the client's own model.

    Attributes:
        kind: What to write: ``"HISTORY"``, ``"TURN_PREFIX"`` or ``"OBSERVATION"``.
        system: The system prompt; empty where the agent's own prompt is used.
        text: The complete user message. In a fold it contains the answer to the prompt before.
        max_answer_tokens: The most tokens that the answer may have, by the session's estimator.
        complaint: Why the last answers were refused, as a sentence for the model; empty at the first try.
        view: With ``policy.summary.cached_prefix``: the messages to send before ``text``, as the agent sends them, with
            its system prompt and tools.
    """

    kind: str
    system: str
    text: str
    max_answer_tokens: int
    complaint: str = ""
    view: tuple[v1.ViewMessage, ...] = ()


@dataclass(frozen=True)
class PromptAnswer:
    """An answer of the client's own model.

    Attributes:
        text: The text that the model wrote.
        model: The model, as its provider names it.
        usage: The usage that the provider reported.
        cost_usd: The cost in US dollars.
    """

    text: str
    model: str = ""
    usage: v1.Usage = field(default_factory=v1.Usage)
    cost_usd: float = 0.0


def prompt_of(
    asked: v1.SummaryPrompt, previous_answer: str, complaint: str, view: tuple[v1.ViewMessage, ...]
) -> Prompt:
    """Make a prompt. Where it continues the prompt before, insert the answer to that."""
    continues = asked.HasField("text_before_answer")
    return Prompt(
        kind=v1.SummaryPromptKind.Name(asked.kind).removeprefix("SUMMARY_PROMPT_KIND_"),
        system=asked.system,
        text=asked.text_before_answer + previous_answer + asked.text if continues else asked.text,
        max_answer_tokens=asked.max_answer_tokens,
        complaint=complaint,
        view=view[: asked.view_messages] if asked.HasField("view_messages") else (),
    )


def prompt_answer(given: object) -> PromptAnswer:
    """Return the answer that the caller's function wrote.

    Raises:
        TypeError: It is neither a text nor a :class:`PromptAnswer`.
    """
    refuse_awaitable("write", given)
    answer = PromptAnswer(given) if isinstance(given, str) else given
    if not isinstance(answer, PromptAnswer):
        returned = "None" if answer is None else type(answer).__name__
        raise TypeError(f"write returned {returned}: it must return a str or a PromptAnswer")
    text = cast(object, answer.text)
    if not isinstance(text, str):
        raise TypeError(f"write returned a PromptAnswer whose text is {type(text).__name__}: it must be a str")
    return answer


def add_answer(commit: v1.CommitCompactionRequest, asked: v1.SummaryPrompt, answer: PromptAnswer) -> None:
    """Add an answer to the commit: its usage and cost, and its text where the prompt is final."""
    commit.summarizer_calls += 1
    if asked.final:
        commit.answers.append(answer.text)
    if answer.model:
        commit.model = answer.model
    if answer.cost_usd:
        commit.cost_usd += answer.cost_usd
    usage = answer.usage
    if usage.ByteSize():
        commit.usage.input_tokens += usage.input_tokens
        commit.usage.output_tokens += usage.output_tokens
        commit.usage.cache_read_tokens += usage.cache_read_tokens
        commit.usage.cache_write_tokens += usage.cache_write_tokens
        commit.usage.total_tokens += usage.total_tokens
