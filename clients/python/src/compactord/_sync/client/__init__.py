# Generated from src/compactord/_async/client/__init__.py by scripts/unasync.py. Do not edit.
"""What programs hold: clients, sessions with all that they can do, and embedded daemons."""
