"""The trace of a program goes on in the daemon, by the instrumentation of OpenTelemetry for grpc."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import grpc
import pytest
from opentelemetry import context, trace

import compactord
from compactord._sync.wire.runtime import Stream, Streaming
from failures import raising

SPAN = trace.SpanContext(
    trace_id=0x4BF92F3577B34DA6A3CE929D0E0E4736,
    span_id=0x00F067AA0BA902B7,
    is_remote=False,
    trace_flags=trace.TraceFlags(trace.TraceFlags.SAMPLED),
)
TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Heard(grpc.GenericRpcHandler):
    """A server that knows no call, and notes the trace of each."""

    def __init__(self) -> None:
        self.traces: dict[str, str] = {}

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> None:
        method = str(handler_call_details.method).rpartition("/")[2]
        metadata = {str(key): str(value) for key, value in handler_call_details.invocation_metadata or ()}
        self.traces[method] = metadata.get("traceparent", "none")


@pytest.fixture
def heard(tmp_path: Path) -> Iterator[tuple[Heard, str]]:
    """Such a server, and its address."""
    handler = Heard()
    server = grpc.server(ThreadPoolExecutor(1), handlers=[handler])
    address = f"unix:{tmp_path / 'socket'}"
    server.add_insecure_port(address)
    server.start()
    yield handler, address
    server.stop(None).wait()


@pytest.fixture
def span() -> Iterator[None]:
    """A program with the instrumentation, in a span of its own."""
    held = context.attach(trace.set_span_in_context(trace.NonRecordingSpan(SPAN)))
    yield
    context.detach(held)


@pytest.mark.usefixtures("instrumented", "span")
def test_calls_and_streams_send_the_trace_of_the_program(heard: tuple[Heard, str]) -> None:
    handler, address = heard
    with compactord.Client(address) as client:
        with pytest.raises(compactord.CompactordError):
            client.session("s").view()
        with pytest.raises(compactord.CompactordError):
            client.session("s").compact()
    assert {method: handler.traces[method] for method in ("GetLLMView", "Compact")} == {
        "GetLLMView": TRACEPARENT,
        "Compact": TRACEPARENT,
    }


@pytest.mark.usefixtures("instrumented", "span")
async def test_asynchronous_calls_and_streams_send_it_too(heard: tuple[Heard, str]) -> None:
    handler, address = heard
    async with compactord.AsyncClient(address) as client:
        with pytest.raises(compactord.CompactordError):
            await client.session("s").view()
        with pytest.raises(compactord.CompactordError):
            await client.session("s").compact()
    assert {method: handler.traces[method] for method in ("GetLLMView", "Compact")} == {
        "GetLLMView": TRACEPARENT,
        "Compact": TRACEPARENT,
    }


def test_a_cancel_behind_an_instrumentation_waits_for_the_thread_that_reads() -> None:
    waits, goes_on, closed = threading.Event(), threading.Event(), threading.Event()

    def responses() -> Iterator[int]:
        try:
            waits.set()
            goes_on.wait()
            yield 1
        finally:
            closed.set()

    def method(_: str, **__: object) -> Iterator[int]:
        return responses()

    stream = Stream[int](cast("Streaming[str, int]", method), "request", None)
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(stream.read)
        waits.wait()
        stream.cancel()
        assert not closed.is_set()
        goes_on.set()
        with raising("CANCELLED"):
            reading.result()
    assert closed.is_set()
