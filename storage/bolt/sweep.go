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
func hasDead(tx *transaction) bool {
	key, _ := tx.Bucket(deadBucket).Cursor(nil).First()
	return key != nil
}

// sweep removes a part of the deleted logs, and reports whether more is left.
func (s *Store) sweep() (more bool) {
	err := s.update(func(tx *transaction) error {
		key, _ := tx.Bucket(deadBucket).Cursor(nil).First()
		if key == nil {
			return errNothing
		}
		ordinal, err := keyOrdinal(key)
		if err != nil {
			return forms.Damaged("bucket dead: %v", err)
		}
		if err := sweepLog(tx, ordinal); err != nil {
			return err
		}
		more = hasDead(tx)
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
