# Generated from src/compactord/_async/client/__init__.py by scripts/unasync.py. Do not edit.
"""The public classes: clients, sessions and embedded daemons."""
