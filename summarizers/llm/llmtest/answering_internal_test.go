package llmtest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A test that waited for Closed once hung: the request's context had ended, but what is called after it was stopped
// before it began.
func TestARequestWhoseContextHasEndedIsClosed(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	close(gone)
	a := &answering{
		server: New(t), req: &Request{closed: make(chan struct{})}, gone: gone, settle: func() bool { return true },
	}
	a.whole()
	select {
	case <-a.req.Closed():
	default:
		require.Fail(t, "the client has gone, and the request is not closed")
	}
}
