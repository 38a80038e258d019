package boltstore

import (
	"errors"
	"fmt"

	"go.etcd.io/bbolt"
)

// batchBytes bounds what one transaction takes in: all of it is in memory until it is written.
const batchBytes = 32 << 20

// errNothing ends a transaction in which no operation wrote anything: there is nothing to sync.
var errNothing = errors.New("nothing to write")

// write carries out operations until the store is closed and none waits.
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

// commit carries out operations in one transaction and tells those who wait. It returns whether a log is left to sweep.
func (s *Store) commit(ops []*operation) (sweeping bool) {
	outcomes := make([]error, len(ops))
	err := s.update(func(tx *bbolt.Tx) error {
		written := 0
		for i, op := range ops {
			if outcomes[i] = op.ended(); outcomes[i] != nil {
				continue
			}
			write, err := op.prepare(tx)
			if outcomes[i] = err; err != nil {
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
		sweeping = someDead(tx)
		return nil
	})
	switch {
	case err == nil:
		s.tellSynced(ops, outcomes)
	case errors.Is(err, errNothing):
	case len(ops) > 1 && s.lost == nil:
		// One of them spoils it for all, by its size or by what it meets on the disk: each alone shows which.
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

// update runs a transaction that writes. After an error of the disk in the middle of a commit no more are run.
func (s *Store) update(fn func(tx *bbolt.Tx) error) (err error) {
	if s.lost != nil {
		return s.lost
	}
	committing := false
	defer func() {
		if err != nil && committing && !isFull(err) {
			// What the kernel could not write it may have dropped: another sync would then report success.
			s.lost = fmt.Errorf("the disk failed, the store takes no more until it is opened anew: %w", err)
		}
	}()
	defer guard(&err)()
	err = s.db.Update(func(tx *bbolt.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		committing = true
		return nil
	})
	return mapError(err)
}

func (s *Store) tellSynced(ops []*operation, outcomes []error) {
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
