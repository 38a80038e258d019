"""The details that errors carry. The package that knows their messages has no types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from importlib import import_module
from typing import Any as Untyped
from typing import NamedTuple

from google.protobuf.any_pb2 import Any
from google.protobuf.message import DecodeError

_STATUS: Untyped = import_module("google.rpc.status_pb2").Status
_KINDS: Untyped = import_module("google.rpc.error_details_pb2")

DOMAIN = "compactord"


class Details(NamedTuple):
    """What the details of an error say.

    Attributes:
        reason: The reason, where the error is compactord's own.
        metadata: What belongs to it.
        violations: The fields of a bad request, each with what is wrong.
        retry_after: When to try again.
    """

    reason: str = ""
    metadata: Mapping[str, str] = {}
    violations: tuple[tuple[str, str], ...] = ()
    retry_after: timedelta | None = None


def read(status: bytes) -> Details:
    """Read the details of a serialized ``google.rpc.Status``. What is none has no details."""
    try:
        details: Iterable[Any] = _STATUS.FromString(status).details
    except DecodeError:
        return Details()
    told = Details()
    for detail in details:
        info, request, retry = _KINDS.ErrorInfo(), _KINDS.BadRequest(), _KINDS.RetryInfo()
        if detail.Unpack(info) and info.domain == DOMAIN:
            told = told._replace(reason=info.reason, metadata=dict(info.metadata))
        elif detail.Unpack(request):
            told = told._replace(violations=tuple((v.field, v.description) for v in request.field_violations))
        elif detail.Unpack(retry):
            told = told._replace(retry_after=retry.retry_delay.ToTimedelta())
    return told
