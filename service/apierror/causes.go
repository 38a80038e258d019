package apierror

import "errors"

// Causes of contexts: why an operation was ended by somebody else than its client.
var (
	ErrPreempted    = errors.New("another compaction took its place")
	ErrCancelled    = errors.New("another client cancelled it")
	ErrDeleted      = errors.New("the session was deleted")
	ErrShuttingDown = errors.New("the daemon is shutting down")
)
