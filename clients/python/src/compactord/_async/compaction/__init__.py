"""Compactions of a session: as events, by the daemon's summarizers or by the client's own model."""
