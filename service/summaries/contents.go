package summaries

import (
	"context"
	"sync"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

// contents reads messages from the log, where the operation has outlines of them.
type contents struct {
	outlined bool
	read     func(l *compactordv1.LoggedMessage) (*compactordv1.LoggedMessage, error)

	mu      sync.Mutex
	failure error
}

// newContents returns the contents of a state. They are read until ctx ends.
func newContents(ctx context.Context, s *session.State) *contents {
	return &contents{
		outlined: s.Outlines != nil,
		read: func(l *compactordv1.LoggedMessage) (*compactordv1.LoggedMessage, error) {
			return s.Whole(ctx, l)
		},
	}
}

// message returns a message of the state as it is in the log.
func (c *contents) message(l *compactordv1.LoggedMessage) (*compactordv1.LoggedMessage, error) {
	whole, err := c.read(l)
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.failure == nil {
			c.failure = err
		}
	}
	return whole, err
}

// failed returns the first error of reading. No other summarizer can write without what was not read.
func (c *contents) failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failure
}

// forRequests returns what requests read messages with; nil where they have them.
func (c *contents) forRequests() func(*compactordv1.LoggedMessage) (*compactordv1.LoggedMessage, error) {
	if !c.outlined {
		return nil
	}
	return c.message
}

// readBy returns a request as a summarizer can read it.
func readBy(by summarizers.Summarizer, req *summarizers.Request) (*summarizers.Request, error) {
	if _, can := by.(summarizers.Piecewise); can {
		return req, nil
	}
	return req.WithContents()
}
