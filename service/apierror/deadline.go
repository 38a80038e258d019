package apierror

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// DeadlineError says whose deadline has passed. It wraps context.DeadlineExceeded.
type DeadlineError struct {
	// Whose is for programs: `call` or `daemon`. The time limits of summarizers have other errors.
	Whose string
	text  string
}

// Error says whose deadline has passed.
func (e *DeadlineError) Error() string { return e.text }

// Unwrap returns context.DeadlineExceeded.
func (e *DeadlineError) Unwrap() error { return context.DeadlineExceeded }

// ErrCallDeadline is the error for the deadline that the client has set.
var ErrCallDeadline = &DeadlineError{"call", "the deadline that the client set for the call has passed"}

// DaemonLimit returns the error of a unary call that reached the daemon's time limit.
func DaemonLimit(limit time.Duration) error {
	return &DeadlineError{"daemon", fmt.Sprintf("the daemon ends such a call after %s", limit)}
}

// SlowSender returns the error of a call whose request did not arrive.
func SlowSender(limit time.Duration) error {
	return &DeadlineError{"daemon", fmt.Sprintf("the next part of the request did not arrive within %s", limit)}
}

// arrival is when a call arrived that has a deadline, and the deadline.
type arrival struct {
	at, deadline time.Time
	// done is closed when the call ends. ended is the time of that, and may be read after noted is closed.
	done  <-chan struct{}
	noted chan struct{}
	ended time.Time
}

type arrivalKey struct{}

// WithArrival returns the context of a call that arrives now. By it EndCause finds out whether the client cancelled the
// call, or gave up at its deadline.
func WithArrival(ctx context.Context, now func() time.Time) context.Context {
	return newArrival(ctx, now).addTo(ctx)
}

// newArrival returns the arrival of a call that arrives now; nil where it has no deadline.
func newArrival(ctx context.Context, now func() time.Time) *arrival {
	deadline, limited := ctx.Deadline()
	if !limited {
		return nil
	}
	a := &arrival{at: now(), deadline: deadline, done: ctx.Done(), noted: make(chan struct{})}
	// Note the time of the end now. The handler may notice it much later, after the deadline.
	context.AfterFunc(ctx, func() {
		a.ended = now()
		close(a.noted)
	})
	return a
}

// addTo returns the context with the arrival.
func (a *arrival) addTo(ctx context.Context) context.Context {
	if a == nil {
		return ctx
	}
	return context.WithValue(ctx, arrivalKey{}, a)
}

// over says whether the call has ended. If so, ended may be read.
func (a *arrival) over() bool {
	select {
	case <-a.done:
		<-a.noted
		return true
	default:
		return false
	}
}

// How much before the deadline a cancel counts as one by the deadline: a tenth of the call's time, within these bounds.
const (
	leastGivenUp = 50 * time.Millisecond
	mostGivenUp  = time.Second
	givenUpShare = 10
)

// gaveUp says that the client cancelled because its deadline had passed. A client then resets the stream, as it does
// for any cancel. It does so shortly before the daemon's own deadline, which counts from the arrival of the request.
func (a *arrival) gaveUp() bool {
	early := min(mostGivenUp, max(leastGivenUp, a.deadline.Sub(a.at)/givenUpShare))
	return a.deadline.Sub(a.ended) <= early
}

// EndCause returns why a context has ended: context.Cause, or a DeadlineError where a deadline of the call has passed.
func EndCause(ctx context.Context) error {
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
