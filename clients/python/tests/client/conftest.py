"""What the tests of the client share."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import pytest

import compactord
from daemons import Proxy, Restarted


@pytest.fixture(scope="module")
def client(binary: str) -> Iterator[compactord.Client]:
    """A client of a daemon that the tests of a module share."""
    with compactord.embedded(binary) as client:
        yield client


@pytest.fixture
def proxy(client: compactord.Client) -> Iterator[Proxy]:
    """A proxy before the daemon of the module."""
    made = Proxy(client.address)
    yield made
    made.close()


@pytest.fixture
def restarted(binary: str) -> Iterator[Restarted]:
    """A daemon that can be killed and started again."""
    daemon = Restarted(binary)
    daemon.start()
    yield daemon
    daemon.remove()


@pytest.fixture
def instrumented() -> Iterator[None]:
    """A program with OpenTelemetry's instrumentation of grpc, for the clients that it makes from now on."""
    # Its module has no types.
    module = importlib.import_module("opentelemetry.instrumentation.grpc")
    blocking, asynchronous = module.GrpcInstrumentorClient(), module.GrpcAioInstrumentorClient()
    blocking.instrument()
    asynchronous.instrument()
    yield
    blocking.uninstrument()
    asynchronous.uninstrument()
