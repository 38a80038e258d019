package apierror

import "errors"

// Who, other than the client, ends what runs. They are causes of contexts.
var (
	ErrPreempted    = errors.New("another compaction took its place")
	ErrCancelled    = errors.New("another client cancelled it")
	ErrDeleted      = errors.New("the session was deleted")
	ErrShuttingDown = errors.New("the daemon is shutting down")
)
