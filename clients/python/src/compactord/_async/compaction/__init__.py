"""Compactions of a session, with the daemon's summarizers or the client's own model."""
