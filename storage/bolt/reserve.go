package boltstore

import (
	"errors"

	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage"
)

// reserveBucket holds one value without meaning, of the size of Options.Reserve. Its pages are given up where a deletion
// finds no room: bbolt writes changed pages to free ones, also for a deletion. Only stores of a daemon have it.
var reserveBucket = []byte("reserve")

var reserveKey = []byte("reserve")

// keepReserve writes the reserve anew, and so shows that the disk takes that much.
func (s *Store) keepReserve() error {
	err := s.transact(func(tx *bbolt.Tx) error {
		bucket, err := tx.CreateBucketIfNotExists(reserveBucket)
		if err != nil {
			return err
		}
		return bucket.Put(reserveKey, make([]byte, s.options.Reserve))
	})
	if refuses(err) {
		s.outages.begins(err, false)
	}
	s.reserveGone = s.reserveGone && err != nil
	return err
}

// beginReserve writes the reserve of a store that has none of this size.
func (s *Store) beginReserve() {
	if s.options.Reserve == 0 {
		return
	}
	there := false
	err := s.transact(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket(reserveBucket)
		there = bucket != nil && len(bucket.Get(reserveKey)) == s.options.Reserve
		return errNothing
	})
	if errors.Is(err, errNothing) && !there {
		// Its error begins an outage.
		_ = s.keepReserve()
	}
}

// giveReserve frees the pages of the reserve for a deletion, and reports whether they are free.
func (s *Store) giveReserve() bool {
	if s.options.Reserve == 0 || s.reserveGone {
		return s.reserveGone
	}
	err := s.transact(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket(reserveBucket)
		if bucket == nil {
			return errNothing
		}
		return bucket.Delete(reserveKey)
	})
	if err != nil {
		return false
	}
	// bbolt does not use the pages while a reader of an earlier transaction may need them, and the search for free pages is one.
	s.search.end()
	s.readers.Lock()
	s.reserveGone = true
	s.readers.Unlock()
	return true
}

// admit takes the operations that may use the room that is left. While the reserve is given up, only deletions may: else
// the next deletion would find no room. Where each failure costs a scan of the file, only they may until the next probe.
func (s *Store) admit(ops []*operation) []*operation {
	if !s.spares() && (!s.reserveGone || s.keepReserve() == nil) {
		return ops
	}
	refusal := s.outages.current().Err
	if refusal == nil {
		refusal = storage.ErrFull
	}
	var admitted []*operation
	for _, op := range ops {
		if op.frees {
			admitted = append(admitted, op)
		} else {
			op.done <- refusal
		}
	}
	return admitted
}

// spares reports whether writes other than probes and deletions are refused without a try. They would most likely fail,
// and after each commit that fails bbolt reads all pages to find the free ones, where the file has no list of them.
func (s *Store) spares() bool {
	wait, waiting := s.due()
	return waiting && wait > 0 && s.db != nil && s.db.NoFreelistSync
}
