"""The package for threads: generated from :mod:`compactord._async`, but for what ``scripts/unasync.py`` names."""
