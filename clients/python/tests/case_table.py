"""The table of cases for all clients: clients/cases/README.md says what is in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

from google.protobuf import json_format
from google.protobuf.message import Message

import compactord

Json: TypeAlias = dict[str, Any]

_FOLDER = Path(__file__).resolve().parents[2] / "cases"
_LEFT_OUT = frozenset(
    {
        "appended_at",
        "changed_at",
        "created_at",
        "duration",
        "ended_at",
        "has_more",
        "next_page_token",
        "plan_token",
        "set_at",
        "time",
        "view_token",
    }
)
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True)
class Case:
    """A case, and what its steps have to answer."""

    name: str
    dialect: str | None
    steps: Sequence[Json]
    want: Sequence[Json]


def cases() -> list[Case]:
    """All of them."""
    found: list[Case] = []
    for path in sorted(_FOLDER.glob("*.json")):
        if path.name.endswith(".want.json"):
            continue
        want = json.loads(path.with_suffix(".want.json").read_text("utf-8"))
        for case in json.loads(path.read_text("utf-8"))["cases"]:
            found.append(Case(case["name"], case.get("dialect"), case["steps"], want[case["name"]]))
    return found


class Answers:
    """Makes the answers of one case comparable: numbers the daemon's ids in the order in which it sees them."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}

    def comparable(self, answer: Json, without: Iterable[str] = ()) -> Json:
        """An answer as the table has it: without what differs from run to run, and without what is empty at its top."""
        walked: Json = self._walk(answer, _LEFT_OUT | set(without))
        return {key: value for key, value in walked.items() if value}

    def _walk(self, value: Any, without: frozenset[str]) -> Any:
        if isinstance(value, dict):
            fields = cast(Json, value)
            return {key: self._walk(fields[key], without) for key in sorted(fields) if key not in without}
        if isinstance(value, list):
            return [self._walk(item, without) for item in cast("list[object]", value)]
        if isinstance(value, str) and _UUID.fullmatch(value):
            return self._ids.setdefault(value, f"id {len(self._ids) + 1}")
        return value


def as_json(message: Message | None) -> Json:
    """A message as protobuf's JSON with the names of the contract; empty where there is none."""
    if message is None:
        return {}
    written: Json = json_format.MessageToDict(message, preserving_proto_field_name=True)
    return written


def all_json(messages: Iterable[Message]) -> list[Json]:
    """Messages as protobuf's JSON."""
    return [as_json(message) for message in messages]


def failure(error: compactord.CompactordError) -> Json:
    """An error as the table has it: what programs decide by, and not its text."""
    told: Mapping[str, Any] = {
        "code": error.code.name,
        "reason": error.reason,
        "metadata": error.metadata,
        "fields": [violation.field for violation in error.field_violations],
    }
    return {"error": {key: value for key, value in told.items() if value}}
