"""What the tests by property of all adapters generate."""

from __future__ import annotations

from hypothesis import strategies as st


def texts() -> st.SearchStrategy[str]:
    """Texts that are not empty."""
    return st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40).filter(str.strip)
