# Generated from src/compactord/_async/session/__init__.py by scripts/unasync.py. Do not edit.
"""A session as far as its log goes: reading, writing, points and watches."""
