"""What the tests of the client share."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import pytest


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
