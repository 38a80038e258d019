package boltstore

import (
	"bytes"

	"github.com/compactord/compactord/storage/internal/forms"
)

// sweepKeys is the most keys of a deleted log that one transaction removes, so that deleting a large session does not
// delay other calls.
const sweepKeys = 4096

// sweepBytes is the most bytes of values that such a transaction removes.
const sweepBytes = 16 << 20

// hasDead reports whether a deleted log is still to be removed.
func (s *Store) hasDead(tx *transaction) bool {
	_, found, err := s.nextDead(tx)
	return found || err != nil
}

// nextDead returns the ordinal of a deleted log that is still to be removed. A draft that is being written is none.
func (s *Store) nextDead(tx *transaction) (ordinal uint64, found bool, err error) {
	cursor := tx.Bucket(deadBucket).Cursor(nil)
	for key, _ := cursor.First(); key != nil; key, _ = cursor.Next() {
		ordinal, err := keyOrdinal(key)
		if err != nil {
			return 0, false, forms.Damaged("bucket dead: %v", err)
		}
		if !s.drafts.has(ordinal) {
			return ordinal, true, nil
		}
	}
	return 0, false, nil
}

// sweep removes a part of the deleted logs, and reports whether more is left.
func (s *Store) sweep() (more bool) {
	defer s.follow()
	err := s.update(func(tx *transaction) error {
		ordinal, found, err := s.nextDead(tx)
		if err != nil {
			return err
		}
		if !found {
			return errNothing
		}
		if err := sweepLog(tx, ordinal); err != nil {
			return err
		}
		more = s.hasDead(tx)
		return nil
	})
	if err == nil {
		s.freed()
	}
	// Only disk space is lost by an error: the next opening or deletion tries again.
	return more && err == nil
}

// sweepLog removes up to sweepKeys keys of a log, and with the last one the log's entry in deadBucket.
func sweepLog(tx *transaction, ordinal uint64) error {
	prefix := ordinalKey(ordinal)
	left := sweep{keys: sweepKeys, bytes: sweepBytes}
	for _, name := range logBuckets {
		bucket := tx.Bucket(name)
		done, keys := left.collect(bucket, prefix)
		for _, key := range keys {
			if err := bucket.Delete(key); err != nil {
				return err
			}
		}
		if !done {
			return tx.Bucket(deadBucket).Put(prefix, nil)
		}
	}
	return tx.Bucket(deadBucket).Delete(prefix)
}

// sweep is how much one transaction may still remove.
type sweep struct{ keys, bytes int }

// collect returns the keys with a prefix that may be removed, and whether these are all. The keys are deleted later,
// since a cursor must not move over keys that are being deleted. What the values hold does not matter any more.
func (left *sweep) collect(bucket *bucket, prefix []byte) (done bool, keys [][]byte) {
	cursor := bucket.Keys(prefix)
	for key, value := cursor.Seek(prefix); bytes.HasPrefix(key, prefix); key, value = cursor.Next() {
		if left.keys <= 0 || left.bytes <= 0 {
			return false, keys
		}
		left.keys--
		left.bytes -= len(value)
		keys = append(keys, bytes.Clone(key))
	}
	return true, keys
}
