package apierror

// Causes of contexts: why an operation was ended by somebody else than its client.
var (
	ErrPreempted    error = cause("another compaction took its place")
	ErrCancelled    error = cause("another client cancelled it")
	ErrTakenForDead error = cause("another daemon took this one for dead, and has recorded the end")
	ErrDeleted      error = cause("the session was deleted")
	ErrShuttingDown error = cause("the daemon is shutting down")
)

// cause is why a context has ended.
type cause string

func (c cause) Error() string { return string(c) }

// Kind is part of tracing.Kinded.
func (cause) Kind() string { return "cancelled" }
