package boltstore

import (
	"context"
	"slices"

	"github.com/compactord/compactord/storage/keyring"
)

// UseKeys makes the first one of other keys that which seals from now on, while the store is read and written. All keys that
// the store names must be among them, else UseKeys returns a *KeyError; for a plain store it returns ErrPlain. With an error
// all stays as it was. Rotate then seals anew what the key before has sealed.
//
// The keys before stay in memory until the store is closed: a read that runs may need them.
func (s *Store) UseKeys(ctx context.Context, keys *keyring.Ring) error {
	if !s.Encrypted() {
		if keys == nil {
			return nil
		}
		return ErrPlain
	}
	var older []string
	return s.do(ctx, &operation{
		prepare: func(tx *transaction) (func() error, error) {
			named, err := checkKeys(tx.Bucket(metaBucket).Get(keysKey), keys)
			if err != nil {
				return nil, err
			}
			older = slices.DeleteFunc(slices.Clone(named), func(id string) bool { return id == keys.Sealing() })
			return func() error { return s.sealBy(tx, keys, named) }, nil
		},
		committed: func() {
			s.keys.Store(keys.With(s.keys.Load()))
			s.olderKeys.Store(int64(len(older)))
		},
	})
}

// sealBy makes what follows in a transaction be sealed by the first one of other keys.
func (s *Store) sealBy(tx *transaction, keys *keyring.Ring, named []string) error {
	before := s.keys.Load()
	// Where the commit fails so that it is not known whether it is on the disk, values of both keys can be read.
	s.keys.Store(keys.SealedBy(before.Sealing()).With(before))
	tx.form.keys = keys.With(before)
	meta := tx.Bucket(metaBucket)
	// Now this key seals behind the place of a rotation to another one, too.
	if to, _, err := cutName(meta.Get(rotationKey)); err == nil && to != keys.Sealing() {
		if err := meta.Delete(rotationKey); err != nil {
			return err
		}
	}
	if slices.Contains(named, keys.Sealing()) {
		return nil
	}
	return meta.Put(keysKey, tx.form.proofs(append(named, keys.Sealing())))
}
