"""The tools that an agent's model is offered: their definitions, their calls and what they answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, cast

from compactord import v1
from compactord.texts import told

RECALL = "recall_content"
SEARCH = "search_messages"
DMAIL = "send_dmail"


@dataclass(frozen=True)
class ToolCall:
    """A tool that the model wants called.

    Attributes:
        id: The call's id, as views show it.
        name: The tool's name.
        arguments: The arguments as the model wrote them: JSON as a rule, but models err.
        index: The index in the log of the message that holds the call.
    """

    id: str
    name: str
    arguments: str
    index: int

    def json(self) -> Any:
        """Parses the arguments.

        Returns:
            What they say; an empty dict where there are none.

        Raises:
            ValueError: They are no JSON.
        """
        return json.loads(self.arguments) if self.arguments.strip() else {}


@dataclass(frozen=True)
class ToolOutput:
    """What a tool answered.

    Attributes:
        text: The answer.
        is_error: Whether the tool failed.
        files: Files that the tool read or changed, for the file lists of summaries.
    """

    text: str
    is_error: bool = False
    files: Sequence[v1.FileTouch] = ()


class ToolRejected(Exception):
    """Raised by a `run_tool` whose user did not allow the call.

    The model is told so. After the step the turn ends, unless there is feedback for the model to go on with.
    """

    def __init__(self, feedback: str = "") -> None:
        """Makes one.

        Args:
            feedback: What the user said to it; empty where nothing.
        """
        super().__init__(feedback or "The user rejected this call.")
        self.feedback = feedback

    def output(self) -> ToolOutput:
        """Says to the model that the call was rejected."""
        if self.feedback:
            return ToolOutput(told("rejected_with_feedback", feedback=self.feedback), is_error=True)
        return ToolOutput(told("rejected"), is_error=True)


@dataclass(frozen=True)
class Mail:
    """A message that a model sends back to itself.

    Attributes:
        message: The message.
        checkpoint_id: The checkpoint that it goes back to.
    """

    message: str
    checkpoint_id: int


def calls_of(index: int, parts: Iterable[v1.Part]) -> list[ToolCall]:
    """Finds the calls in a model's answer.

    Args:
        index: The answer's index in the log.
        parts: Its parts, all of them.

    Returns:
        The calls in their order. Those without an id have the one that views show.
    """
    return [
        ToolCall(
            id=part.tool_call.id or f"call_{index}_{position}",
            name=part.tool_call.name,
            arguments=part.tool_call.arguments,
            index=index,
        )
        for position, part in enumerate(parts)
        if part.HasField("tool_call")
    ]


def definitions(names: Iterable[str], dialect: str | None = None) -> list[dict[str, Any]]:
    """Defines tools in the shape that a provider's request wants.

    Args:
        names: The tools: `recall_content`, `search_messages`, `send_dmail`.
        dialect: `openai_chat`, `openai_responses`, `anthropic` or `gemini`; None: name, description and parameters,
            where the parameters are a JSON Schema.

    Returns:
        The value for the request's `tools`, or some of it: a new list each time.

    Raises:
        ValueError: The dialect is unknown.
        KeyError: A name is unknown.
    """
    return _shape([_definition(name) for name in names], dialect)


def _shape(tools: list[dict[str, Any]], dialect: str | None) -> list[dict[str, Any]]:
    match dialect:
        case None:
            return tools
        case "openai_chat":
            return [{"type": "function", "function": tool} for tool in tools]
        case "openai_responses":
            return [{"type": "function", **tool} for tool in tools]
        case "anthropic":
            return [
                {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
                for tool in tools
            ]
        case "gemini":
            return [{"functionDeclarations": tools}] if tools else []
        case _:
            raise ValueError(f"dialect {dialect!r} is none of openai_chat, openai_responses, anthropic and gemini")


def _definition(name: str) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(_sources()[name]))


@cache
def _sources() -> Mapping[str, str]:
    """Holds each definition as JSON, so that no caller can change another's."""
    text = resources.files("compactord").joinpath("tools.json").read_text(encoding="utf-8")
    return {tool["name"]: json.dumps(tool) for tool in json.loads(text)}


class ArgumentError(ValueError):
    """What is wrong with a call's arguments, in words for the model that wrote them."""


class Arguments:
    """The arguments of a call, read one by one.

    Every reader raises ArgumentError where the model wrote something else than the definition asks for.
    """

    def __init__(self, call: ToolCall) -> None:
        """Parses them.

        Args:
            call: The call.

        Raises:
            ArgumentError: They are no JSON object, or hold a name that the definition does not have.
        """
        try:
            parsed = call.json()
        except ValueError as error:
            raise ArgumentError("the arguments are no JSON") from error
        if not isinstance(parsed, dict):
            raise ArgumentError("the arguments are no JSON object")
        self._values = cast("dict[str, Any]", parsed)
        self._known = cast("dict[str, dict[str, Any]]", _definition(call.name)["parameters"]["properties"])
        for name in self._values:
            if name not in self._known:
                raise ArgumentError(f"there is no {name[:64]!r}; known are {', '.join(self._known)}")

    def text(self, name: str) -> str:
        """Reads a text; empty where it is not given."""
        value = self._values.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise ArgumentError(f"{name} is to be a text")
        return value

    def flag(self, name: str) -> bool:
        """Reads a yes or no; False where it is not given."""
        value = self._values.get(name)
        if value is None:
            return False
        if not isinstance(value, bool):
            raise ArgumentError(f"{name} is to be true or false")
        return value

    def number(self, name: str) -> int | None:
        """Reads a whole number within the definition's bounds; None where it is not given."""
        value = self._values.get(name)
        if value is None:
            return None
        # Some models write every number with a fraction.
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise ArgumentError(f"{name} is to be a whole number")
        lowest, highest = self._known[name].get("minimum", 0), self._known[name].get("maximum", 2**32 - 1)
        if not lowest <= value <= highest:
            raise ArgumentError(f"{name} is {value}, and is to be from {lowest} to {highest}")
        return value
