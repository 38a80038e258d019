"""The package for threads: generated from :mod:`compactord._async`, but for ``runtime``."""
