// Package operations holds the operations that run a summarizer for a session: at most one for each, which others can wait
// for and cancel.
package operations

import (
	"context"
	"sync"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
)

// Operation is what runs a summarizer for a session: a compaction, or a revert that summarizes.
type Operation struct {
	// ID is what clients and the log name it by.
	ID string
	// Cancel ends its context for a cause.
	Cancel context.CancelCauseFunc
	// done is closed when the operation has written all that it will.
	done chan struct{}
	// Ending is its last event; nil where it has none. It may be read once Wait has returned nil.
	Ending *compactordv1.CompactionEvent
}

// Running are the operations that run, at most one for each session: a second one would pay the summarizer twice for
// what only one of them can commit.
type Running struct {
	mu      sync.Mutex
	running map[string]*Operation
	closed  bool
}

// Terms are how an operation is to be started.
type Terms struct {
	// Preempt: one that runs already is cancelled and waited for. Else it is an error.
	Preempt bool
	// Detach: the operation outlives the call that starts it. Else it ends with it.
	Detach bool
}

// Start begins an operation of the session and returns the context that it runs under. End must be called.
func (o *Running) Start(ctx context.Context, session string, t Terms) (context.Context, *Operation, error) {
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
		if !t.Preempt {
			return nil, nil, apierror.New(compactordv1.ErrorReason_ERROR_REASON_COMPACTION_RUNNING, map[string]string{"operation_id": other.ID},
				"a compaction of this session runs already: wait for it, cancel it, or set preempt")
		}
		other.Cancel(apierror.ErrPreempted)
		if err := other.Wait(ctx); err != nil {
			return nil, nil, err
		}
	}
	defer o.mu.Unlock()
	if o.running == nil {
		o.running = make(map[string]*Operation)
	}
	if t.Detach {
		ctx = context.WithoutCancel(ctx)
	}
	mine := &Operation{ID: sessionlog.NewID(), done: make(chan struct{})}
	ctx, mine.Cancel = context.WithCancelCause(ctx)
	o.running[session] = mine
	return ctx, mine, nil
}

// End takes the operation of the session off the list. ending is its last event, or nil.
func (o *Running) End(session string, mine *Operation, ending *compactordv1.CompactionEvent) {
	mine.Cancel(nil)
	o.mu.Lock()
	delete(o.running, session)
	o.mu.Unlock()
	mine.Ending = ending
	close(mine.done)
}

// Find returns the running operation of the session, if it has this id or id is empty; else nil.
func (o *Running) Find(session, id string) *Operation {
	o.mu.Lock()
	defer o.mu.Unlock()
	if op := o.running[session]; op != nil && (id == "" || id == op.ID) {
		return op
	}
	return nil
}

// Wait returns once the operation has ended, or the cause of the context's end.
func (op *Operation) Wait(ctx context.Context) error {
	select {
	case <-op.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (o *Running) all() []*Operation {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := make([]*Operation, 0, len(o.running))
	for _, op := range o.running {
		all = append(all, op)
	}
	return all
}

// WaitAll returns once the operations that run now have ended.
func (o *Running) WaitAll() {
	for _, op := range o.all() {
		<-op.done
	}
}

// CancelAll refuses new operations and cancels the running ones.
func (o *Running) CancelAll() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	for _, op := range o.all() {
		op.Cancel(apierror.ErrShuttingDown)
	}
}

// Close is CancelAll and waits for them.
func (o *Running) Close() {
	o.CancelAll()
	o.WaitAll()
}
