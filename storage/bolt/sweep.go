package boltstore

import (
	"bytes"

	"go.etcd.io/bbolt"
)

// sweepKeys is how many keys of a deleted log one transaction removes, so that the end of a large session holds up no
// one else.
const sweepKeys = 4096

// sweepBytes bounds the same by what it frees.
const sweepBytes = 16 << 20

// someDead tells whether a deleted log is left to sweep.
func someDead(tx *bbolt.Tx) bool {
	key, _ := tx.Bucket(deadBucket).Cursor().First()
	return key != nil
}

// sweep removes a piece of the deleted logs, and returns whether there is more.
func (s *Store) sweep() (more bool) {
	err := s.update(func(tx *bbolt.Tx) error {
		key, _ := tx.Bucket(deadBucket).Cursor().First()
		if key == nil {
			return errNothing
		}
		ordinal, err := keyOrdinal(key)
		if err != nil {
			return corrupt("bucket dead: %v", err)
		}
		if err := sweepLog(tx, ordinal); err != nil {
			return err
		}
		more = someDead(tx)
		return nil
	})
	// It is only space: whatever hinders it, the next open or deletion tries again.
	return more && err == nil
}

// sweepLog removes up to sweepKeys keys of a log, and with the last one its ordinal from the dead.
func sweepLog(tx *bbolt.Tx, ordinal uint64) error {
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

// sweep is how much a transaction may still remove.
type sweep struct{ keys, bytes int }

// collect returns keys with a prefix and whether these are all. A cursor must not move over what is being deleted.
func (left *sweep) collect(bucket *bbolt.Bucket, prefix []byte) (done bool, keys [][]byte) {
	cursor := bucket.Cursor()
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
