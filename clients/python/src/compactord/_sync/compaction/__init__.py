# Generated from src/compactord/_async/compaction/__init__.py by scripts/unasync.py. Do not edit.
"""Compactions of a session: as events, by the daemon's summarizers or by the client's own model."""
