package boltstore

import (
	"encoding/binary"
	"hash/crc32"

	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage/internal/forms"
)

// sealSize is the size of the sums before a value: the CRC-32C of its bucket and key, and that of the value itself.
const sealSize = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal returns the value as it is stored. The sum of the key shows a value under another session's key, since every
// key of a log begins with the session's ordinal.
func seal(bucket, key, value []byte) []byte {
	sealed := make([]byte, sealSize, sealSize+len(value))
	binary.BigEndian.PutUint32(sealed, keySum(bucket, key))
	binary.BigEndian.PutUint32(sealed[4:], crc32.Checksum(value, castagnoli))
	return append(sealed, value...)
}

// unseal returns the value that a sealed one holds, once both sums are right.
func unseal(bucket, key, sealed []byte) ([]byte, error) {
	if err := checkKey(bucket, key, sealed); err != nil {
		return nil, err
	}
	return checkValue(bucket, sealed)
}

// checkKey checks the sum of the key alone.
func checkKey(bucket, key, sealed []byte) error { return checkSum(bucket, sealed, keySum(bucket, key)) }

func checkSum(bucket, sealed []byte, ofKey uint32) error {
	if len(sealed) < sealSize || binary.BigEndian.Uint32(sealed) != ofKey {
		return forms.Damaged("bucket %s: a value does not belong to its key", bucket)
	}
	return nil
}

// checkValue returns what stands behind the sums, once its own is right.
func checkValue(bucket, sealed []byte) ([]byte, error) {
	value := sealed[sealSize:]
	if binary.BigEndian.Uint32(sealed[4:]) != crc32.Checksum(value, castagnoli) {
		return nil, forms.Damaged("bucket %s: a value has a wrong checksum", bucket)
	}
	return value, nil
}

func keySum(bucket, key []byte) uint32 {
	return crc32.Update(crc32.Checksum(bucket, castagnoli), castagnoli, key)
}

// sealedKey reports whether the value of a key is sealed. The version of the store is not: earlier versions of
// the program must be able to read it.
func sealedKey(bucket, key []byte) bool {
	return string(bucket) != string(metaBucket) || string(key) != string(versionKey)
}

// sealBatch is the most bytes of values that one transaction seals.
const sealBatch = 8 << 20

// The keys of metaBucket while the values of an older store are being sealed: the bucket and the key of the last one.
var (
	sealingBucketKey = []byte("sealing_bucket")
	sealingKeyKey    = []byte("sealing_key")
)

// sealAll seals the values of a store of version 1, some in each transaction. Where it is interrupted, the next opening
// goes on.
func sealAll(db *bbolt.DB) error {
	var written succession
	for done := false; !done; {
		err := db.Update(func(tx *bbolt.Tx) (err error) {
			if err := written.next(tx); err != nil {
				return err
			}
			done, err = sealSome(tx, sealBatch)
			return err
		})
		if err != nil {
			return mapError(err)
		}
	}
	return nil
}

// sealSome seals values of about limit bytes, and reports whether all are sealed now.
func sealSome(tx *bbolt.Tx, limit int) (done bool, err error) {
	meta := tx.Bucket(metaBucket)
	if err := meta.Put(versionKey, binary.BigEndian.AppendUint32(nil, plainVersion)); err != nil {
		return false, err
	}
	at, after := string(meta.Get(sealingBucketKey)), meta.Get(sealingKeyKey)
	left := limit
	for _, name := range allBuckets[1:] {
		if at != "" && at != string(name) {
			continue
		}
		at = ""
		last, err := sealBucket(tx.Bucket(name), name, after, &left)
		if err != nil {
			return false, err
		}
		after = nil
		if left <= 0 {
			if err := meta.Put(sealingBucketKey, name); err != nil {
				return false, err
			}
			return false, meta.Put(sealingKeyKey, last)
		}
	}
	next := seal(metaBucket, nextOrdinalKey, meta.Get(nextOrdinalKey))
	for _, key := range [][]byte{sealingBucketKey, sealingKeyKey} {
		if err := meta.Delete(key); err != nil {
			return false, err
		}
	}
	return true, meta.Put(nextOrdinalKey, next)
}

// sealBucket seals the values of a bucket behind a key until nothing is left of the batch, and returns the key of the
// last.
func sealBucket(bucket *bbolt.Bucket, name, after []byte, left *int) (last []byte, err error) {
	var keys, values [][]byte
	cursor := bucket.Cursor()
	key, value := cursor.Seek(after)
	if after != nil && string(key) == string(after) {
		key, value = cursor.Next()
	}
	for ; key != nil && *left > 0; key, value = cursor.Next() {
		keys = append(keys, append([]byte(nil), key...))
		values = append(values, seal(name, key, value))
		*left -= len(key) + len(value) + sealSize
	}
	bucket.FillPercent = 0.9
	for i, key := range keys {
		if err := bucket.Put(key, values[i]); err != nil {
			return nil, err
		}
		last = key
	}
	return last, nil
}
