package boltstore

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/internal/forms"
	"github.com/compactord/compactord/storage/keyring"
)

// Copied is what a copy of a store holds.
type Copied struct {
	Sessions int
	// Bytes is the size of its file.
	Bytes int64
	// Kept reports that the old file has another name, so that Defrag or Encrypt did not overwrite it.
	Kept bool
}

const (
	// copyBatch is the most bytes of values that one transaction of a copy writes.
	copyBatch = 32 << 20
	// copyStep is by how many bytes the file of a copy grows.
	copyStep = 1 << 20
)

// Copy writes what the store holds at one moment to a new file: without what is deleted, and without room that is free.
// Each value is checked before it is copied, and storage.ErrCorrupt is returned for one that is damaged. The copy is on the
// disk when Copy returns; with an error, there is no file.
//
// The store is written meanwhile as always, but the room that is freed in its file is not used again before Copy ends. Copy
// ends where the disk begins to refuse the store's writes. progress is called now and then with the bytes of the values that
// were copied; nil where nobody asks.
//
// A copy of an encrypted store is encrypted, with the key that seals now.
func (s *Store) Copy(ctx context.Context, path string, progress func(bytes int64)) (copied Copied, err error) {
	return s.copyAs(ctx, s.form(), path, progress)
}

// copyAs is Copy for a copy whose values are stored in a form.
func (s *Store) copyAs(ctx context.Context, as form, path string, progress func(bytes int64)) (copied Copied, err error) {
	to, err := newCopy(path, as)
	if err != nil {
		return Copied{}, err
	}
	to.ended = func() error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		return s.outages.current().Err
	}
	if to.progress = progress; progress == nil {
		to.progress = func(int64) {}
	}
	// What goes wrong with the new file is no error of the store.
	var failed error
	s.wholeReads.RLock()
	defer s.wholeReads.RUnlock()
	err = s.view(ctx, func(tx *transaction) error {
		failed = to.fill(tx)
		return nil
	})
	if err = errors.Join(err, failed); err == nil {
		copied, err = to.finish()
	}
	if err != nil {
		return Copied{}, errors.Join(err, to.abandon())
	}
	return copied, nil
}

// copying is a copy while it is written.
type copying struct {
	path string
	form form
	db   *bbolt.DB
	tx   *bbolt.Tx
	// written are its transactions.
	written succession
	// ended returns why the copying must end; nil while it need not.
	ended    func() error
	progress func(bytes int64)
	// batch are the bytes that the transaction has written, total all.
	batch, total int64
	sessions     int
}

func newCopy(path string, as form) (*copying, error) {
	db, err := bbolt.Open(path, fileMode, &bbolt.Options{
		FreelistType: bbolt.FreelistMapType,
		OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
			return os.OpenFile(name, flag|os.O_EXCL, mode)
		},
	})
	if err != nil {
		return nil, mapError(err)
	}
	db.AllocSize = copyStep
	return &copying{path: path, form: as, db: db}, nil
}

// fill copies all values that are not deleted.
func (c *copying) fill(tx *transaction) (err error) {
	if c.tx, err = c.written.begin(c.db); err != nil {
		return mapError(err)
	}
	dead := deadOrdinals(tx)
	for _, name := range allBuckets {
		if _, err := c.tx.CreateBucketIfNotExists(name); err != nil {
			return mapError(err)
		}
		if string(name) == string(deadBucket) {
			// Nothing of the deleted logs is copied.
			continue
		}
		if err := c.fillBucket(tx.Bucket(name), dead); err != nil {
			return mapError(err)
		}
	}
	if c.form.keys != nil {
		if err := c.form.nameKey(c.tx, nil); err != nil {
			return mapError(err)
		}
	}
	return mapError(c.tx.Commit())
}

// fillBucket copies a bucket, without what belongs to deleted logs.
func (c *copying) fillBucket(from *bucket, dead map[uint64]bool) error {
	isLog := slices.ContainsFunc(logBuckets, func(name []byte) bool { return string(name) == string(from.name) })
	cursor := from.Cursor(nil)
	for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
		for isLog && len(key) >= 8 && dead[binary.BigEndian.Uint64(key)] {
			key, value = cursor.Seek(ordinalKey(binary.BigEndian.Uint64(key) + 1))
		}
		if key == nil {
			break
		}
		if err := c.put(from.name, key, value); err != nil {
			return err
		}
	}
	return nil
}

func (c *copying) put(name, key, value []byte) (err error) {
	if err := c.ended(); err != nil {
		return err
	}
	if c.batch > copyBatch {
		c.progress(c.total)
		if err := c.tx.Commit(); err != nil {
			return err
		}
		if c.tx, err = c.written.begin(c.db); err != nil {
			return err
		}
		c.batch = 0
	}
	switch {
	case string(name) == string(metaBucket) && (string(key) == string(keysKey) || string(key) == string(rotationKey)):
		// The copy has other keys.
		return nil
	case sealedKey(name, key):
		value = c.form.seal(name, key, value)
	default:
		// Values of an earlier version are copied as those of this one.
		value = binary.BigEndian.AppendUint32(nil, c.form.version())
	}
	if string(name) == string(sessionsBucket) {
		c.sessions++
	}
	c.batch += int64(len(key) + len(value))
	c.total += int64(len(key) + len(value))
	bucket := c.tx.Bucket(name)
	bucket.FillPercent = copiedFill(name)
	// The key is in the memory of the other file.
	return bucket.Put(slices.Clone(key), value)
}

// copiedFill returns how full the pages of a bucket are in a copy. What is in a log never changes and nothing comes between
// it, so that room in its pages would stay empty, but for that at the end of each session.
func copiedFill(name []byte) float64 {
	switch string(name) {
	case string(messagesBucket), string(recordsBucket):
		return 1
	default:
		return 0.9
	}
}

// deadOrdinals returns the ordinals of deleted logs that are not removed yet.
func deadOrdinals(tx *transaction) map[uint64]bool {
	dead := map[uint64]bool{}
	cursor := tx.Bucket(deadBucket).Cursor(nil)
	for key, _ := cursor.First(); key != nil; key, _ = cursor.Next() {
		if ordinal, err := keyOrdinal(key); err == nil {
			dead[ordinal] = true
		}
	}
	return dead
}

// finish closes the file, cuts off what bbolt has reserved at its end, and waits until it is on the disk.
func (c *copying) finish() (copied Copied, err error) {
	var size int64
	if err := c.db.View(func(tx *bbolt.Tx) error { size = tx.Size(); return c.written.ends(tx) }); err != nil {
		return Copied{}, mapError(err)
	}
	if err := c.db.Close(); err != nil {
		return Copied{}, mapError(err)
	}
	c.db = nil
	file, err := os.OpenFile(c.path, os.O_RDWR, 0)
	if err != nil {
		return Copied{}, mapError(err)
	}
	err = errors.Join(file.Truncate(size), file.Sync(), file.Close())
	if err == nil {
		err = syncDirectory(filepath.Dir(c.path))
	}
	return Copied{Sessions: c.sessions, Bytes: size}, mapError(err)
}

// abandon overwrites and removes the file.
func (c *copying) abandon() error {
	var err error
	if c.tx != nil {
		err = ignoreClosed(c.tx.Rollback())
	}
	if c.db != nil {
		err = errors.Join(err, c.db.Close())
	}
	return errors.Join(err, discard(c.path))
}

// snapshotSuffix begins what stands behind the path of the store in the name of a snapshot.
const snapshotSuffix = ".snapshot-"

// snapshotSpare is how much room a snapshot leaves on the disk, since the store grows meanwhile.
const snapshotSpare = 64 << 20

// Snapshot calls use with a copy of the store in a file beside it. Where the process is killed, the next Open removes the
// file.
func (s *Store) Snapshot(ctx context.Context, use func(file *os.File, sessions int) error) (err error) {
	if err := s.roomForSnapshot(ctx); err != nil {
		return err
	}
	path := s.path + snapshotSuffix + rand.Text()
	copied, err := s.Copy(ctx, path, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.removeSnapshot(path)) }()
	file, err := os.Open(path)
	if err != nil {
		return mapError(err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return use(file, copied.Sessions)
}

// roomForSnapshot returns an error where the file system has not the room that a copy needs.
func (s *Store) roomForSnapshot(ctx context.Context) error {
	_, inUse, err := s.Size(ctx)
	if err != nil {
		return err
	}
	// Where nobody can tell, the copy tells.
	if free, err := s.FreeSpace(); err == nil && free < inUse+snapshotSpare {
		return storage.NewDiskError(fmt.Errorf("a copy needs %d bytes beside the store, and %d are free: %w",
			inUse+snapshotSpare, free, syscall.ENOSPC))
	}
	return nil
}

// removeSnapshot removes a snapshot, and overwrites it where that is wanted.
func (s *Store) removeSnapshot(path string) error {
	if s.options.OverwriteFreed {
		return discard(path)
	}
	return os.Remove(path)
}

// snapshots returns those that a process left behind which was killed.
func snapshots(path string) (left []string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		// What stays takes room, and harms nothing.
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(path)+snapshotSuffix) {
			left = append(left, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	return left
}

// Defrag replaces the file by a Copy of it, and closes the store. The file keeps its mode and its owner. The old file is
// overwritten, and then removed. Where it is interrupted, the file is as it was, or is the new one; what is left of the other
// one goes with the next Defrag or Open. An error after the new file has its place is a *LeftError.
func (s *Store) Defrag(ctx context.Context, progress func(bytes int64)) (copied Copied, err error) {
	return s.rewrite(ctx, s.form(), progress)
}

// Encrypt is Defrag with a copy that is encrypted with the key that seals, or plain where keys is nil. Nothing is left of
// what the values were before.
func (s *Store) Encrypt(ctx context.Context, keys *keyring.Ring, progress func(bytes int64)) (Copied, error) {
	return s.rewrite(ctx, form{keys: keys}, progress)
}

func (s *Store) rewrite(ctx context.Context, as form, progress func(bytes int64)) (copied Copied, err error) {
	defer func() { err = errors.Join(err, s.Close()) }()
	path, err := filepath.EvalSymlinks(s.path)
	if err != nil {
		return Copied{}, err
	}
	beside := path + rewrittenSuffix
	if _, err := eraseReplaced(func() error { return context.Cause(ctx) }, path); err != nil {
		return Copied{}, fmt.Errorf("the file %s of an earlier run cannot be overwritten: %w", path+replacedSuffix, err)
	}
	if err := discard(beside); err != nil {
		return Copied{}, err
	}
	if copied, err = s.copyAs(ctx, as, beside, progress); err != nil {
		return Copied{}, err
	}
	if err = checkCopy(ctx, beside, as); err != nil {
		return Copied{}, errors.Join(err, discard(beside))
	}
	copied.Kept, err = s.replace(ctx, beside, path)
	return copied, err
}

// replace puts a file in place of the store's, which it overwrites unless it has another name: kept reports that.
func (s *Store) replace(ctx context.Context, file, path string) (kept bool, err error) {
	unnamed, err := s.secondName(path)
	if unnamed != nil {
		defer func() { err = errors.Join(err, unnamed.Close()) }()
	}
	if err == nil {
		err = s.replaceBy(file, path)
	}
	if err != nil {
		// The second name is still one of the store.
		_, left := eraseReplaced(never, path)
		return false, errors.Join(err, left, discard(file))
	}
	// The lock on the old file is free then.
	if err = s.Close(); err == nil {
		kept, err = eraseOld(func() error { return context.Cause(ctx) }, path, unnamed)
	}
	if err != nil {
		return false, &LeftError{Path: path + replacedSuffix, Err: err}
	}
	return kept, nil
}

// checkCopy reads the copy of a store again.
func checkCopy(ctx context.Context, path string, as form) error {
	s, err := Open(path, Options{ReadOnly: true, Keys: as.keys})
	if err != nil {
		return err
	}
	problems, err := s.CheckStructure(ctx)
	if err == nil && len(problems) > 0 {
		err = forms.Damaged("the copy is damaged: %s", problems[0].What)
	}
	return errors.Join(err, s.Close())
}

// replaceBy puts a file in place of the store's. It does so before the lock on the store's file is given up, where the
// system allows that.
func (s *Store) replaceBy(file, path string) error {
	if err := os.Chmod(file, s.identity.Mode().Perm()); err != nil {
		return err
	}
	if err := keepOwner(s.identity, file); err != nil {
		return err
	}
	if err := syncFile(file); err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		if err := s.Close(); err != nil {
			return err
		}
	}
	return os.Rename(file, path)
}

func syncFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
