"""The types of the stubs for asyncio. Its twin in ``_sync`` is written by hand, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from compactord.v1.compaction_service_pb2_grpc import CompactionServiceAsyncStub
    from compactord.v1.session_service_pb2_grpc import SessionServiceAsyncStub

AsyncSessionStub: TypeAlias = "SessionServiceAsyncStub"
AsyncCompactionStub: TypeAlias = "CompactionServiceAsyncStub"
