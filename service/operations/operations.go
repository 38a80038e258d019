// Package operations holds the running operations, at most one for each session. Calls can wait for an operation and
// cancel it.
package operations

import (
	"context"
	"sync"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
)

// Operation runs a summarizer for a session: a compaction, or a revert with a summary.
type Operation struct {
	// ID is the operation's id for clients and the log.
	ID string
	// Cancel ends its context with a cause.
	Cancel context.CancelCauseFunc
	// done is closed after the operation has written everything.
	done chan struct{}
	// leave ends what Running.Begin has counted; nil where it has not.
	leave func()
	// Ending is its last event; nil where it has none. It may be read after Wait has returned nil.
	Ending *compactordv1.CompactionEvent
}

// Running holds the running operations, at most one for each session: only one of two could commit, and the summarizer
// would be paid for both.
type Running struct {
	// Begin counts an operation until it calls leave, or refuses it. Nil: none is refused.
	Begin func(ctx context.Context) (leave func(), err error)

	mu      sync.Mutex
	running map[string]*Operation
	closed  bool
}

// StartOptions are options of Start.
type StartOptions struct {
	// Preempt cancels an operation that runs already, and waits for it. Without it, that is an error.
	Preempt bool
	// Detach lets the operation continue after the call that started it ends. Without it, the operation ends with the
	// call.
	Detach bool
}

// Start begins an operation of a session and returns the context that it must use. The caller must call End.
func (r *Running) Start(ctx context.Context, session string, options StartOptions) (context.Context, *Operation, error) {
	for {
		r.mu.Lock()
		if r.closed {
			r.mu.Unlock()
			return nil, nil, apierror.ErrShuttingDown
		}
		other := r.running[session]
		if other == nil {
			break
		}
		r.mu.Unlock()
		if !options.Preempt {
			return nil, nil, RunsAlready(other.ID)
		}
		other.Cancel(apierror.ErrPreempted)
		if err := other.Wait(ctx); err != nil {
			return nil, nil, err
		}
	}
	defer r.mu.Unlock()
	if r.running == nil {
		r.running = make(map[string]*Operation)
	}
	if options.Detach {
		ctx = context.WithoutCancel(ctx)
	}
	mine := &Operation{ID: sessionlog.NewID(), done: make(chan struct{})}
	if r.Begin != nil {
		var err error
		if mine.leave, err = r.Begin(ctx); err != nil {
			return nil, nil, err
		}
	}
	ctx, mine.Cancel = context.WithCancelCause(ctx)
	r.running[session] = mine
	return ctx, mine, nil
}

// RunsAlready returns the error of a call that would start a second operation of a session.
func RunsAlready(id string) *apierror.Error {
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_COMPACTION_RUNNING, map[string]string{"operation_id": id},
		"a compaction of this session runs already: wait for it, cancel it, or set preempt")
}

// End removes the session's operation. ending is its last event, or nil.
func (r *Running) End(session string, mine *Operation, ending *compactordv1.CompactionEvent) {
	mine.Cancel(nil)
	r.mu.Lock()
	delete(r.running, session)
	r.mu.Unlock()
	if mine.leave != nil {
		mine.leave()
	}
	mine.Ending = ending
	close(mine.done)
}

// Find returns the session's running operation if it has this id or id is empty; else nil.
func (r *Running) Find(session, id string) *Operation {
	r.mu.Lock()
	defer r.mu.Unlock()
	if op := r.running[session]; op != nil && (id == "" || id == op.ID) {
		return op
	}
	return nil
}

// Wait waits until the operation has ended. It returns an error if ctx ends first.
func (op *Operation) Wait(ctx context.Context) error {
	select {
	case <-op.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *Running) all() []*Operation {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*Operation, 0, len(r.running))
	for _, op := range r.running {
		all = append(all, op)
	}
	return all
}

// WaitAll waits until all operations that run now have ended.
func (r *Running) WaitAll() {
	for _, op := range r.all() {
		<-op.done
	}
}

// CancelAll refuses new operations and cancels the running ones.
func (r *Running) CancelAll() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	for _, op := range r.all() {
		op.Cancel(apierror.ErrShuttingDown)
	}
}

// Close calls CancelAll and waits for the operations.
func (r *Running) Close() {
	r.CancelAll()
	r.WaitAll()
}
