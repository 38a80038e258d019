"""The tools that an agent's model is offered: what they answer, and what D-Mails do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import compactord
from agents import Model, compactions, fill, policy, tools_of, transcript
from compactord import ToolCall, ToolOutput, ToolRejected, v1
from failures import raising
from providers import Called, Provider, Said

SOURCE = Path(__file__).resolve().parents[2] / "tools.json"


def call(name: str, **arguments: Any) -> ToolCall:
    """A call, as the model makes it."""
    return ToolCall("call-1", name, json.dumps(arguments), 0)


def asked(tools: compactord.AgentTools, name: str, **arguments: Any) -> ToolOutput:
    """What a tool answers to a call."""
    output = tools.handle(call(name, **arguments))
    assert isinstance(output, ToolOutput)
    return output


def mail(message: str, checkpoint: int, number: int = 1) -> Called:
    """A call that sends a D-Mail."""
    arguments = {"message": message, "checkpoint_id": checkpoint}
    return Called(f"mail-{number}", "send_dmail", json.dumps(arguments))


def markers(session: compactord.Session) -> list[str]:
    """The announcements of checkpoints, in the log."""
    return [line for line in transcript(session) if line.startswith("user: [Checkpoint")]


def test_definitions_in_each_shape(either: compactord.Client, provider: Provider) -> None:
    session = either.create_session(dialect=provider.dialect)
    plain = json.loads(SOURCE.read_text("utf-8"))
    names = [tool["name"] for tool in plain]
    assert names == ["recall_content", "search_messages", "send_dmail", "fold_since"]
    made = tools_of(session, dmail=True, fold=True).definitions()
    shaped: dict[str | None, Any] = {
        None: plain,
        "openai_chat": [{"type": "function", "function": tool} for tool in plain],
        "openai_responses": [{"type": "function", **tool} for tool in plain],
        "anthropic": [
            {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
            for tool in plain
        ],
        "gemini": [{"functionDeclarations": plain}],
    }
    assert made == shaped[provider.dialect]
    # Sending itself back is for models that are told of it.
    assert "send_dmail" not in str(tools_of(session).definitions())
    assert tools_of(session, recall=False, search=False).definitions() == []
    # Who changes a definition changes nobody else's.
    made[0].clear()
    assert tools_of(session, dmail=True, fold=True).definitions() == shaped[provider.dialect]


def test_recall(either: compactord.Client) -> None:
    session = either.create_session()
    lines = [f"line {number}: {'ä' * 60}" for number in range(1, 501)]
    session.append(
        compactord.user("Read it."),
        v1.Message(
            role=v1.Role.ROLE_ASSISTANT,
            parts=[v1.Part(tool_call=v1.ToolCall(id="call-1", name="read", arguments="{}"))],
        ),
        compactord.tool_result(ToolCall("call-1", "read", "{}", 1), "\n".join(lines)),
    )
    tools = tools_of(session)
    cut = asked(tools, "recall_content", reference="#2.0")
    head, *shown, more = cut.text.split("\n")
    assert "\n".join(lines).startswith("\n".join(shown))
    size = len("\n".join(shown).encode())
    assert 16_384 - 4 < size <= 16_384
    assert more == f"[There is more: read on with first_byte {size}.]"
    first = asked(tools, "recall_content", reference="#2.0", first_line=1)
    head, *shown, more = first.text.split("\n")
    assert head.startswith("[#2.0 tool read, result, lines 1 to ")
    assert head.endswith("of 500]")
    assert shown == lines[: len(shown)]
    assert len("\n".join(shown).encode()) <= 16_384
    assert more == f"[There is more: read on with first_line {len(shown) + 1}.]"
    rest = asked(tools, "recall_content", reference="#2.0", first_line=len(shown) + 1, max_bytes=262_144)
    assert rest.text.split("\n")[1:] == lines[len(shown) :]
    assert (
        asked(tools, "recall_content", reference="[#2.0]", first_line=7, line_count=2).text.split("\n")[1:3]
        == lines[6:8]
    )
    matched = asked(tools, "recall_content", reference="#2.0", match="LINE 77:", ignore_case=True, context_lines=1)
    assert matched.text.split("\n")[1:] == [f"76-{lines[75]}", f"77:{lines[76]}", f"78-{lines[77]}"]
    none = asked(tools, "recall_content", reference="#2.0", match="nowhere")
    assert none.text == "[#2.0 tool read, result, no line matches, of 500]"
    inside = asked(tools, "recall_content", reference="#2.0", first_byte=8, max_bytes=1)
    assert (
        inside.text
        == "[#2.0 tool read, result, from byte 8 of 66891]\nä\n[There is more: read on with first_byte 10.]".replace(
            "66891", str(len("\n".join(lines).encode()))
        )
    )
    assert not any(output.is_error for output in (cut, first, rest, matched, none, inside))


def test_search(either: compactord.Client) -> None:
    session = either.create_session()
    session.append(*[compactord.user(f"question {number} of\n\nthe needle") for number in range(30)])
    tools = tools_of(session)
    found = asked(tools, "search_messages", words="Needle question", limit=2).text.split("\n")
    assert found[0] == "#0.0 user, line 1, 2 matches: question 0 of the needle"
    assert found[2] == "[There are more: search again with skip 2.]"
    newest = asked(tools, "search_messages", pattern="question 2\\d", newest_first=True, skip=9).text.split("\n")
    assert newest == ["#20.0 user, line 1: question 20 of the needle"]
    assert asked(tools, "search_messages", words="haystack").text == "No message matches."
    assert asked(tools, "search_messages", words="needle", skip=30).text == "No further message matches."


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ("[" * 100_000, "Nothing was read: the arguments are no JSON object."),
        ('{"reference": Infinity}', "Nothing was read: the arguments are no JSON object."),
        ('{"reference": "#0\\ud83c"}', "Nothing was read: reference must be a text."),
        ('{"\\ud83c": 1}', 'Nothing was read: there is no argument "?"; there are reference, first_line'),
    ],
)
def test_arguments_that_json_of_other_languages_refuses(either: compactord.Client, arguments: str, wrong: str) -> None:
    session = either.create_session()
    session.append("Hello.")
    output = tools_of(session).handle(ToolCall("call-1", "recall_content", arguments, 0))
    assert output is not None
    assert output.is_error
    assert output.text.startswith(wrong)


def test_a_daemon_that_is_gone_is_no_result(either: compactord.Client) -> None:
    tools = tools_of(either.create_session())
    either.close()
    with raising("CLIENT_CLOSED"):
        tools.handle(call("recall_content", reference="#0"))


def test_other_tools_are_none_of_theirs(either: compactord.Client) -> None:
    session = either.create_session()
    assert tools_of(session).handle(call("weather")) is None
    assert tools_of(session).handle(call("send_dmail", message="m", checkpoint_id=1)) is None


def test_the_model_recalls_what_was_compacted(either: compactord.Client, provider: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=provider.dialect)
    session.append(compactord.user("The key is 4711."), compactord.assistant("I keep it in mind."))
    fill(session, 8_000)
    assert session.compact()
    model = Model(
        provider,
        Said("", [Called("call-1", "search_messages", '{"words":"the key is"}')]),
        Said("", [Called("call-2", "recall_content", '{"reference":"#0"}')]),
        Said("It is 4711."),
    )
    turn = session.run_turn(model, "What is the key?", tools=tools_of(session))
    assert turn.text == "It is 4711."
    lines = transcript(session)
    assert lines[-4].startswith("tool: search_messages: #0.0 user, line 1")
    assert lines[-2] == "tool: recall_content: [#0.0 user, text, lines 1 to 1 of 1]\nThe key is 4711."


def test_case_187_one_mail_at_a_time_and_only_to_checkpoints(either: compactord.Client) -> None:
    session = either.create_session()
    session.append("Go on.")
    session.checkpoint(announce=True)
    tools = tools_of(session, dmail=True)
    # Nothing is pending: the id decides.
    for unknown, why in ((-1, "number from 1"), (0, "number from 1"), (2, "no checkpoint 2")):
        output = asked(tools, "send_dmail", message="m", checkpoint_id=unknown)
        assert output.is_error
        assert why in output.text
    sent = asked(tools, "send_dmail", message="m", checkpoint_id=1)
    assert not sent.is_error
    assert "not delivered" in sent.text
    # One is pending: that comes before the id.
    for checkpoint in (1, -1, 2):
        output = asked(tools, "send_dmail", message="m", checkpoint_id=checkpoint)
        assert output.is_error
        assert "another one is pending" in output.text


def test_case_187_a_checkpoint_that_was_put_aside(either: compactord.Client) -> None:
    session = either.create_session()
    session.append("Go on.")
    session.checkpoint()
    session.append("And on.")
    session.checkpoint()
    session.revert(to_checkpoint=1)
    output = asked(tools_of(session, dmail=True), "send_dmail", message="m", checkpoint_id=2)
    assert output.is_error
    assert "put aside" in output.text


def test_case_187_two_mails_in_one_step(either: compactord.Client, provider: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=provider.dialect)
    model = Model(provider, Said("", [mail("first", 1), mail("second", 1, 2)]), Said("Done."))
    session.run_turn(model, "Go on.", tools=tools_of(session, dmail=True))
    answers = [line for line in transcript(session) if "send_dmail:" in line]
    assert len(answers) == 2
    assert "another one is pending" in answers[1]
    assert "first" in str(model.views[1].messages)
    assert "second" not in str(model.views[1].messages)


def test_case_188_a_mail_is_delivered(either: compactord.Client, provider: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=provider.dialect)
    model = Model(
        provider,
        Said("I read it.", [Called("call-1", "read")]),
        Said("Too long.", [mail("  Only lines 50 to 60 of main.py matter.\n", 1)]),
        Said("Now I know."),
    )
    turn = session.run_turn(
        model, "Analyse main.py.", run_tool=lambda _: "def f(): ...\n" * 500, tools=tools_of(session, dmail=True)
    )
    assert turn.done
    assert turn.steps == 3
    view = str(model.views[2].messages)
    assert "Only lines 50 to 60 of main.py matter." in view
    assert "def f()" not in view
    assert "Too long." not in view
    # The checkpoint is still there under its number, with one message behind it; the next step has a new one.
    active = [
        message.message for message in session.messages() if message.state == v1.MessageState.MESSAGE_STATE_ACTIVE
    ]
    texts = [message.parts[0].text.text for message in active]
    assert texts[0] == "Analyse main.py."
    assert "[Checkpoint 1" in texts[1]
    assert "<message_from_future>\nOnly lines 50 to 60 of main.py matter.\n</message_from_future>" in texts[2]
    assert "[Checkpoint 3" in texts[3]
    assert texts[4:] == ["Now I know."]
    assert active[2].origin == v1.Origin.ORIGIN_FUTURE
    listed = [(one.checkpoint.id, one.put_aside) for one in session.checkpoints()]
    assert listed == [(1, False), (2, True), (3, False)]


@pytest.mark.parametrize("feedback", ["", "Ask me first."])
def test_case_189_a_rejected_tool_discards_the_mail(
    either: compactord.Client, provider: Provider, feedback: str
) -> None:
    session = either.create_session(policy=policy(), dialect=provider.dialect)

    def run_tool(call: ToolCall) -> str:
        if call.name == "look":
            return "seen"
        raise ToolRejected(feedback)

    tools = tools_of(session, dmail=True)
    # The step after the rejected one would deliver a mail that is still there.
    look = Said("", [Called("call-3", "look")])
    model = Model(provider, Said("", [mail("m", 1), Called("call-2", "delete")]), look, Said("I see."), Said("Done."))
    turn = session.run_turn(model, "Go on.", run_tool=run_tool, tools=tools)
    assert turn.rejected is not bool(feedback)
    assert turn.done is bool(feedback)
    lines = transcript(session)
    rejected = next(line for line in lines if line.startswith("tool: error"))
    assert rejected.startswith("tool: error delete: The user rejected this call")
    assert feedback in rejected
    # No revert, neither now nor later.
    assert not any(record.HasField("revert") for record in session.records())
    assert session.run_turn(model, "And on.", run_tool=run_tool, tools=tools).done
    assert not any(record.HasField("revert") for record in session.records())


def test_case_190_without_the_tool_no_markers_and_checkpoints_still(
    either: compactord.Client, provider: Provider
) -> None:
    session = either.create_session(policy=policy(), dialect=provider.dialect)
    model = Model(provider, Said("", [Called("call-1", "look")]), Said("Done."))
    turn = session.run_turn(model, "Go on.", run_tool=lambda _: "seen", tools=tools_of(session), checkpoint_steps=True)
    assert turn.steps == 2
    assert not markers(session)
    assert [one.checkpoint.id for one in session.checkpoints()] == [1, 2]
    # A mail that the model sends all the same is a call of a tool that it does not have.
    model = Model(provider, Said("", [mail("m", 1)]))
    assert session.run_turn(model, "On.", tools=tools_of(session)).tool_calls[0].name == "send_dmail"
    # Without either there are no checkpoints.
    other = either.create_session(policy=policy(), dialect=provider.dialect)
    other.run_turn(Model(provider, Said("Done.")), "Go on.", tools=tools_of(other))
    assert list(other.checkpoints()) == []


def test_case_191_files_are_not_reverted(either: compactord.Client, provider: Provider, tmp_path: Path) -> None:
    session = either.create_session(policy=policy(), dialect=provider.dialect)
    written = tmp_path / "main.py"

    def write(_: ToolCall) -> str:
        written.write_text("fixed")
        return "written"

    model = Model(
        provider, Said("", [Called("call-1", "write")]), Said("", [mail("I have fixed main.py.", 1)]), Said("Done.")
    )
    session.run_turn(model, "Fix main.py.", run_tool=write, tools=tools_of(session, dmail=True))
    assert written.read_text() == "fixed"
    # The model is told that what it did is still so.
    assert "Files and the outside world were not reverted" in str(model.views[2].messages)
    assert "written" not in str(model.views[2].messages)


def test_case_192_a_mail_to_before_the_last_compaction(either: compactord.Client, provider: Provider) -> None:
    session = either.create_session(policy=policy(), dialect=provider.dialect)
    tools = tools_of(session, dmail=True)
    session.run_turn(Model(provider, Said("Begun.")), "Begin.", tools=tools)
    then = session.view().messages
    fill(session, 8_000)
    assert session.compact()
    assert "Begun." not in str(session.view().messages[1:])
    model = Model(provider, Said("", [mail("All of it was in vain.", 1)]), Said("Done."))
    session.run_turn(model, "Go on.", tools=tools)
    # The number means what it always meant: the place before the first answer.
    view = str(model.views[1].messages)
    assert "[Checkpoint 1:" in view
    assert "All of it was in vain." in view
    assert "question 3" not in view
    assert str(then[0])[:40] in view
    # And no number is used again.
    assert [one.checkpoint.id for one in session.checkpoints()] == [1, 2, 3]
    assert len(compactions(session)) == 1
