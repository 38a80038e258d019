"""The types of the stubs for threads. The version in ``_async`` is also handwritten."""

from __future__ import annotations

from typing import TypeAlias

from compactord.v1.compaction_service_pb2_grpc import CompactionServiceStub
from compactord.v1.session_service_pb2_grpc import SessionServiceStub

SessionStub: TypeAlias = SessionServiceStub
CompactionStub: TypeAlias = CompactionServiceStub
