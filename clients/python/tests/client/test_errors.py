"""Errors: a class for each reason, and nothing of a conversation in any."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from typing import Any, cast, get_args

import grpc
import pytest
from google.protobuf.any_pb2 import Any as Packed
from google.protobuf.duration_pb2 import Duration

import compactord
from agents import client_of
from compactord import errors, v1
from compactord.v1 import error_pb2
from daemons import talk
from failures import raising

KINDS: Any = import_module("google.rpc.error_details_pb2")
STATUS: Any = import_module("google.rpc.status_pb2")

EXPECTED: dict[str, type[compactord.CompactordError]] = {
    "INVALID_FIELD": compactord.InvalidRequestError,
    "SESSION_NOT_FOUND": compactord.SessionNotFoundError,
    "WRONG_NEXT_INDEX": compactord.WrongNextIndexError,
    "SUMMARIZER_UNAVAILABLE": compactord.CompactordError,
    "SHUTTING_DOWN": compactord.UnavailableError,
    "STORE_UNAVAILABLE": compactord.UnavailableError,
    "INTERRUPTED": compactord.UnavailableError,
    "UNAUTHENTICATED": compactord.UnauthenticatedError,
    "PERMISSION_DENIED": compactord.CompactordError,
}


def packed(message: Any) -> Packed:
    holder = Packed()
    holder.Pack(message)
    return holder


def metadata(*details: Any) -> list[tuple[str, str | bytes]]:
    status = STATUS.Status(details=[packed(detail) for detail in details])
    return [("other", "1"), ("grpc-status-details-bin", status.SerializeToString())]


def test_reasons_are_those_of_the_contract_of_grpc_and_of_this_package() -> None:
    words = get_args(errors.ReasonName)
    contract = {name.removeprefix("ERROR_REASON_") for name in error_pb2.ErrorReason.DESCRIPTOR.values_by_name}
    statuses = {status.name for status in grpc.StatusCode}
    assert set(words) - (contract | statuses) == {
        "BINARY_NOT_FOUND",
        "CLIENT_CLOSED",
        "COMPACTION_NOT_FOUND",
        "CONTEXT_OVERFLOW",
        "DAEMON_START",
        "TURN_ABORTED",
        "TURN_RUNNING",
    }
    assert (contract | statuses) - set(words) == {"UNSPECIFIED", "OK"}
    assert len(words) == len(set(words))


def test_every_reason_of_the_contract_has_a_class() -> None:
    names = {name.removeprefix("ERROR_REASON_") for name in error_pb2.ErrorReason.DESCRIPTOR.values_by_name} - {
        "UNSPECIFIED"
    }
    assert set(errors.REASONS) == names
    for reason, kind in EXPECTED.items():
        info = KINDS.ErrorInfo(reason=reason, domain="compactord")
        assert type(errors.from_status(grpc.StatusCode.UNKNOWN, "", metadata(info))) is kind


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (grpc.StatusCode.UNAVAILABLE, compactord.UnavailableError),
        (grpc.StatusCode.DEADLINE_EXCEEDED, compactord.DeadlineExceededError),
        (grpc.StatusCode.CANCELLED, compactord.CompactordError),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, compactord.CompactordError),
        (grpc.StatusCode.INVALID_ARGUMENT, compactord.InvalidRequestError),
        (grpc.StatusCode.UNAUTHENTICATED, compactord.UnauthenticatedError),
        (grpc.StatusCode.UNIMPLEMENTED, compactord.CompactordError),
        (grpc.StatusCode.ALREADY_EXISTS, compactord.CompactordError),
    ],
)
def test_an_error_of_grpc_itself_goes_by_its_status(
    code: grpc.StatusCode, kind: type[compactord.CompactordError]
) -> None:
    error = errors.from_status(code, "no details", [("grpc-status-details-bin", b"\xff")])
    assert type(error) is kind
    assert (error.code, error.reason, error.from_daemon, error.metadata) == (code, code.name, False, {})
    assert str(error) == f"no details ({code.name})"


def test_a_reason_of_another_service_and_one_of_a_newer_daemon_go_by_the_status() -> None:
    foreign = KINDS.ErrorInfo(reason="SESSION_NOT_FOUND", domain="elsewhere")
    assert type(errors.from_status(grpc.StatusCode.ABORTED, "", metadata(foreign))) is compactord.ConflictError
    newer = KINDS.ErrorInfo(reason="NEWER", domain="compactord", metadata={"figure": "3"})
    error = errors.from_status(grpc.StatusCode.ABORTED, "", metadata(newer))
    assert type(error) is compactord.ConflictError
    assert (error.reason, error.metadata) == ("NEWER", {"figure": "3"})


def test_all_details_are_read() -> None:
    error = errors.from_status(
        grpc.StatusCode.UNAVAILABLE,
        "out of reach",
        metadata(
            KINDS.BadRequest(field_violations=[{"field": "a.b", "description": "too long"}]),
            KINDS.RetryInfo(retry_delay=Duration(seconds=3)),
            KINDS.ErrorInfo(reason="SUMMARIZER_UNAVAILABLE", domain="compactord"),
        ),
    )
    assert (type(error), error.reason) == (compactord.CompactordError, "SUMMARIZER_UNAVAILABLE")
    assert error.field_violations == (errors.FieldViolation("a.b", "too long"),)
    assert error.retry_after == timedelta(seconds=3)
    assert str(error) == "out of reach (SUMMARIZER_UNAVAILABLE)"


def test_figures_that_are_none_are_not_told() -> None:
    error = compactord.WrongNextIndexError("", metadata={"next_index": "many"})
    assert error.next_index is None


def test_what_the_daemon_says_comes_with_figures(client: compactord.Client) -> None:
    session = client.create_session()
    session.append("one", "two")
    with pytest.raises(compactord.WrongNextIndexError) as wrong:
        session.append("three", expected_next_index=7)
    assert wrong.value.next_index == 2
    assert wrong.value.code is grpc.StatusCode.ABORTED
    assert wrong.value.request_id
    with pytest.raises(compactord.SessionExistsError):
        client.create_session(session.id)
    with raising("CHECKPOINT_NOT_FOUND"):
        session.revert(to_checkpoint=7)
    with raising("COMPACTION_NOT_FOUND"):
        session.compaction("none")
    with pytest.raises(ValueError, match="compaction_id: must not be empty"):
        session.compaction("")
    with raising("CONTENT_NOT_FOUND"):
        session.recall(9)
    with raising("NOTHING_TO_REVERT"):
        session.revert(turns=9)
    with pytest.raises(compactord.InvalidRequestError) as invalid:
        client.session("no such id").info()
    assert [violation.field for violation in invalid.value.field_violations] == ["session_id"]
    with pytest.raises(compactord.InvalidRequestError) as unknown:
        client.create_session(policy={"preset": "fast"})
    assert unknown.value.reason == "UNKNOWN_NAME"


def test_a_checkpoint_that_was_put_aside_tells_its_point(client: compactord.Client) -> None:
    session = client.create_session()
    session.append("one")
    first = session.checkpoint("first")
    session.append("two")
    second = session.checkpoint("second")
    session.revert(to_checkpoint=first.id)
    with raising("CHECKPOINT_PUT_ASIDE") as caught:
        session.revert(to_checkpoint=second.id)
    assert caught.value.metadata["point"] == str(second.point)
    session.revert(point=second.point)
    assert len(session.view().messages) == 2


def test_a_view_that_was_reverted_cannot_be_answered(client: compactord.Client) -> None:
    session = client.create_session()
    talk(session, 2)
    view = session.view()
    session.revert(turns=1)
    with raising("HISTORY_REVERTED"):
        session.append(compactord.assistant("late"), view=view)


def test_a_compaction_that_cannot_help_tells_the_figures(client: compactord.Client) -> None:
    policy = {"context_window": 2_000, "trigger": {"trigger_tokens": 1_000, "target_tokens": 500}}
    session = client.create_session(policy=policy)
    session.append(compactord.system("rule " * 1_200), compactord.user("hello"))
    with raising("TARGET_UNREACHABLE") as caught:
        session.compact(reason="threshold")
    assert caught.value.metadata["trigger_tokens"] == "1000"
    assert int(caught.value.metadata["fixed_tokens"]) >= 1_000


def test_errors_of_raw_stubs_can_be_made_ours(client: compactord.Client) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        client.sessions.GetSession(v1.GetSessionRequest(session_id="none"))
    failure: Any = caught.value
    assert isinstance(errors.from_rpc_error(failure), compactord.SessionNotFoundError)


def test_errors_quote_nothing_of_a_conversation(client: compactord.Client) -> None:
    secret = "the cat is called Schnurri"
    session = client.create_session(dialect="anthropic")
    neutral = client.session(session.id)
    refused: list[Callable[[], object]] = [
        lambda: session.append({"role": "nobody", "content": secret}),
        lambda: session.append({"role": "user", "content": {secret: {1, 2}}}, strict=True),
        lambda: session.append(b'{"role": "user", "content": "' + secret.encode()),
        lambda: neutral.append({"role": secret}),
        lambda: neutral.append({"parts": [secret]}),
        lambda: neutral.append(b"{" + secret.encode()),
        lambda: session.append(cast("Any", object()), secret),
    ]
    for given in refused:
        with pytest.raises((compactord.CompactordError, TypeError, ValueError)) as caught:
            given()
        told = "".join([*traceback.format_exception(caught.value), str(caught.value.args)])
        assert "Schnurri" not in told


@pytest.mark.parametrize("place", ["127.0.0.1:1", "unix:/nowhere/at/all"])
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_tracebacks_leave_out_the_error_of_grpc_which_programs_still_find(kind: str, place: str) -> None:
    messages = [{"role": "user", "content": "Hello."}]
    with client_of(kind, place) as client:
        session = client.session("any", dialect="openai_chat")
        calls: list[Callable[[], object]] = [
            session.info,
            session.compact,
            lambda: session.append("Hello."),
            lambda: session.sync(messages),
            lambda: client.compacted(messages, dialect="openai_chat", policy={"context_window": 8_000}),
        ]
        for call in calls:
            with pytest.raises(compactord.UnavailableError, match="no daemon answers") as caught:
                call()
            shown = "".join(traceback.format_exception(caught.value))
            assert "RpcError" not in shown, shown
            chain: BaseException | None = caught.value
            while chain is not None and not isinstance(chain, grpc.RpcError):
                chain = chain.__context__
            assert chain is not None
