package service

import (
	"context"
	"errors"
	"sync"

	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Causes of a compaction's end from outside.
var (
	errPreempted    = errors.New("another compaction took its place")
	errShuttingDown = errors.New("the daemon is shutting down")
)

// operation is a running compaction.
type operation struct {
	id     string
	cancel context.CancelCauseFunc
	// done is closed when the operation has written all that it will.
	done chan struct{}
}

// operations are the running compactions, at most one for each session: a second one would pay the summarizer twice for
// what only one of them can commit.
type operations struct {
	mu      sync.Mutex
	running map[string]*operation
	closed  bool
}

// start begins an operation whose context ends with ctx. Where one runs already, it is an error, or with preempt that
// one is cancelled and waited for. end must be called.
func (o *operations) start(
	ctx context.Context, session string, preempt bool,
) (opCtx context.Context, id string, end func(), err error) {
	for {
		o.mu.Lock()
		if o.closed {
			o.mu.Unlock()
			return nil, "", nil, errShuttingDown
		}
		other := o.running[session]
		if other == nil {
			break
		}
		o.mu.Unlock()
		if !preempt {
			return nil, "", nil, newError(codes.FailedPrecondition,
				compactordv1.ErrorReason_ERROR_REASON_COMPACTION_RUNNING, map[string]string{"operation_id": other.id},
				"a compaction of this session runs already: wait for it, cancel it, or set preempt")
		}
		other.cancel(errPreempted)
		select {
		case <-other.done:
		case <-ctx.Done():
			return nil, "", nil, context.Cause(ctx)
		}
	}
	defer o.mu.Unlock()
	if o.running == nil {
		o.running = make(map[string]*operation)
	}
	mine := &operation{id: newID(), done: make(chan struct{})}
	opCtx, mine.cancel = context.WithCancelCause(ctx)
	o.running[session] = mine
	return opCtx, mine.id, func() { o.end(session, mine) }, nil
}

func (o *operations) end(session string, mine *operation) {
	mine.cancel(nil)
	o.mu.Lock()
	delete(o.running, session)
	o.mu.Unlock()
	close(mine.done)
}

// cancelAll refuses new operations, cancels the running ones and returns them.
func (o *operations) cancelAll() []*operation {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	cancelled := make([]*operation, 0, len(o.running))
	for _, op := range o.running {
		op.cancel(errShuttingDown)
		cancelled = append(cancelled, op)
	}
	return cancelled
}

// close is cancelAll and waits for them.
func (o *operations) close() {
	for _, op := range o.cancelAll() {
		<-op.done
	}
}
