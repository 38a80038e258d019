package boltstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage/internal/forms"
	"github.com/compactord/compactord/storage/keyring"
)

// In an encrypted store (version 3) the values of all buckets are encrypted but those of readableBuckets: a bucket that is
// added later is encrypted unless it is named there. Keys of buckets stay readable, since lists and ranges are made by their
// order: tenants, ids of sessions and requests, labels, times, and which messages and records a log has.
//
// An encrypted value has the same two sums before it as a plain one. They are of what is stored, so that damage is found
// where it is found in a plain store, and also by who has no key. The first sum is inverted, so that neither kind is ever
// taken for the other one. The bucket and the key are authenticated with the value: it opens in no other place. What nothing
// shows is an older value of the same place.
//
// metaBucket names the keys with which values are sealed, with a proof of each, under keysKey. So a missing or wrong key is
// known when the store is opened. A key is named before the first value is sealed with it, and Rotate removes those with
// which none is sealed any more.
//
// A plain store becomes an encrypted one by a copy that takes its place (Encrypt), and so do its free pages. There is no
// store with values of both kinds.

// readableBuckets are the buckets whose values are never encrypted: all that they hold also stands in keys.
var readableBuckets = [][]byte{metaBucket, byTimeBucket, byLabelBucket, deadBucket}

// keysKey is the key of metaBucket with the proofs of the keys, each behind its length in two bytes.
var keysKey = []byte("keys")

// ErrPlain means that keys were given for a store that is not encrypted.
var ErrPlain = errors.New("it is not encrypted, and keys for it are given")

// KeyError means that a store is encrypted with a key that was not given.
type KeyError struct {
	// ID is the id of the key that is needed.
	ID string
	// Given reports that a key with this id was given, which is another one. None reports that no keys were given.
	Given, None bool
}

func (e *KeyError) Error() string {
	switch {
	case e.Given:
		return fmt.Sprintf("it is encrypted with the key %q, and the key given with this id is another one", e.ID)
	case e.None:
		return fmt.Sprintf("it is encrypted with the key %q, and no keys are given", e.ID)
	default:
		return fmt.Sprintf("it is encrypted with the key %q, which is not among those given", e.ID)
	}
}

// form is how values are stored. The zero form is that of a plain store.
type form struct{ keys *keyring.Ring }

// version is the version of a store in this form.
func (f form) version() uint32 {
	if f.keys == nil {
		return plainVersion
	}
	return storeVersion
}

func (f form) encrypts(bucket []byte) bool {
	return f.keys != nil && !slices.ContainsFunc(readableBuckets, func(name []byte) bool { return string(name) == string(bucket) })
}

// seal returns the value as it is stored.
func (f form) seal(bucket, key, value []byte) []byte {
	if !f.encrypts(bucket) {
		return seal(bucket, key, value)
	}
	stored := make([]byte, sealSize, sealSize+keyring.Overhead+len(value))
	stored = f.keys.Seal(stored, sealedPlace(bucket, key), value)
	binary.BigEndian.PutUint32(stored, ^keySum(bucket, key))
	binary.BigEndian.PutUint32(stored[4:], crc32.Checksum(stored[sealSize:], castagnoli))
	return stored
}

// unseal returns the value that a stored one holds, once all is right.
func (f form) unseal(bucket, key, stored []byte) ([]byte, error) {
	if !f.encrypts(bucket) {
		return unseal(bucket, key, stored)
	}
	encrypted, err := checkEncrypted(bucket, key, stored)
	if err != nil {
		return nil, err
	}
	value, err := f.keys.Open(sealedPlace(bucket, key), encrypted)
	if err != nil {
		return nil, forms.Damaged("bucket %s: a value cannot be decrypted: %v", bucket, err)
	}
	return value, nil
}

// checkEncrypted returns what a stored value holds in encrypted form, once both sums are right.
func checkEncrypted(bucket, key, stored []byte) ([]byte, error) {
	if err := checkSum(bucket, stored, ^keySum(bucket, key)); err != nil {
		return nil, err
	}
	return checkValue(bucket, stored)
}

// checkKey checks the sum of the key alone.
func (f form) checkKey(bucket, key, stored []byte) error {
	if !f.encrypts(bucket) {
		return checkKey(bucket, key, stored)
	}
	return checkSum(bucket, stored, ^keySum(bucket, key))
}

// sealedPlace is what is authenticated with a value. The length keeps bucket and key apart.
func sealedPlace(bucket, key []byte) []byte {
	place := make([]byte, 0, 1+len(bucket)+len(key))
	return append(append(append(place, byte(len(bucket))), bucket...), key...)
}

// proofs returns the value of keysKey for some keys of the ring.
func (f form) proofs(ids []string) []byte {
	var list []byte
	for _, id := range ids {
		proof := f.keys.Proof(id)
		list = append(binary.BigEndian.AppendUint16(list, uint16(len(proof))), proof...)
	}
	return list
}

// listedKeys returns the ids of the keys that a value of keysKey names, and its proofs.
func listedKeys(list []byte) (ids []string, proofs [][]byte, err error) {
	for len(list) > 0 {
		proof, rest, err := cutName(list)
		if err != nil {
			return nil, nil, forms.Damaged("its list of keys is cut short")
		}
		id, err := keyring.KeyOf([]byte(proof))
		if err != nil {
			return nil, nil, forms.Damaged("its list of keys has no key")
		}
		ids, proofs, list = append(ids, id), append(proofs, []byte(proof)), rest
	}
	if len(ids) == 0 {
		return nil, nil, forms.Damaged("it names no key that it is encrypted with")
	}
	return ids, proofs, nil
}

// checkKeys returns a *KeyError unless all keys that a value of keysKey names are given.
func checkKeys(list []byte, given *keyring.Ring) (ids []string, err error) {
	ids, proofs, err := listedKeys(list)
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		switch {
		case given == nil:
			// The last one is the newest.
			return nil, &KeyError{ID: ids[len(ids)-1], None: true}
		case !given.Has(id):
			return nil, &KeyError{ID: id}
		case given.CheckProof(proofs[i]) != nil:
			return nil, &KeyError{ID: id, Given: true}
		}
	}
	return ids, nil
}

// beginSealing makes a store that is opened for writing name the key that seals, and forget a rotation to another one: from
// now on values are sealed with this key behind its place too.
func (f form) beginSealing(db *bbolt.DB, named []string) error {
	err := db.Update(func(tx *bbolt.Tx) error {
		meta := tx.Bucket(metaBucket)
		to := ""
		if place := meta.Get(rotationKey); place != nil {
			value, err := unseal(metaBucket, rotationKey, place)
			if err != nil {
				return err
			}
			// What does not parse is a rotation to no key.
			to, _, _ = cutName(value)
		}
		forget := to != "" && to != f.keys.Sealing()
		if slices.Contains(named, f.keys.Sealing()) && !forget {
			return errNothing
		}
		if forget {
			if err := meta.Delete(rotationKey); err != nil {
				return err
			}
		}
		if slices.Contains(named, f.keys.Sealing()) {
			return nil
		}
		return f.nameKey(tx, named)
	})
	if errors.Is(err, errNothing) {
		return nil
	}
	return mapError(err)
}

// nameKey makes a store name the key that seals from now on.
func (f form) nameKey(tx *bbolt.Tx, named []string) error {
	named = append(slices.Clone(named), f.keys.Sealing())
	return tx.Bucket(metaBucket).Put(keysKey, seal(metaBucket, keysKey, f.proofs(named)))
}
