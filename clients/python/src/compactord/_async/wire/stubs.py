"""The types of the stubs for asyncio. The version in ``_sync`` is also handwritten."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from compactord.v1.compaction_service_pb2_grpc import CompactionServiceAsyncStub
    from compactord.v1.session_service_pb2_grpc import SessionServiceAsyncStub

AsyncSessionStub: TypeAlias = "SessionServiceAsyncStub"
AsyncCompactionStub: TypeAlias = "CompactionServiceAsyncStub"
