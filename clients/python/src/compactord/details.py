"""The details of errors. The package of their messages, googleapis-common-protos, has no types."""

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
    """The details of an error.

    Attributes:
        reason: The reason; empty where the error is not from compactord.
        metadata: The values that belong to the reason.
        violations: The wrong fields of the request, each with a description.
        retry_after: How long to wait before a retry.
    """

    reason: str = ""
    metadata: Mapping[str, str] = {}
    violations: tuple[tuple[str, str], ...] = ()
    retry_after: timedelta | None = None


def read(status: bytes) -> Details:
    """Read the details of a serialized ``google.rpc.Status``. Other bytes have no details."""
    try:
        details: Iterable[Any] = _STATUS.FromString(status).details
    except DecodeError:
        return Details()
    result = Details()
    for detail in details:
        info, request, retry = _KINDS.ErrorInfo(), _KINDS.BadRequest(), _KINDS.RetryInfo()
        if detail.Unpack(info) and info.domain == DOMAIN:
            result = result._replace(reason=info.reason, metadata=dict(info.metadata))
        elif detail.Unpack(request):
            result = result._replace(violations=tuple((v.field, v.description) for v in request.field_violations))
        elif detail.Unpack(retry):
            result = result._replace(retry_after=retry.retry_delay.ToTimedelta())
    return result
