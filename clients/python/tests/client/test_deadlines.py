"""What it means that a call ended when its time was over."""

from __future__ import annotations

import grpc
import pytest

import compactord
from compactord.deadlines import Deadline

CANCELLED = compactord.CompactordError("RST_STREAM", code=grpc.StatusCode.CANCELLED)
LATE = compactord.DeadlineExceededError("Deadline Exceeded", code=grpc.StatusCode.DEADLINE_EXCEEDED)


@pytest.mark.parametrize("error", [CANCELLED, LATE])
def test_a_call_that_is_cut_off_once_its_time_is_over_is_late(error: compactord.CompactordError) -> None:
    now = [50.0]
    deadline = Deadline(30.0, lambda: now[0])
    now[0] = 80.0
    judged = deadline.classified(error)
    assert isinstance(judged, compactord.DeadlineExceededError)
    assert judged.message == "no answer within 30 s"


def test_a_call_that_is_cancelled_before_is_cancelled() -> None:
    now = [50.0]
    deadline = Deadline(30.0, lambda: now[0])
    now[0] = 70.0
    assert deadline.classified(CANCELLED) is CANCELLED
    assert Deadline(None, lambda: now[0]).classified(CANCELLED) is CANCELLED


def test_what_the_daemon_has_a_reason_for_stays() -> None:
    now = [50.0]
    deadline = Deadline(30.0, lambda: now[0])
    now[0] = 90.0
    told = compactord.CompactordError(
        "by another", code=grpc.StatusCode.CANCELLED, reason="CANCELLED", from_daemon=True
    )
    assert deadline.classified(told) is told
