"""The calls of a client: channel, stubs, streams, and exceptions in place of gRPC's errors."""
