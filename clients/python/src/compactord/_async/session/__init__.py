"""A session as far as its log goes: reading, writing, points and watches."""
