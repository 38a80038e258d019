# Generated from src/compactord/_async/wire/__init__.py by scripts/unasync.py. Do not edit.
"""The calls of a client: channel, stubs, streams and errors."""
