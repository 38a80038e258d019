"""A daemon that speaks TLS itself."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trustme

import compactord


class Encrypted:
    """A daemon that speaks TLS on a port of this machine. It takes only clients with its certificates."""

    def __init__(self, binary: str, folder: Path, authority: trustme.CA) -> None:
        self.ca, self.cert, self.key = folder / "ca.pem", folder / "cert.pem", folder / "key.pem"
        authority.cert_pem.write_to_path(str(self.ca))
        self._authority = authority
        self.renew()
        command = [binary, "serve", "--listen", "127.0.0.1:0", "--store", str(folder / "store.db")]
        command += ["--tls-cert", str(self.cert), "--tls-key", str(self.key), "--tls-client-ca", str(self.ca)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().removeprefix("compactord listens on ").partition(",")[0]

    def renew(self) -> None:
        """Give it another certificate."""
        issued = self._authority.issue_cert("localhost")
        self.key.touch(mode=0o600)
        issued.private_key_pem.write_to_path(str(self.key))
        self.cert.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))

    def close(self) -> None:
        self._process.terminate()
        self._process.communicate()


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def daemon(binary: str, tmp_path: Path, authority: trustme.CA) -> Iterator[Encrypted]:
    made = Encrypted(binary, tmp_path, authority)
    yield made
    made.close()


@pytest.fixture
def tls(daemon: Encrypted, authority: trustme.CA) -> Callable[[], compactord.TLS]:
    def settings() -> compactord.TLS:
        own = authority.issue_cert("agent.example")
        chain = b"".join(blob.bytes() for blob in own.cert_chain_pems)
        return compactord.TLS(ca=daemon.ca, cert=chain, key=own.private_key_pem.bytes(), server_name="localhost")

    return settings


def talk(client: compactord.Client) -> None:
    session = client.create_session()
    session.append("hello")
    assert len(session.view().messages) == 1


def test_clients_speak_tls_with_the_daemon(daemon: Encrypted, tls: Callable[[], compactord.TLS]) -> None:
    with compactord.Client(daemon.address, tls=tls()) as client:
        talk(client)
        daemon.renew()
        talk(client)
        with compactord.Client(daemon.address, tls=tls()) as later:
            talk(later)


def test_who_shows_no_certificate_is_refused(daemon: Encrypted) -> None:
    for given in (None, compactord.TLS(ca=daemon.ca, server_name="localhost")):
        with (
            compactord.Client(daemon.address, tls=given, retry=False) as client,
            pytest.raises(compactord.UnavailableError),
        ):
            client.create_session()
