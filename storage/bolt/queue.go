package boltstore

import (
	"context"
	"sync"

	"github.com/compactord/compactord/storage"
)

// operation is a write of one call.
type operation struct {
	// prepare checks everything that the operation depends on, and writes nothing. The function that it returns then
	// runs in the same transaction; an error of that one undoes the whole transaction.
	prepare func(tx *transaction) (write func() error, err error)
	// change is the row that it writes; nil where it writes none.
	change *change
	// size is about how many bytes it writes.
	size int
	// frees reports that it only makes room, and so may use the reserve.
	frees bool
	// obsoletes reports that what it replaces or removes must not be left in free pages.
	obsoletes bool
	// committed is called by the writer once the transaction is on the disk, before the next one begins; nil where nobody asks.
	committed func()

	// ended returns the reason why the caller no longer waits; nil while it does.
	ended func() error
	// done receives the result, once.
	done chan error
}

// queue holds the operations that wait for the writer.
type queue struct {
	mu      sync.Mutex
	waiting []*operation
	closed  bool
	// wake holds at most one signal to look at the queue.
	wake chan struct{}
}

func newQueue() *queue {
	return &queue{wake: make(chan struct{}, 1)}
}

func (q *queue) push(op *operation) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return storage.ErrClosed
	}
	q.waiting = append(q.waiting, op)
	q.signal()
	return nil
}

// withdraw removes an operation from the queue; false where the writer has it already.
func (q *queue) withdraw(op *operation) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, waiting := range q.waiting {
		if waiting == op {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// take removes and returns the waiting operations, up to limit bytes but at least one. open reports whether more may
// come.
func (q *queue) take(limit int) (ops []*operation, open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, size := 0, 0
	for n < len(q.waiting) && (n == 0 || size+q.waiting[n].size <= limit) {
		size += q.waiting[n].size
		n++
	}
	ops = append(ops, q.waiting[:n]...)
	q.waiting = append(q.waiting[:0], q.waiting[n:]...)
	clear(q.waiting[len(q.waiting):cap(q.waiting)])
	return ops, !q.closed
}

// length returns how many operations wait.
func (q *queue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.signal()
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// do passes an operation to the writer and returns its result.
func (s *Store) do(ctx context.Context, op *operation) error {
	if s.closed.Load() {
		return storage.ErrClosed
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if s.writer == nil {
		return ErrReadOnly
	}
	op.ended = func() error { return context.Cause(ctx) }
	op.done = make(chan error, 1)
	if err := s.queue.push(op); err != nil {
		return err
	}
	select {
	case err := <-op.done:
		return err
	case <-ctx.Done():
		if s.queue.withdraw(op) {
			return context.Cause(ctx)
		}
		// The transaction has begun, so its result is the true one.
		return <-op.done
	}
}
