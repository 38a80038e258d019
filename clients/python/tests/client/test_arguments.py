"""Callers without a type checker: each wrong argument is refused by its own name, and nothing is sent."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, cast

import pytest

import compactord

WRONG: list[tuple[str, type[Exception], Callable[[Any, Any], Any]]] = [
    ("title: must be a str, not of the type int", TypeError, lambda c, _: c.create_session(title=5)),
    (
        "labels: must be a mapping of str to str, and has an int in it",
        TypeError,
        lambda c, _: c.create_session(labels={"team": 1}),
    ),
    (
        "labels: must be a mapping of str to str, not of the type list",
        TypeError,
        lambda c, _: c.create_session(labels=["team"]),
    ),
    ("timeout: must be a number, not of the type str", TypeError, lambda c, _: type(c)(timeout="3")),
    ("view: must be a View", TypeError, lambda _, s: s.append("Hi.", view="v")),
    ("need the argument dialect", TypeError, lambda c, _: c.compacted([{"role": "user", "content": "Hi."}])),
    ("text: must be a str", TypeError, lambda c, _: c.count_tokens(text=5)),
    ("title: must be a str", TypeError, lambda _, s: s.checkpoint(5)),
    ("to_checkpoint: must be a whole number, not of the type str", TypeError, lambda _, s: s.revert(to_checkpoint="1")),
    ("to_checkpoint: must be from 0 to 4294967295, and is -1", ValueError, lambda _, s: s.revert(to_checkpoint=-1)),
    ("undo: must be True or False", TypeError, lambda _, s: s.revert(undo=1)),
    ("indexes: must be a whole number", TypeError, lambda _, s: s.pin(0, "a")),
    ("indexes: must be from 0 to 4294967295, and is 4294967296", ValueError, lambda _, s: s.unpin(2**32)),
    ("what: must be a whole number or a str", TypeError, lambda _, s: s.recall(None)),
    ("what: must be a whole number or a str", TypeError, lambda _, s: s.recall(True)),
    ("text: must be a str", TypeError, lambda _, s: s.search(5)),
    ("from_index: must be a whole number", TypeError, lambda _, s: s.messages(from_index="0")),
    ("focus: must be a str", TypeError, lambda _, s: s.compact(focus=5)),
    ("checkpoint: must be a whole number", TypeError, lambda _, s: s.fold(checkpoint="1", text="x")),
    ("name: must be a str", TypeError, lambda _, s: s.set_block(5, "x")),
    ("timeout: must be a number, not of the type str", TypeError, lambda _, s: s.view(timeout="5")),
    ("roles: must be a list, not of the type str", TypeError, lambda _, s: s.search("cat", roles="user")),
    ("states: must be a list, not of the type str", TypeError, lambda _, s: s.search("cat", states="active")),
    ("kinds: must be a list, not of the type str", TypeError, lambda _, s: s.records(kinds="compaction")),
    ("remove: must be a list, not of the type str", TypeError, lambda _, s: s.update_blocks(remove="plan")),
    ("blocks: must be a list, not of the type str", TypeError, lambda _, s: s.start_child(blocks="plan")),
    ("messages: must be a list, not of the type int", TypeError, lambda _, s: s.start_child(messages=5)),
    ("append: a message cannot be of the type int", TypeError, lambda _, s: s.append(5)),
    ("append: a message cannot be None", TypeError, lambda _, s: s.append(None)),
    ("append: the bytes are not UTF-8", ValueError, lambda _, s: s.append(b"\xff")),
]


@pytest.mark.parametrize(("told", "kind", "call"), WRONG)
async def test_a_wrong_argument_is_named(
    client: compactord.Client, told: str, kind: type[Exception], call: Callable[[Any, Any], Any]
) -> None:
    session = client.create_session(dialect="openai_chat")
    with pytest.raises(kind, match=re.escape(told)):
        call(client, session)
    async with compactord.AsyncClient(client.address) as waiting:

        async def made() -> None:
            answer = call(waiting, waiting.session(session.id, dialect="openai_chat"))
            if inspect.isawaitable(answer):
                await answer

        with pytest.raises(kind, match=re.escape(told)):
            await made()
    assert not list(session.messages())


def test_methods_stay_what_they_are(client: compactord.Client) -> None:
    assert inspect.iscoroutinefunction(compactord.AsyncSession.append)
    assert "title" in inspect.signature(compactord.Client.create_session).parameters
    with pytest.raises(TypeError, match="unexpected keyword argument 'titel'"):
        cast("Any", client).create_session(titel="x")
