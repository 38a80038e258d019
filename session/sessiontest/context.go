package sessiontest

import (
	"context"
	"errors"
	"time"
)

// ErrEnough ends an EndingContext.
var ErrEnough = errors.New("enough")

// EndingContext is a context that ends when it has been asked so many times whether it has. One goroutine asks.
type EndingContext struct {
	looks int
	done  chan struct{}
}

var _ context.Context = (*EndingContext)(nil)

// EndsAfter returns a context that ends at that look at it.
func EndsAfter(looks int) *EndingContext {
	return &EndingContext{looks: looks, done: make(chan struct{})}
}

// Err returns ErrEnough once the context has ended.
func (c *EndingContext) Err() error {
	if c.looks > 0 {
		if c.looks--; c.looks > 0 {
			return nil
		}
		close(c.done)
	}
	return ErrEnough
}

// Done implements context.Context.
func (c *EndingContext) Done() <-chan struct{} { return c.done }

// Deadline implements context.Context: there is none.
func (*EndingContext) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

// Value implements context.Context: it carries nothing.
func (*EndingContext) Value(any) any { return nil }
