package apierror

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// DeadlineError says whose deadline has passed. It is a context.DeadlineExceeded.
type DeadlineError struct {
	// Whose is for programs: call or daemon. The limits of summarizers have errors of their own.
	Whose string
	text  string
}

// Error says whose deadline has passed.
func (e *DeadlineError) Error() string { return e.text }

// Unwrap returns context.DeadlineExceeded.
func (e *DeadlineError) Unwrap() error { return context.DeadlineExceeded }

// ErrCallDeadline is of the deadline that the client has set.
var ErrCallDeadline = &DeadlineError{"call", "the deadline that the client set for the call has passed"}

// DaemonLimit is the error of a unary call that took as long as the daemon allows.
func DaemonLimit(limit time.Duration) error {
	return &DeadlineError{"daemon", fmt.Sprintf("the daemon ends such a call after %s", limit)}
}

// arrival is when a call with a deadline came, and until when its client waits.
type arrival struct {
	at, deadline time.Time
	// done is closed when the call ends. ended is when that was, and may be read once noted is closed.
	done  <-chan struct{}
	noted chan struct{}
	ended time.Time
}

type arrivalKey struct{}

// WithArrival is the context of a call that arrives now. EndOf tells by it whether the client cancelled the call, or gave up
// at its deadline.
func WithArrival(ctx context.Context, now func() time.Time) context.Context {
	return arriving(ctx, now).in(ctx)
}

// arriving is the arrival of a call, now; nil where it has no deadline.
func arriving(ctx context.Context, now func() time.Time) *arrival {
	deadline, limited := ctx.Deadline()
	if !limited {
		return nil
	}
	a := &arrival{at: now(), deadline: deadline, done: ctx.Done(), noted: make(chan struct{})}
	// What the call has started may notice its end much later, when the deadline has passed, too.
	context.AfterFunc(ctx, func() {
		a.ended = now()
		close(a.noted)
	})
	return a
}

// in is a call's context that knows its arrival.
func (a *arrival) in(ctx context.Context) context.Context {
	if a == nil {
		return ctx
	}
	return context.WithValue(ctx, arrivalKey{}, a)
}

// over says whether the call has ended, and waits until it is noted when.
func (a *arrival) over() bool {
	select {
	case <-a.done:
		<-a.noted
		return true
	default:
		return false
	}
}

// How much earlier than the deadline a client that gives up may be heard: a tenth of the time that it had, within bounds.
const (
	leastGivenUp = 50 * time.Millisecond
	mostGivenUp  = time.Second
	givenUpShare = 10
)

// gaveUp says that the client cancelled because its deadline had passed. It resets the stream then, as it does where
// somebody cancels; and it does so just before the daemon, which began to count when the request arrived, would.
func (a *arrival) gaveUp() bool {
	early := min(mostGivenUp, max(leastGivenUp, a.deadline.Sub(a.at)/givenUpShare))
	return a.deadline.Sub(a.ended) <= early
}

// EndOf is why a context has ended: context.Cause, but for a deadline of the call, which is told as what it is.
func EndOf(ctx context.Context) error {
	cause := context.Cause(ctx)
	var known *DeadlineError
	switch {
	case cause == nil || errors.As(cause, &known):
		return cause
	case errors.Is(cause, context.DeadlineExceeded):
		return ErrCallDeadline
	case errors.Is(cause, context.Canceled):
		if a, limited := ctx.Value(arrivalKey{}).(*arrival); limited && a.over() && a.gaveUp() {
			return ErrCallDeadline
		}
	}
	return cause
}
