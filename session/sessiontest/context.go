package sessiontest

import (
	"context"
	"errors"
	"time"
)

// ErrEnough is the error of an EndingContext that has ended.
var ErrEnough = errors.New("enough")

// EndingContext is a context that ends after a certain number of calls of Err. Only one goroutine may use it.
type EndingContext struct {
	looks int
	done  chan struct{}
}

var _ context.Context = (*EndingContext)(nil)

// EndsAfter returns a context that ends at this call of Err.
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

// Deadline implements context.Context: there is no deadline.
func (*EndingContext) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

// Value implements context.Context: there are no values.
func (*EndingContext) Value(any) any { return nil }
