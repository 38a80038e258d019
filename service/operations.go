package service

import (
	"context"
	"sync"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
)

// operation is what runs a summarizer for a session: a compaction, or a revert that summarizes.
type operation struct {
	id     string
	cancel context.CancelCauseFunc
	// done is closed when the operation has written all that it will.
	done chan struct{}
	// ending is its last event; nil where it has none. It may be read once done is closed.
	ending *compactordv1.CompactionEvent
}

// operations are the running operations, at most one for each session: a second one would pay the summarizer twice for
// what only one of them can commit.
type operations struct {
	mu      sync.Mutex
	running map[string]*operation
	closed  bool
}

// terms are how an operation is to be started.
type terms struct {
	// preempt: one that runs already is cancelled and waited for. Else it is an error.
	preempt bool
	// detach: the operation outlives the call that starts it. Else it ends with it.
	detach bool
}

// start begins an operation of the session and returns the context that it runs under. end must be called.
func (o *operations) start(ctx context.Context, session string, t terms) (context.Context, *operation, error) {
	for {
		o.mu.Lock()
		if o.closed {
			o.mu.Unlock()
			return nil, nil, apierror.ErrShuttingDown
		}
		other := o.running[session]
		if other == nil {
			break
		}
		o.mu.Unlock()
		if !t.preempt {
			return nil, nil, apierror.New(compactordv1.ErrorReason_ERROR_REASON_COMPACTION_RUNNING, map[string]string{"operation_id": other.id},
				"a compaction of this session runs already: wait for it, cancel it, or set preempt")
		}
		other.cancel(apierror.ErrPreempted)
		if err := other.wait(ctx); err != nil {
			return nil, nil, err
		}
	}
	defer o.mu.Unlock()
	if o.running == nil {
		o.running = make(map[string]*operation)
	}
	if t.detach {
		ctx = context.WithoutCancel(ctx)
	}
	mine := &operation{id: newID(), done: make(chan struct{})}
	ctx, mine.cancel = context.WithCancelCause(ctx)
	o.running[session] = mine
	return ctx, mine, nil
}

// end takes the operation of the session off the list. ending is its last event, or nil.
func (o *operations) end(session string, mine *operation, ending *compactordv1.CompactionEvent) {
	mine.cancel(nil)
	o.mu.Lock()
	delete(o.running, session)
	o.mu.Unlock()
	mine.ending = ending
	close(mine.done)
}

// find returns the running operation of the session, if it has this id or id is empty; else nil.
func (o *operations) find(session, id string) *operation {
	o.mu.Lock()
	defer o.mu.Unlock()
	if op := o.running[session]; op != nil && (id == "" || id == op.id) {
		return op
	}
	return nil
}

// wait returns once the operation has ended, or the cause of the context's end.
func (op *operation) wait(ctx context.Context) error {
	select {
	case <-op.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (o *operations) all() []*operation {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := make([]*operation, 0, len(o.running))
	for _, op := range o.running {
		all = append(all, op)
	}
	return all
}

// waitAll returns once the operations that run now have ended.
func (o *operations) waitAll() {
	for _, op := range o.all() {
		<-op.done
	}
}

// cancelAll refuses new operations and cancels the running ones.
func (o *operations) cancelAll() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	for _, op := range o.all() {
		op.cancel(apierror.ErrShuttingDown)
	}
}

// close is cancelAll and waits for them.
func (o *operations) close() {
	o.cancelAll()
	o.waitAll()
}
