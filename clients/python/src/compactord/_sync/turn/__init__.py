# Generated from src/compactord/_async/turn/__init__.py by scripts/unasync.py. Do not edit.
"""An agent's turns: the loop, what is kept between turns, and how turns and compactions make way."""
