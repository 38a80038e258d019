# Generated from src/compactord/_async/compaction/__init__.py by scripts/unasync.py. Do not edit.
"""Compactions of a session, with the daemon's summarizers or the client's own model."""
