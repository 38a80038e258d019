"""How the daemon is reached: deadlines, retries, request ids, addresses, tokens, TLS."""

from __future__ import annotations

import json
import re
import socket
import ssl
import threading
import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, cast

import grpc
import pytest
import trustme
from google.protobuf.descriptor_pb2 import MethodOptions

import compactord
from compactord import connection, v1
from compactord._sync.wire import calls, runtime
from compactord.errors import ReasonName
from daemons import ROOT, Proxy
from failures import raising

METHODS = {method.name: method for service in connection.SERVICES for method in service.methods}


def given(address: str = "127.0.0.1:7440", /, **more: Any) -> connection.Settings:
    defaults: dict[str, Any] = {
        "tls": None,
        "token": None,
        "allow_plaintext_token": False,
        "timeout": 30.0,
        "compaction_timeout": 900.0,
        "max_message_bytes": 1 << 20,
        "keepalive": 30.0,
        "retry": True,
    }
    return connection.settings(address, **(defaults | more))


def test_calls_are_sent_again_as_the_contract_allows() -> None:
    reads = {
        name
        for name, method in METHODS.items()
        if method.GetOptions().idempotency_level == MethodOptions.NO_SIDE_EFFECTS and not method.server_streaming
    }
    assert set(connection.READS) == reads
    identified = {name for name, method in METHODS.items() if "request_id" in method.input_type.fields_by_name}
    assert set(connection.WRITES) | {"Compact", "RevertToCheckpoint"} == identified
    assert set(connection.NEVER_RESENT) == set(METHODS) - reads - identified - {"WatchSession", "SyncMessages"}
    every = [*connection.READS, *connection.WRITES, *connection.RESUMED, *connection.NEVER_RESENT]
    assert sorted(every) == sorted(METHODS)


def test_calls_are_sent_again_as_the_documents_say() -> None:
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    table = text.partition("## Safe to send again")[2].partition("\n## ")[0]
    rows = [re.findall(r"`(\w+)`", line.split("|")[1]) for line in table.splitlines() if line.startswith("| `")]
    assert sorted(rows[0]) == sorted([*connection.READS, "WatchSession", "ExportSession"])
    assert sorted([*rows[1], *rows[4]]) == sorted([*connection.WRITES, "Compact", "RevertToCheckpoint"])
    assert sorted([*rows[2], *rows[3]]) == sorted(connection.NEVER_RESENT)
    assert rows[5:] == [["SyncMessages"]]


def test_the_service_config_has_the_figures() -> None:
    (config,) = json.loads(connection.service_config())["methodConfig"]
    assert config["retryPolicy"] == {
        "maxAttempts": 5,
        "initialBackoff": "0.2s",
        "maxBackoff": "5.0s",
        "backoffMultiplier": 2.5,
        "retryableStatusCodes": ["UNAVAILABLE"],
    }
    assert {name["method"] for name in config["name"]} == {*connection.READS, *connection.WRITES}
    assert {name["service"].rpartition(".")[2] for name in config["name"]} == {"SessionService", "CompactionService"}
    assert ("grpc.enable_retries", 0) in given(retry=False).options()
    assert not any(key == "grpc.service_config" for key, _ in given(retry=False).options())


def test_our_own_pauses_have_the_same_figures() -> None:
    pauses = list(connection.backoffs())
    assert len(pauses) == 4
    for pause, figure in zip(pauses, (0.2, 0.5, 1.25, 3.125), strict=True):
        assert 0.8 * figure <= pause <= 1.2 * figure


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        held: list[socket.socket] = []

        def accept() -> None:
            try:
                while True:
                    held.append(listener.accept()[0])
            except OSError:
                return

        thread = threading.Thread(target=accept)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        for one in held:
            one.close()


def test_every_call_has_a_deadline() -> None:
    timeouts: dict[str, float | None] = {}

    class Stub:
        def __init__(self, service: Any) -> None:
            for method in service.methods:
                setattr(self, method.name, self._call(method.name))

        def _call(self, name: str) -> Any:
            def call(_request: Any, timeout: float | None, **_options: Any) -> None:
                timeouts[name] = timeout

            return call

    for service in connection.SERVICES:
        stub: Any = connection.with_defaults(Stub(service), service, given(timeout=7.0, compaction_timeout=70.0))
        for method in service.methods:
            getattr(stub, method.name)(getattr(v1, method.input_type.name)())
    assert set(timeouts) == set(METHODS)
    slow = {"Compact": 70.0, "CommitCompaction": 70.0, "SyncMessages": 70.0, "WatchSession": None}
    assert timeouts == dict.fromkeys(METHODS, 7.0) | slow


def test_a_deadline_ends_a_call_to_a_server_that_says_nothing(silent: str) -> None:
    with compactord.Client(silent, timeout=0.3, retry=False) as client:
        for call in (lambda: client.session("s").info(), lambda: client.session("s").view(timeout=0.1)):
            with pytest.raises((compactord.DeadlineExceededError, compactord.UnavailableError)):
                call()


def test_no_daemon_is_unavailable() -> None:
    with compactord.Client("127.0.0.1:1", retry=False) as client:
        assert not client.health(timeout=5)
        with pytest.raises(compactord.UnavailableError):
            client.create_session()


def test_writes_get_a_request_id_and_sessions_an_id() -> None:
    request = connection.identified(v1.CreateSessionRequest(title="t"))
    assert uuid.UUID(request.session_id).version == 7
    assert request.request_id
    assert request.title == "t"
    fork = connection.identified(v1.ForkSessionRequest(session_id="s"))
    assert fork.session_id == "s"
    assert uuid.UUID(fork.new_session_id).variant == uuid.RFC_4122
    append = v1.AppendMessagesRequest(session_id="s")
    assert connection.identified(append).request_id != connection.identified(append).request_id
    assert append.request_id == "", "the caller's own request is left as it is"
    own = v1.AppendMessagesRequest(session_id="s", request_id="mine")
    assert connection.identified(own) is own
    read = v1.GetSessionRequest(session_id="s")
    assert connection.identified(read) is read
    inline = v1.CompactRequest(history=v1.InlineHistory())
    assert connection.identified(inline) is inline
    assert [connection.new_session_id() for _ in range(9)] != [connection.new_session_id() for _ in range(9)]


@pytest.mark.parametrize("address", ["7440", "localhost", ":7440", "host:port", "host:70000", "unix:", "unix://"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match=r"address|socket"):
        compactord.Client(address)


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("http://127.0.0.1:7440", "a URL"),
        ("https://host:443", "tls=True"),
        ("::1:7440", "brackets"),
        (7440, "HOST:PORT"),
        ("unix:~nobody-of-this-name/c.sock", "no home folder"),
    ],
)
def test_what_is_nearly_an_address_is_told_apart(address: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        compactord.Client(address)


def test_paths_may_begin_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/one")
    assert compactord.Client("unix:~/c.sock").address == "unix:/home/one/c.sock"
    assert compactord.Client("unix:c~.sock").address == "unix:c~.sock"


def test_the_address_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPACTORD_ADDR", "unix:/run/c.sock")
    assert compactord.Client().address == "unix:/run/c.sock"
    assert compactord.Client("[::1]:1").address == "[::1]:1"
    monkeypatch.setenv("COMPACTORD_ADDR", "")
    assert compactord.Client().address == "127.0.0.1:7440"


def test_a_token_is_not_sent_in_the_clear() -> None:
    for address in ("10.0.0.1:1", "example.org:1", "localhost.example.org:1", "[2001:db8::1]:1", "0.0.0.0:1"):
        with pytest.raises(ValueError, match="token"):
            compactord.Client(address, token="t")
    for address in ("127.0.0.1:1", "127.9.9.9:1", "localhost:1", "[::1]:1"):
        compactord.Client(address, token="t")
    compactord.Client("example.org:1", token="t", tls=True)
    compactord.Client("unix:/run/c.sock", token="t")
    compactord.Client("example.org:1", token="t", allow_plaintext_token=True)
    with pytest.raises(ValueError, match="go together"):
        compactord.TLS(cert=b"")


@pytest.mark.parametrize("field", ["timeout", "compaction_timeout", "max_message_bytes", "keepalive"])
def test_limits_are_above_zero(field: str) -> None:
    nothing: dict[str, Any] = {field: 0}
    with pytest.raises(ValueError, match="above 0"):
        given(**nothing)


def test_the_daemon_is_not_asked_more_often_than_it_allows() -> None:
    assert given(keepalive=10).keepalive == 10
    with pytest.raises(ValueError, match=r"keepalive: 9\.9 s is less than 10 s"):
        given(keepalive=9.9)


def test_secrets_are_not_shown() -> None:
    tls = compactord.TLS(cert=b"CHAIN", key=b"PRIVATE KEY")
    shown = repr(given(token="hunter2", tls=tls))
    assert "hunter2" not in shown
    assert "PRIVATE KEY" not in shown
    assert "CHAIN" in shown


def test_certificates_may_be_texts(authority: trustme.CA) -> None:
    text = authority.cert_pem.bytes().decode()
    assert isinstance(compactord.TLS(ca=text).credentials(), grpc.ChannelCredentials)


def test_the_repetitions_of_a_revert_have_one_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    limits: list[float] = []

    class Clock:
        @staticmethod
        def monotonic() -> float:
            return now[0]

    def unavailable(_: Any, timeout: float, **__: Any) -> Any:
        limits.append(timeout)
        now[0] += 2.0
        raise compactord.UnavailableError("nobody there")

    def sleep(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(calls, "time", Clock)
    monkeypatch.setattr(runtime, "sleep", sleep)
    made = calls.Calls(given())

    def there_before(_: float | None) -> None:
        """A daemon was there before."""

    monkeypatch.setattr(made, "find_daemon", there_before)
    with pytest.raises(compactord.UnavailableError):
        made.resent(cast(Any, unavailable), v1.RevertToCheckpointRequest(), 4.5)
    # Two seconds and a pause of 0.2, then two seconds more: after a pause of 0.5 no time is left.
    assert limits == [4.5, pytest.approx(2.3, abs=0.05)]
    assert now[0] < 4.5


class Clock:
    """The time of calls, which goes on only where they wait."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.waits: list[float] = []
        monkeypatch.setattr(calls, "time", self)
        monkeypatch.setattr(runtime, "sleep", self.sleep)

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    def call(self, settings: connection.Settings, outcomes: list[Any]) -> Any:
        """Make a call that ends in one of the outcomes after the other: an error, or an answer."""
        left = iter(outcomes)

        def ending(_: Any, timeout: float | None, **__: Any) -> Any:
            assert timeout is not None
            outcome = next(left)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        return calls.Calls(settings).unary(cast(Any, ending), v1.DeleteSessionRequest(), settings.timeout)


def from_reason(reason: ReasonName, after: float | None) -> compactord.CompactordError:
    wait = None if after is None else timedelta(seconds=after)
    return compactord.CompactordError("busy", code=grpc.StatusCode.RESOURCE_EXHAUSTED, reason=reason, retry_after=wait)


@pytest.mark.parametrize("reason", ["MEMORY_EXHAUSTED", "TOO_MANY_WAITING", "SLOW_READER"])
def test_a_busy_daemon_is_asked_again_when_it_says(monkeypatch: pytest.MonkeyPatch, reason: ReasonName) -> None:
    clock = Clock(monkeypatch)
    busy = from_reason(reason, 1.0)
    assert clock.call(given(timeout=30.0), [busy, busy, b"done"]) == b"done"
    assert len(clock.waits) == 2
    assert all(1.0 <= wait <= 1.5 for wait in clock.waits)


def test_a_busy_daemon_is_not_asked_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    busy = from_reason("MEMORY_EXHAUSTED", 1.0)
    with raising("MEMORY_EXHAUSTED"):
        clock.call(given(timeout=30.0), [busy] * 9)
    assert len(clock.waits) == 4
    # No time is left for a second pause.
    with raising("MEMORY_EXHAUSTED"):
        clock.call(given(timeout=2.0), [busy] * 9)
    assert len(clock.waits) == 5
    with raising("MEMORY_EXHAUSTED"):
        clock.call(given(retry=False), [busy] * 9)
    assert len(clock.waits) == 5


@pytest.mark.parametrize(("reason", "after"), [("LIMIT_EXCEEDED", 1.0), ("MEMORY_EXHAUSTED", None)])
def test_other_refusals_are_final(monkeypatch: pytest.MonkeyPatch, reason: ReasonName, after: float | None) -> None:
    clock = Clock(monkeypatch)
    with pytest.raises(compactord.CompactordError):
        clock.call(given(), [from_reason(reason, after), b"done"])
    assert clock.waits == []


def test_a_token_goes_with_each_call() -> None:
    tokens = iter(["first", "second"])
    asked = given("unix:/run/c.sock", token=lambda: next(tokens))
    assert asked.metadata() == (("authorization", "Bearer first"),)
    assert asked.metadata() == (("authorization", "Bearer second"),)
    assert given("example.org:1").metadata() == ()


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def encrypted(client: compactord.Client, authority: trustme.CA, tmp_path: Any) -> Iterator[Proxy]:
    """A proxy that terminates TLS, and asks clients for a certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["h2"])
    context.verify_mode = ssl.CERT_REQUIRED
    chain = tmp_path / "chain.pem"
    authority.issue_cert("daemon.example", "localhost").private_key_and_cert_chain_pem.write_to_path(str(chain))
    context.load_cert_chain(chain)
    context.load_verify_locations(cadata=authority.cert_pem.bytes().decode())
    made = Proxy(client.address, context)
    yield made
    made.close()


def test_tls_with_a_certificate_of_the_client(encrypted: Proxy, authority: trustme.CA, tmp_path: Any) -> None:
    own = authority.issue_cert("agent.example")
    ca = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(ca))
    tls = compactord.TLS(
        ca=ca,
        cert=b"".join(blob.bytes() for blob in own.cert_chain_pems),
        key=own.private_key_pem.bytes(),
        server_name="daemon.example",
    )
    with compactord.Client(encrypted.address, tls=tls, token="t") as client:
        session = client.create_session()
        session.append("hello")
        assert len(session.view().messages) == 1


def test_tls_refuses_who_is_not_trusted(encrypted: Proxy) -> None:
    tls = compactord.TLS(ca=trustme.CA().cert_pem.bytes(), server_name="daemon.example")
    with (
        compactord.Client(encrypted.address, tls=tls, retry=False) as client,
        pytest.raises(compactord.UnavailableError),
    ):
        client.create_session()


def test_tls_refuses_another_name(encrypted: Proxy, authority: trustme.CA) -> None:
    tls = compactord.TLS(ca=authority.cert_pem.bytes(), server_name="other.example")
    with (
        compactord.Client(encrypted.address, tls=tls, retry=False) as client,
        pytest.raises(compactord.UnavailableError),
    ):
        client.create_session()


def test_files_of_tls_that_are_not_there_are_told(tmp_path: Any) -> None:
    with (
        compactord.Client("127.0.0.1:1", tls=compactord.TLS(ca=tmp_path / "none.pem")) as client,
        pytest.raises(FileNotFoundError),
    ):
        client.create_session()


@pytest.mark.filterwarnings("ignore::compactord.CompactordWarning")
def test_large_answers_fit(client: compactord.Client) -> None:
    session = client.create_session()
    session.append("x" * (6 << 20))
    assert session.view().messages[0].message.ByteSize() > 6 << 20
    with (
        compactord.Client(client.address, max_message_bytes=1 << 20, retry=False) as small,
        raising("RESOURCE_EXHAUSTED"),
    ):
        small.session(session.id).view()


@pytest.mark.filterwarnings("ignore::compactord.CompactordWarning")
def test_what_is_sent_has_the_same_limit(client: compactord.Client) -> None:
    session = client.create_session()
    with compactord.Client(client.address, max_message_bytes=1 << 20) as small:
        with raising("RESOURCE_EXHAUSTED"):
            small.session(session.id).append("x" * (1 << 20))
        small.session(session.id).append("x" * (1 << 19))
    assert session.info().session.next_index == 1


async def test_a_client_of_asyncio_belongs_to_one_loop(client: compactord.Client) -> None:
    import asyncio

    async with compactord.AsyncClient(client.address) as made:
        session = await made.create_session()

        def elsewhere() -> None:
            with pytest.raises(RuntimeError, match="another event loop"):
                asyncio.run(session.info())

        await asyncio.to_thread(elsewhere)
