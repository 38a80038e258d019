"""The tools for an agent's model: definitions, calls and results."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, cast

from compactord import v1
from compactord.texts import model_text

RECALL = "recall_content"
SEARCH = "search_messages"
DMAIL = "send_dmail"
FOLD = "fold_since"


@dataclass(frozen=True)
class ToolCall:
    """A tool call of the model.

    Attributes:
        id: The call's id, as views show it.
        name: The tool's name.
        arguments: The arguments as the model wrote them. Usually JSON, but models make mistakes.
        index: The index in the log of the message that holds the call.
    """

    id: str
    name: str
    arguments: str
    index: int

    def json(self) -> Any:
        """Parse the arguments.

        Returns:
            The parsed arguments; an empty dict where there are none.

        Raises:
            ValueError: The arguments are not JSON.
        """
        return json.loads(self.arguments) if self.arguments.strip() else {}


@dataclass(frozen=True)
class ToolOutput:
    """The result of a tool.

    Attributes:
        text: The text of the result.
        is_error: Whether the tool failed.
        files: Files that the tool read or changed, for the file lists of summaries.
    """

    text: str
    is_error: bool = False
    files: Sequence[v1.FileTouch] = ()


class ToolRejected(Exception):
    """`run_tool` raises it where the user did not allow the call.

    The model gets a result that says so. The turn ends after the step, unless the user gave feedback for the model.
    """

    def __init__(self, feedback: str = "") -> None:
        """Make the exception.

        Args:
            feedback: The user's text for the model; empty where there is none.
        """
        super().__init__(feedback or "The user rejected this call.")
        self.feedback = feedback

    def output(self) -> ToolOutput:
        """Make the result that tells the model that the call was rejected."""
        if self.feedback:
            return ToolOutput(model_text("rejected_with_feedback", feedback=self.feedback), is_error=True)
        return ToolOutput(model_text("rejected"), is_error=True)


@dataclass(frozen=True)
class Mail:
    """A message that the model sends to itself at an earlier checkpoint.

    Attributes:
        message: The message.
        checkpoint_id: The checkpoint to go back to.
    """

    message: str
    checkpoint_id: int


def calls_of(index: int, parts: Iterable[v1.Part]) -> list[ToolCall]:
    """Find the tool calls in a model's answer.

    Args:
        index: The answer's index in the log.
        parts: All its parts.

    Returns:
        The calls in order. A call without an id gets the id that views show.
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
    """Make the definitions of tools in the shape of a provider's request.

    Args:
        names: The tools: `recall_content`, `search_messages`, `send_dmail`, `fold_since`.
        dialect: `openai_chat`, `openai_responses`, `anthropic` or `gemini`; None: name, description and parameters,
            with the parameters as a JSON Schema.

    Returns:
        Elements for the request's `tools`. A new list each time.

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
            raise ValueError(f"dialect {dialect!r} is unknown: use openai_chat, openai_responses, anthropic or gemini")


def _definition(name: str) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(_sources()[name]))


@cache
def _sources() -> Mapping[str, str]:
    """The definitions as JSON, so that no caller can change the definition of another."""
    text = resources.files("compactord").joinpath("tools.json").read_text(encoding="utf-8")
    return {tool["name"]: json.dumps(tool) for tool in json.loads(text)}


class ArgumentError(ValueError):
    """The arguments of a call are wrong. The text is for the model that wrote them."""

    def __init__(self, text: str, /, **values: object) -> None:
        """Make the exception.

        Args:
            text: The name of its text in ``texts.json``.
            values: The values for its placeholders.
        """
        super().__init__(model_text(text, **values))


class Arguments:
    """The arguments of a call that match the tool's definition.

    Empty values count as not given: some models write all parameters, with empty values for those that they do not use.
    """

    def __init__(self, call: ToolCall) -> None:
        """Check the arguments.

        Args:
            call: The call.

        Raises:
            ArgumentError: The arguments are not a JSON object, or do not match the definition.
        """
        schema = cast("dict[str, Any]", _definition(call.name)["parameters"])
        known = cast("dict[str, dict[str, Any]]", schema["properties"])
        given = _object(call.arguments)
        unknown = [_shown(name) for name in given if name not in known]
        if unknown:
            raise ArgumentError("argument_unknown", name=min(unknown), names=", ".join(known))
        self._values: dict[str, Any] = {
            name: _checked(name, parameter, given[name])
            for name, parameter in known.items()
            if given.get(name) not in (None, "")
        }
        missing = [name for name in schema.get("required", ()) if _is_blank(self._values.get(name))]
        if missing:
            raise ArgumentError("arguments_missing", names=", ".join(missing))

    def text(self, name: str) -> str:
        """Return a text; empty where it is not given."""
        return cast(str, self._values.get(name, ""))

    def trimmed(self, name: str) -> str:
        """Return a text without white space around it."""
        return self.text(name).strip(_WHITE)

    def flag(self, name: str) -> bool:
        """Return a truth value; False where it is not given."""
        return cast(bool, self._values.get(name, False))

    def number(self, name: str) -> int | None:
        """Return a whole number; None where it is not given."""
        return cast("int | None", self._values.get(name))


_WHITE = " \t\n\r\v\f"


def _object(arguments: str) -> dict[str, Any]:
    """Parse arguments; blank ones are an empty object."""
    parsed: object
    try:
        parsed = json.loads(arguments, parse_constant=_refuse) if arguments.strip(_WHITE) else {}
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise ArgumentError("arguments_no_object")
    return cast("dict[str, Any]", parsed)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _shown(name: str) -> str:
    """Return what the model wrote as a name, as printable ASCII."""
    return "".join(char if " " <= char <= "~" else "?" for char in name[:64])


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip(_WHITE))


def _checked(name: str, parameter: Mapping[str, Any], value: object) -> object:
    """Return a value of the parameter's type."""
    match parameter["type"]:
        case "string":
            if not isinstance(value, str) or _SURROGATE.search(value):
                raise ArgumentError("argument_no_text", name=name)
        case "boolean":
            if not isinstance(value, bool):
                raise ArgumentError("argument_no_flag", name=name)
        case _:
            lowest, highest = parameter["minimum"], parameter.get("maximum", 2**32 - 1)
            # Some models write every number with a fraction.
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= highest:
                raise ArgumentError("argument_no_number", name=name, lowest=lowest, highest=highest)
    return value


_SURROGATE = re.compile("[\ud800-\udfff]")
