"""The words for the contract's enums: what comes out is what goes in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

import compactord
from compactord import v1, words

ENUMS = sorted(name for name in dir(v1) if isinstance(getattr(v1, name), EnumTypeWrapper))


def test_there_are_enums() -> None:
    assert {"Role", "MessageState", "StopReason", "RecordKind", "SkipReason", "ContentKind"} <= {*ENUMS}


@pytest.mark.parametrize("name", ENUMS)
def test_each_value_of_each_enum_has_a_word_of_its_own(name: str) -> None:
    enum = getattr(v1, name)
    said = [compactord.word(enum, value) for value in enum.values()]
    assert said[0] == ""
    assert all(word and word == word.lower() and word != "unknown" for word in said[1:])
    assert len({*said}) == len(said)
    # Nothing of the enum's name is left.
    assert not [word for word in said if "unspecified" in word or word.startswith(f"{name.lower()}_")]
    assert compactord.word(enum, 9_999) == "unknown"


TAKEN: list[tuple[Any, Callable[[Any], Any]]] = [
    (v1.Dialect, words.dialect),
    (v1.Estimator, words.estimator),
    (v1.CompactionReason, words.reason),
    (v1.ThinkingPolicy, words.thinking),
    (v1.MessageListing, words.listing),
    (v1.SessionOrder, words.order),
    (v1.StopReason, words.stop_reason),
    (v1.BlockPlace, words.place),
    (v1.ChildrenOnDelete, words.children_on_delete),
    (v1.Role, lambda word: words.roles([word])[0]),
    (v1.MessageState, lambda word: words.states([word])[0]),
    (v1.RecordKind, lambda word: words.record_kinds([word])[0]),
]


@pytest.mark.parametrize(("enum", "taken"), TAKEN, ids=[enum.DESCRIPTOR.name for enum, _ in TAKEN])
def test_the_words_that_come_out_are_those_that_go_in(enum: Any, taken: Callable[[Any], Any]) -> None:
    for value in enum.values()[1:]:
        assert taken(compactord.word(enum, value)) == value
