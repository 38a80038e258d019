package boltstore

import (
	"errors"
	"fmt"

	"go.etcd.io/bbolt"
)

// batchBytes bounds what one transaction writes, since all of it is in memory until then.
const batchBytes = 32 << 20

// errNothing ends a transaction in which no operation wrote anything, so that nothing is synced.
var errNothing = errors.New("nothing to write")

// write runs operations until the store is closed and none is waiting.
func (s *Store) write() {
	defer close(s.writer)
	for sweeping := true; ; {
		ops, open := s.queue.take(batchBytes)
		switch {
		case len(ops) > 0:
			sweeping = s.commit(ops) || sweeping
		case !open:
			return
		case sweeping:
			sweeping = s.sweep()
		default:
			<-s.queue.wake
		}
	}
}

// commit runs operations in one transaction and sends their results. It reports whether a deleted log is still to be
// removed.
func (s *Store) commit(ops []*operation) (sweeping bool) {
	outcomes := make([]error, len(ops))
	err := s.update(func(tx *transaction) error {
		written := 0
		for i, op := range ops {
			if outcomes[i] = op.ended(); outcomes[i] != nil {
				continue
			}
			var write func() error
			// Damage that it meets is its own: the others go on.
			outcomes[i] = guarded(func() (err error) {
				write, err = op.prepare(tx)
				return err
			})
			if outcomes[i] != nil {
				continue
			}
			if err := write(); err != nil {
				return err
			}
			written++
		}
		if written == 0 {
			return errNothing
		}
		sweeping = hasDead(tx)
		return nil
	})
	switch {
	case err == nil:
		s.reportSynced(ops, outcomes)
	case errors.Is(err, errNothing):
	case len(ops) > 1 && s.diskError == nil:
		// One of them makes the transaction fail for all, by its size or by an error of the disk. Running each alone
		// shows which.
		for _, op := range ops {
			sweeping = s.commit([]*operation{op}) || sweeping
		}
		return sweeping
	default:
		for i := range outcomes {
			outcomes[i] = err
		}
	}
	for i, op := range ops {
		op.done <- outcomes[i]
	}
	return sweeping
}

// update runs a transaction that writes. After a disk error in the middle of a commit it runs no more of them.
func (s *Store) update(fn func(tx *transaction) error) (err error) {
	if s.diskError != nil {
		return s.diskError
	}
	committing := false
	defer func() {
		if err != nil && committing && !isFull(err) {
			// The kernel may have dropped what it could not write; another sync would then report success.
			s.diskError = fmt.Errorf("the disk failed; the store writes nothing until it is opened again: %w", err)
		}
	}()
	defer guard(&err)()
	s.limitList()
	err = s.db.Update(func(tx *bbolt.Tx) error {
		if err := fn(begin(tx, s.has)); err != nil {
			return err
		}
		committing = true
		return nil
	})
	if err == nil {
		s.sealList()
	}
	return mapError(err)
}

func (s *Store) reportSynced(ops []*operation, outcomes []error) {
	if s.synced == nil {
		return
	}
	var changes []change
	for i, op := range ops {
		if outcomes[i] == nil && op.change != nil {
			changes = append(changes, *op.change)
		}
	}
	s.synced(changes)
}
