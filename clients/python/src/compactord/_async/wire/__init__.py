"""The calls of a client: channel, stubs, streams and errors."""
