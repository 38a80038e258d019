"""The types of the stubs for threads. Its twin in ``_async`` is written by hand, too."""

from __future__ import annotations

from typing import TypeAlias

from compactord.v1.compaction_service_pb2_grpc import CompactionServiceStub
from compactord.v1.session_service_pb2_grpc import SessionServiceStub

SessionStub: TypeAlias = SessionServiceStub
CompactionStub: TypeAlias = CompactionServiceStub
