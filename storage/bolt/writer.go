package boltstore

import (
	"errors"

	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage"
)

// batchBytes bounds what one transaction writes, since all of it is in memory until then.
const batchBytes = 32 << 20

// errNothing ends a transaction in which no operation wrote anything, so that nothing is synced.
var errNothing = errors.New("nothing to write")

// write runs operations until the store is closed and none is waiting.
func (s *Store) write() {
	defer close(s.writer)
	s.beginReserve()
	for sweeping := true; ; {
		// Where an outage ends, a sweep that it has ended goes on.
		sweeping = s.probe() || sweeping
		s.completeList()
		ops, open := s.queue.take(batchBytes)
		switch {
		case len(ops) > 0:
			sweeping = s.inTurn(s.commit(ops) || sweeping)
		case !open:
			s.leave()
			return
		case sweeping:
			sweeping = s.sweep()
		case s.overwrites():
		default:
			s.idle()
		}
	}
}

// commit runs operations in one transaction and sends their results. It reports whether a deleted log is still to be
// removed.
func (s *Store) commit(ops []*operation) (sweeping bool) {
	if ops = s.admit(ops); len(ops) == 0 {
		return false
	}
	// Those who wait for the commit need not wait for this.
	defer s.follow()
	outcomes := make([]error, len(ops))
	write := func(tx *transaction) error {
		written := 0
		for i, op := range ops {
			if outcomes[i] = op.ended(); outcomes[i] != nil {
				continue
			}
			var change func() error
			// Damage that it meets is its own: the others go on.
			outcomes[i] = tx.guarded(func() (err error) {
				change, err = op.prepare(tx)
				return err
			})
			if outcomes[i] != nil {
				continue
			}
			if err := change(); err != nil {
				return err
			}
			written++
		}
		if written == 0 {
			return errNothing
		}
		sweeping = s.hasDead(tx)
		return nil
	}
	err := s.update(write)
	if len(ops) == 1 && ops[0].frees && errors.Is(err, storage.ErrFull) && s.giveReserve() {
		err = s.update(write)
		s.searchAgain()
	}
	switch {
	case err == nil:
		s.reportSynced(ops, outcomes)
		s.noteCommitted(ops, outcomes)
	case errors.Is(err, errNothing):
	case len(ops) > 1 && (!refuses(err) || errors.Is(err, storage.ErrFull)):
		// One of them makes the transaction fail for all, by its size or by damage. Running each alone shows which.
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

// update runs a transaction that writes. The caller follows its commit.
func (s *Store) update(fn func(tx *transaction) error) error {
	return s.attempt(func(tx *bbolt.Tx) error { return fn(s.begin(tx)) })
}

// noteCommitted notes what operations have changed: that they have freed what must not be left, and what they say themselves.
func (s *Store) noteCommitted(ops []*operation, outcomes []error) {
	for i, op := range ops {
		switch {
		case outcomes[i] != nil:
			continue
		case op.obsoletes:
			s.freed()
		}
		if op.committed != nil {
			op.committed()
		}
	}
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
