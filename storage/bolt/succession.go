package boltstore

import (
	"errors"

	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage/internal/forms"
)

// succession is a row of transactions that nothing else writes between. Where the header of one is damaged before the next one
// begins, bbolt would go on from an earlier one, and say nothing of what is missing.
type succession struct{ last int }

// begin begins the next transaction.
func (s *succession) begin(db *bbolt.DB) (*bbolt.Tx, error) {
	tx, err := db.Begin(true)
	if err != nil {
		return nil, err
	}
	if err := s.next(tx); err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return tx, nil
}

// next returns an error where a transaction that writes does not follow the last one.
func (s *succession) next(tx *bbolt.Tx) error {
	if s.last > 0 && tx.ID() != s.last+1 {
		return errHeaderDamaged
	}
	s.last = tx.ID()
	return nil
}

// ends returns an error where a transaction that reads does not see the last one.
func (s *succession) ends(tx *bbolt.Tx) error {
	if tx.ID() != s.last {
		return errHeaderDamaged
	}
	return nil
}

// errHeaderDamaged means that a commit is missing, since its header was damaged.
var errHeaderDamaged = forms.Damaged("the header of the last commit is damaged")
