package boltstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage/bolt/internal/pages"
	"github.com/compactord/compactord/storage/internal/forms"
	"github.com/compactord/compactord/storage/keyring"
)

// rebuildBatch is the most bytes that one transaction of Rebuild writes.
const rebuildBatch = 32 << 20

// rebuiltBuckets are the buckets that Rebuild fills: all that is needed to read sessions.
var rebuiltBuckets = [][]byte{
	sessionsBucket, byTimeBucket, messagesBucket, recordsBucket, compactionsBucket, editsBucket, blobsBucket,
}

// Rebuild makes a store, to be read only, of the values in the single pages of a file. Use it where the pages that lead to
// them are lost, such as in a file that was cut short. The sums of a value say which bucket and key it belongs to, so a
// store of version 1 cannot be rebuilt.
//
// Pages that were freed are read too. So of each session the newest row is taken that is left; where it is older than the
// log, its head is set behind all that is left of the log, so that reading finds its end. A session whose deletion left no
// trace is there again. Rebuild returns how many sessions it found, and what is known to be wrong.
//
// The values of an encrypted store stay as they are, and keys must open them: what no key opens is left out.
func Rebuild(ctx context.Context, from, to string, keys *keyring.Ring) (sessions int, damage []string, err error) {
	file, err := os.Open(from)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = file.Close() }()
	if err := lock(file, time.Second); err != nil {
		return 0, nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return 0, nil, err
	}
	db, err := bbolt.Open(to, fileMode, &bbolt.Options{FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return 0, nil, mapError(err)
	}
	r := &rebuild{ended: func() error { return context.Cause(ctx) }, db: db, dead: map[uint64]bool{}, owners: map[uint64]bool{}}
	err = r.prepare(file, info.Size(), keys)
	if err == nil {
		err = r.fill(file, pageSizeOf(file), info.Size())
	}
	if err == nil {
		err = r.transact(r.finish)
	}
	if err == nil {
		err = db.View(r.written.ends)
	}
	return len(r.owners), r.damage, errors.Join(mapError(err), db.Close())
}

// prepare makes the new store one of the same form as the file.
func (r *rebuild) prepare(file *os.File, size int64, keys *keyring.Ring) error {
	if id := encryptedWith(file, pageSizeOf(file), size); id != "" {
		if keys == nil {
			return &KeyError{ID: id, None: true}
		}
		r.form.keys, r.locked = keys, map[KeyError]int{}
	}
	return r.db.Update(func(tx *bbolt.Tx) error {
		if err := r.written.next(tx); err != nil {
			return err
		}
		if err := r.form.create(tx); err != nil || r.form.keys == nil {
			return err
		}
		// Values may be sealed with each of them.
		return tx.Bucket(metaBucket).Put(keysKey, seal(metaBucket, keysKey, r.form.proofs(keys.IDs())))
	})
}

// encryptedWith returns the id of the key of the first encrypted value; empty for a plain store.
func encryptedWith(file *os.File, pageSize int, size int64) (id string) {
	found := errors.New("found")
	// What cannot be read, the rebuilding says.
	_ = pages.Scan(file, pageSize, size, func(key, stored []byte) (bool, error) {
		for _, name := range allBuckets {
			if encrypted, err := checkEncrypted(name, key, stored); err == nil {
				if id, err = keyring.KeyOf(encrypted); err == nil {
					return true, found
				}
			}
			if _, err := unseal(name, key, stored); err == nil {
				return true, nil
			}
		}
		return false, nil
	})
	return id
}

// pageSizeOf returns the size of a file's pages.
func pageSizeOf(file *os.File) int {
	if meta, err := pages.NewestMeta(file); meta.PageSize > 0 || err == nil {
		return meta.PageSize
	}
	return os.Getpagesize()
}

// rebuild is the progress of Rebuild.
type rebuild struct {
	// ended returns the reason why the caller no longer waits; nil while it does.
	ended func() error
	db    *bbolt.DB
	tx    *bbolt.Tx
	// written are its transactions.
	written succession
	bytes   int
	form    form
	// locked counts the encrypted values that no key opens, by what is wrong.
	locked map[KeyError]int
	// dead are the ordinals of deleted sessions, owners those of the sessions that were found.
	dead, owners map[uint64]bool
	damage       []string
}

// transact runs fn in transactions, each of which is committed once it has written a batch.
func (r *rebuild) transact(fn func() error) (err error) {
	if r.tx, err = r.written.begin(r.db); err != nil {
		return err
	}
	if err := fn(); err != nil {
		return errors.Join(err, ignoreClosed(r.tx.Rollback()))
	}
	return r.tx.Commit()
}

func ignoreClosed(err error) error {
	if errors.Is(err, berrors.ErrTxClosed) {
		return nil
	}
	return err
}

func (r *rebuild) put(bucket, key, value []byte) error {
	if r.bytes += len(key) + len(value); r.bytes > rebuildBatch {
		if err := r.tx.Commit(); err != nil {
			return err
		}
		tx, err := r.written.begin(r.db)
		if err != nil {
			return err
		}
		r.tx, r.bytes = tx, 0
	}
	b := r.tx.Bucket(bucket)
	b.FillPercent = 0.9
	return b.Put(key, value)
}

// fill takes over the values of all pages.
func (r *rebuild) fill(file *os.File, pageSize int, size int64) error {
	var failed error
	unreadable := r.transact(func() error {
		err := pages.Scan(file, pageSize, size, func(key, value []byte) (bool, error) {
			var sound bool
			sound, failed = r.take(key, value)
			return sound, failed
		})
		var unread *pages.ReadError
		if errors.As(err, &unread) {
			r.damage = append(r.damage, err.Error())
			return nil
		}
		return err
	})
	return errors.Join(unreadable, failed)
}

// take takes over a value, and reports whether it is one.
func (r *rebuild) take(key, sealed []byte) (sound bool, err error) {
	if err := r.ended(); err != nil {
		return false, err
	}
	bucket, value, sound := r.opened(key, sealed)
	switch string(bucket) {
	case "":
		return sound, nil
	case string(deadBucket):
		// What was a draft may be a session by now.
		if ordinal, err := keyOrdinal(key); err == nil && !bytes.Equal(value, draftMark) {
			r.dead[ordinal] = true
		}
	case string(sessionsBucket):
		if !r.isNewer(key, value, r.tx.Bucket(bucket).Get(key)) {
			return true, nil
		}
		return true, r.put(bucket, key, sealed)
	default:
		if b := r.tx.Bucket(bucket); isRebuilt(bucket) && b.Get(key) == nil {
			return true, r.put(bucket, key, sealed)
		}
	}
	return true, nil
}

func isRebuilt(bucket []byte) bool {
	for _, name := range rebuiltBuckets {
		if bytes.Equal(name, bucket) {
			return true
		}
	}
	return false
}

// opened returns the bucket to which a key and its stored value belong, and the value; nil where it cannot be used. sound
// reports whether it is a value all the same.
func (r *rebuild) opened(key, stored []byte) (bucket, value []byte, sound bool) {
	for _, name := range allBuckets {
		if value, err := r.form.unseal(name, key, stored); err == nil {
			return name, value, true
		}
		if !r.form.encrypts(name) {
			continue
		}
		encrypted, err := checkEncrypted(name, key, stored)
		if err != nil {
			continue
		}
		if id, err := keyring.KeyOf(encrypted); err == nil {
			r.locked[KeyError{ID: id, Given: r.form.keys.Has(id)}]++
		}
		return nil, nil, true
	}
	return nil, nil, false
}

// reportLocked reports the values that no key opens. Where nothing could be read for that, it returns the error.
func (r *rebuild) reportLocked() error {
	for locked, values := range r.locked {
		if len(r.owners) == 0 {
			return &locked
		}
		r.damage = append(r.damage, fmt.Sprintf("values that were left out, some of which may be of deleted or older data: %d: %v", values, &locked))
	}
	return nil
}

// isNewer reports whether a row is newer than a sealed one of the same key; nil where there is none.
func (r *rebuild) isNewer(key, value, sealed []byte) bool {
	ordinal, row, err := decodeRow(value)
	if err != nil {
		return false
	}
	if sealed == nil {
		return true
	}
	otherOrdinal, other, err := r.decodeStored(key, sealed)
	if err != nil {
		return true
	}
	if ordinal.ordinal != otherOrdinal.ordinal {
		return ordinal.ordinal > otherOrdinal.ordinal
	}
	return row.GetRevision() > other.GetRevision()
}

// decodeStored decodes a row that was taken over.
func (r *rebuild) decodeStored(key, sealed []byte) (rowHeader, *storagev1.Session, error) {
	value, err := r.form.unseal(sessionsBucket, key, sealed)
	if err != nil {
		return rowHeader{}, nil, err
	}
	return decodeRow(value)
}

func decodeRow(value []byte) (rowHeader, *storagev1.Session, error) {
	header, encoding, err := splitRow(value)
	if err != nil {
		return rowHeader{}, nil, err
	}
	row, err := forms.Session(encoding)
	return header, row, err
}

// finish removes what is known to be deleted, and mends the rows that are older than their logs.
func (r *rebuild) finish() error {
	if err := r.removeDead(byTimeBucket, func(key, _ []byte) (uint64, error) {
		_, at, err := splitListingKey(key, false)
		return at.ordinal(), err
	}); err != nil {
		return err
	}
	if err := r.removeDead(sessionsBucket, func(_, value []byte) (uint64, error) {
		header, _, err := splitRow(value)
		return header.ordinal, err
	}); err != nil {
		return err
	}
	if err := r.mendRows(); err != nil {
		return err
	}
	r.countLogs()
	return r.reportLocked()
}

// mendRows sets the heads of rows that are older than their logs behind what is left of these.
func (r *rebuild) mendRows() error {
	var mended [][2][]byte
	err := r.tx.Bucket(sessionsBucket).ForEach(func(key, sealed []byte) error {
		header, row, err := r.decodeStored(key, sealed)
		if err != nil {
			return err
		}
		r.owners[header.ordinal] = true
		if !r.reachBehindLog(&header, row.GetHead()) {
			return nil
		}
		encoding, err := forms.Marshal.Marshal(row)
		key = bytes.Clone(key)
		mended = append(mended, [2][]byte{key, r.form.seal(sessionsBucket, key, encodeRow(header, encoding))})
		return err
	})
	for _, each := range mended {
		err = errors.Join(err, r.put(sessionsBucket, each[0], each[1]))
	}
	return err
}

// removeDead removes the values of a bucket that belong to deleted sessions.
func (r *rebuild) removeDead(bucket []byte, ordinalOf func(key, value []byte) (uint64, error)) error {
	var dead [][]byte
	err := r.tx.Bucket(bucket).ForEach(func(key, sealed []byte) error {
		value, err := r.form.unseal(bucket, key, sealed)
		var ordinal uint64
		if err == nil {
			ordinal, err = ordinalOf(key, value)
		}
		if err != nil || r.dead[ordinal] {
			dead = append(dead, bytes.Clone(key))
		}
		return nil
	})
	for _, key := range dead {
		err = errors.Join(err, r.tx.Bucket(bucket).Delete(key))
	}
	return err
}

// reachBehindLog sets a head behind the end of what is left of its log, and reports whether it was before that end.
func (r *rebuild) reachBehindLog(header *rowHeader, head *storagev1.Head) bool {
	beyond := false
	if index, ok := r.last(messagesBucket, header.ordinal); ok && index >= head.GetNextIndex() {
		// Each of these messages has a sequence, which only its value names.
		head.NextSequence += index + 1 - head.GetNextIndex()
		head.NextIndex, header.nextIndex = index+1, index+1
		beyond = true
	}
	if sequence, ok := r.last(recordsBucket, header.ordinal); ok && sequence >= head.GetNextSequence() {
		head.NextSequence = sequence + 1
		beyond = true
	}
	if beyond {
		// Nothing is there, so that reading says that the end is lost.
		head.NextSequence++
	}
	return beyond
}

// last returns the number in the last key of a log.
func (r *rebuild) last(bucket []byte, ordinal uint64) (n uint32, ok bool) {
	cursor := r.tx.Bucket(bucket).Cursor()
	key, _ := cursor.Seek(ordinalKey(ordinal + 1))
	if key == nil {
		key, _ = cursor.Last()
	} else {
		key, _ = cursor.Prev()
	}
	found, n, err := splitNumberKey(key)
	return n, err == nil && found == ordinal
}

// countLogs reports the logs without a row: nothing says which session they belong to.
func (r *rebuild) countLogs() {
	lost := 0
	cursor := r.tx.Bucket(messagesBucket).Cursor()
	for key, _ := cursor.First(); key != nil; {
		ordinal, err := keyOrdinal(key)
		if err != nil || ordinal+1 == 0 {
			break
		}
		if !r.owners[ordinal] && !r.dead[ordinal] {
			lost++
		}
		key, _ = cursor.Seek(ordinalKey(ordinal + 1))
	}
	if lost > 0 {
		r.damage = append(r.damage, fmt.Sprintf("%d logs belong to no session that is left: it was deleted, or its row is lost", lost))
	}
}
