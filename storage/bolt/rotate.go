package boltstore

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/compactord/compactord/storage/keyring"
)

// rotateBytes and rotateKeys are the most bytes of values, and the most keys, that one transaction of Rotate goes through, so
// that it does not delay other writes.
const (
	rotateBytes = 1 << 20
	rotateKeys  = 4096
)

// rotationKey is the key of metaBucket while values are sealed anew: the id of the key, the bucket, both behind their
// lengths, and the last key of the bucket that is done.
var rotationKey = []byte("rotation")

// Rotated says how far a rotation is.
type Rotated struct {
	// Values are those that were sealed anew, and Read the bytes of all that were looked at, of about the bytes that the
	// store has in use. A rotation that goes on after an interruption counts from there.
	Values, Read int64
	// Done are the ids of the keys with which no value is sealed any more.
	Done []string
}

// RotateOptions are those of Rotate. The zero value is valid.
type RotateOptions struct {
	// Admit lets a transaction in that writes values of so many bytes, or refuses it, which ends Rotate with the error. done is
	// called once it has ended. Admit must not wait; nil lets all in.
	Admit func(bytes int) (done func(), err error)
	// Progress is called after each transaction; nil where nobody asks.
	Progress func(Rotated)
}

// OlderKeys returns the ids of the keys, beside the one that seals, with which values may be sealed.
func (s *Store) OlderKeys(ctx context.Context) (older []string, err error) {
	if !s.Encrypted() {
		return nil, nil
	}
	err = s.view(ctx, func(tx *transaction) (err error) {
		older, err = olderKeys(tx)
		return err
	})
	return older, err
}

func olderKeys(tx *transaction) ([]string, error) {
	ids, _, err := listedKeys(tx.Bucket(metaBucket).Get(keysKey))
	sealing := tx.form.keys.Sealing()
	return slices.DeleteFunc(ids, func(id string) bool { return id == sealing }), err
}

// Rotate seals anew, with the key that seals, all that older keys have sealed, in many small transactions between those of
// other writes. Where it is interrupted, by the end of the process too, the next Rotate goes on from there. At its end the
// older keys are not needed any more, except for backups, and for what is left in free pages until Defrag. Where UseKeys has
// another key seal meanwhile, it begins again with that one. A damaged value ends it with storage.ErrCorrupt, and all keys are
// still needed.
func (s *Store) Rotate(ctx context.Context, o RotateOptions) (done Rotated, err error) {
	older, err := s.OlderKeys(ctx)
	if err != nil || len(older) == 0 {
		return done, err
	}
	for {
		var step rotation
		admitted := func() {}
		err := s.do(ctx, &operation{
			size: rotateBytes, obsoletes: true,
			prepare: func(tx *transaction) (func() error, error) {
				step = rotation{bytes: cmp.Or(s.options.rotated, rotateBytes), keys: rotateKeys, tx: tx, sealing: tx.form.keys.Sealing()}
				if err := step.collect(); err != nil {
					return nil, err
				}
				// One that runs once more is let in once more.
				admitted()
				var err error
				admitted, err = step.admit(o.Admit)
				return step.write, err
			},
			committed: func() { s.rotated(&done, &step) },
		})
		admitted()
		if err != nil || step.at == "" {
			return done, err
		}
		if o.Progress != nil {
			o.Progress(done)
		}
	}
}

// rotated notes what a transaction of Rotate has done.
func (s *Store) rotated(done *Rotated, step *rotation) {
	if !step.resumed {
		done.Read = 0
	}
	done.Values += int64(len(step.values))
	done.Read += step.read
	s.rotationRead.Store(done.Read)
	if step.at == "" {
		done.Done = step.older
		s.olderKeys.Store(0)
		s.rotationRead.Store(0)
	}
}

// rotation is one transaction of Rotate.
type rotation struct {
	tx      *transaction
	sealing string
	// bytes and keys are how much the transaction may still go through.
	bytes, keys int
	read        int64
	// size are the bytes of the values that are to be sealed anew.
	size int
	// resumed: it goes on from a place where another one has ended.
	resumed bool
	// older are the keys that the store needs no longer, once all is done.
	older []string
	// at is the bucket that is not done, empty where all are, and after the last key in it that is.
	at     string
	after  []byte
	values []rotated
}

// rotated is a value that is to be sealed anew.
type rotated struct {
	bucket     *bucket
	key, value []byte
}

// admit lets the transaction in. One that writes no value needs no room.
func (r *rotation) admit(ask func(bytes int) (done func(), err error)) (done func(), err error) {
	none := func() {}
	if ask == nil || len(r.values) == 0 {
		return none, nil
	}
	if done, err = ask(r.size); err != nil {
		return none, err
	}
	return done, nil
}

// collect finds the next values that another key has sealed.
func (r *rotation) collect() error {
	r.resume()
	for _, name := range allBuckets {
		if !r.tx.form.encrypts(name) || r.at != "" && r.at != string(name) {
			continue
		}
		more, err := r.collectFrom(r.tx.Bucket(name))
		if err != nil {
			return err
		}
		if more {
			r.at = string(name)
			return nil
		}
		r.at, r.after = "", nil
	}
	return nil
}

// resume takes the place from which on values are to be sealed anew. One of a rotation to another key is none.
func (r *rotation) resume() {
	id, rest, err := cutName(r.tx.Bucket(metaBucket).Get(rotationKey))
	if err != nil || id != r.sealing {
		return
	}
	if name, after, err := cutName(rest); err == nil {
		r.at, r.after, r.resumed = name, bytes.Clone(after), true
	}
}

// collectFrom goes through a bucket behind r.after, and reports whether more of it is left.
func (r *rotation) collectFrom(b *bucket) (more bool, err error) {
	cursor := b.Keys(nil)
	key, stored := cursor.Seek(r.after)
	if r.after != nil && bytes.Equal(key, r.after) {
		key, stored = cursor.Next()
	}
	for ; key != nil; key, stored = cursor.Next() {
		if r.bytes <= 0 || r.keys <= 0 {
			return true, nil
		}
		r.keys--
		r.read += int64(len(key) + len(stored))
		r.after = bytes.Clone(key)
		if sealedBy(stored) == r.sealing {
			continue
		}
		value, err := b.open(key, stored)
		if err != nil {
			return false, err
		}
		r.bytes -= len(stored)
		r.size += len(stored)
		r.values = append(r.values, rotated{bucket: b, key: r.after, value: value})
	}
	return false, nil
}

// sealedBy returns the id of the key that has sealed a stored value; empty where none can be read.
func sealedBy(stored []byte) string {
	if len(stored) < sealSize {
		return ""
	}
	id, err := keyring.KeyOf(stored[sealSize:])
	if err != nil {
		return ""
	}
	return id
}

// write seals the values anew, and notes the place.
func (r *rotation) write() error {
	for _, v := range r.values {
		if err := v.bucket.Put(v.key, v.value); err != nil {
			return err
		}
	}
	meta := r.tx.Bucket(metaBucket)
	if r.at != "" {
		return meta.Put(rotationKey, append(appendName(appendName(nil, r.sealing), r.at), r.after...))
	}
	var err error
	if r.older, err = olderKeys(r.tx); err != nil {
		return err
	}
	if err := meta.Delete(rotationKey); err != nil {
		return err
	}
	return meta.Put(keysKey, r.tx.form.proofs([]string{r.sealing}))
}
