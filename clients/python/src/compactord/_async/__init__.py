"""The package for asyncio. :mod:`compactord._sync` is generated from it."""
