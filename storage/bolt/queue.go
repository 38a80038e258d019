package boltstore

import (
	"context"
	"sync"

	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage"
)

// operation is what one call wants written.
type operation struct {
	// prepare checks all that the operation depends on, and writes nothing. What it returns is then run in the same
	// transaction; an error of that one undoes the whole transaction.
	prepare func(tx *bbolt.Tx) (write func() error, err error)
	// change is the row that it leaves; nil where it leaves none.
	change *change
	// size is how many bytes it writes, more or less.
	size int

	// ended returns why its caller no longer wants it; nil while it does.
	ended func() error
	// done gets the outcome, once.
	done chan error
}

// queue holds the operations that wait for the writer.
type queue struct {
	mu      sync.Mutex
	waiting []*operation
	closed  bool
	// wake has room for one: that there is something to look at.
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

// withdraw takes an operation back, unless the writer has it already.
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

// take returns the operations that wait, up to limit bytes but at least one, and whether more may come.
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

// do has the writer carry out an operation and returns its outcome.
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
		// It is in a transaction: what becomes of that is the truth.
		return <-op.done
	}
}
