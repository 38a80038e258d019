package boltstore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/bolt/internal/pages"
	"github.com/compactord/compactord/storage/storagetest"
)

// One process at a time: another Open takes its own lock on the file, as another process would.
func TestInUse(t *testing.T) {
	s := openNew(t, Options{})
	for _, readOnly := range []bool{false, true} {
		_, err := Open(s.path, Options{ReadOnly: readOnly, LockTimeout: time.Millisecond})
		require.ErrorIs(t, err, ErrInUse)
		require.ErrorContains(t, err, "in use by another process")
	}
	require.NoError(t, s.Close())
	again := openAt(t, s.path, Options{})
	require.NoError(t, again.Close())
}

// Only its owner can read and write the file.
func TestMode(t *testing.T) {
	s := openNew(t, Options{})
	info, err := os.Stat(s.path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
}

func TestReadOnly(t *testing.T) {
	s := openNew(t, Options{})
	d := storagetest.NewSession("", "s", "u").Texts(3)
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	require.NoError(t, s.Close())

	s, err := Open(s.path, Options{ReadOnly: true})
	require.NoError(t, err)
	messages, err := s.Messages(t.Context(), d.Ref(), 0, 9, 0)
	require.NoError(t, err)
	require.Len(t, messages, 3)
	require.ErrorIs(t, s.Commit(t.Context(), &storagetest.Next(d.Session).Text("m").Commit), ErrReadOnly)
	require.ErrorIs(t, s.CreateSession(t.Context(), &storagetest.NewSession("", "t", "u").Commit), ErrReadOnly)
	require.ErrorIs(t, s.DeleteSession(t.Context(), "", "s"), ErrReadOnly)
	require.NoError(t, s.Close())

	missing := filepath.Join(t.TempDir(), "missing.db")
	_, err = Open(missing, Options{ReadOnly: true})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoFileExists(t, missing)
}

// meta changes the content of metaBucket.
func meta(t *testing.T, path string, change func(tx *bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, db.Update(change))
	require.NoError(t, db.Close())
}

// A store of a newer version is refused with ErrNewer.
func TestNewerVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, Options{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	meta(t, path, func(tx *bbolt.Tx) error {
		return tx.Bucket(metaBucket).Put(versionKey, binary.BigEndian.AppendUint32(nil, storeVersion+1))
	})
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, readOnly := range []bool{false, true} {
		_, err = Open(path, Options{ReadOnly: readOnly})
		require.ErrorIs(t, err, ErrNewer)
		require.ErrorIs(t, err, storage.ErrCorrupt)
		require.ErrorContains(t, err, "store version 4, this program reads up to 3")
	}
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(before, after), "what is refused is not changed")
}

// A file that is no store is refused and not changed.
func TestNoStore(t *testing.T) {
	putMeta := func(key, value []byte) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error { return tx.Bucket(metaBucket).Put(key, value) }
	}
	for name, test := range map[string]struct {
		// The file is this text; or a store; or a file of another program. Then it is changed.
		text  string
		other bool
		meta  func(*bbolt.Tx) error
		cut   bool
	}{
		"text":       {text: strings.Repeat("no store ", 5000)},
		"short text": {text: "no store"},
		"another program's": {other: true, meta: func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket([]byte("other"))
			return err
		}},
		"no version": {meta: func(tx *bbolt.Tx) error { return tx.Bucket(metaBucket).Delete(versionKey) }},
		"version 0":  {meta: putMeta(versionKey, []byte{0, 0, 0, 0})},
		"no ordinal": {meta: putMeta(nextOrdinalKey, nil)},
		"no bucket":  {meta: func(tx *bbolt.Tx) error { return tx.DeleteBucket(messagesBucket) }},
		"cut off":    {cut: true},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			switch {
			case test.text != "":
				require.NoError(t, os.WriteFile(path, []byte(test.text), 0o600))
			case !test.other:
				made(t, path)
			}
			if test.meta != nil {
				meta(t, path, test.meta)
			}
			if test.cut {
				require.NoError(t, os.Truncate(path, needed(t, path)-1))
			}
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, readOnly := range []bool{true, false} {
				_, err = Open(path, Options{ReadOnly: readOnly})
				require.ErrorIs(t, err, storage.ErrCorrupt)
			}
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.True(t, bytes.Equal(before, after))
		})
	}
	_, err := Open(t.TempDir(), Options{})
	require.Error(t, err)
}

// made creates a store with some content.
func made(t *testing.T, path string) *storagetest.Draft {
	t.Helper()
	s, err := Open(path, Options{})
	require.NoError(t, err)
	d := storagetest.NewSession("", "s", "u").Texts(50).Prune(0, 1).Compaction(2, "summary").
		Text(strings.Repeat("large ", 50000)).Remember("request").Labels("k", "v")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	require.NoError(t, s.Close())
	return d
}

func needed(t *testing.T, path string) int64 {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	n := neededLength(file)
	require.Positive(t, n)
	return n
}

// A file that is exactly as long as its header says is complete.
func TestShortestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	d := made(t, path)
	require.NoError(t, os.Truncate(path, needed(t, path)))
	s := openAt(t, path, Options{})
	row, err := s.Session(t.Context(), "", "s")
	require.NoError(t, err)
	require.Equal(t, d.Session.GetUid(), row.GetUid())
}

// At MaxSize, what does not fit gets ErrFull and leaves nothing; what exists can be read and deleted.
func TestMaxSize(t *testing.T) {
	const limit = 4 << 20
	s := openNew(t, Options{MaxSize: limit})
	d := storagetest.NewSession("", "s", "u")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	var err error
	for err == nil {
		require.Less(t, d.Session.GetHead().GetNextIndex(), uint32(100))
		next := storagetest.Next(d.Session).Text(strings.Repeat("x", 200000)).Prune(0).Remember("r" + string(rune(d.Session.GetRevision())))
		if err = s.Commit(t.Context(), &next.Commit); err == nil {
			d = next
		}
	}
	require.ErrorIs(t, err, storage.ErrFull)
	info, err := os.Stat(s.path)
	require.NoError(t, err)
	require.LessOrEqual(t, info.Size(), int64(limit+limit/16))

	row, err := s.Session(t.Context(), "", "s")
	require.NoError(t, err)
	require.Equal(t, d.Session.GetRevision(), row.GetRevision())
	messages, err := s.Messages(t.Context(), d.Ref(), 0, 1000, 0)
	require.NoError(t, err)
	require.Len(t, messages, int(row.GetHead().GetNextIndex()))

	require.NoError(t, s.DeleteSession(t.Context(), "", "s"))
	again := storagetest.NewSession("", "s", "v").Text(strings.Repeat("x", 200000))
	require.NoError(t, s.CreateSession(t.Context(), &again.Commit), "what was deleted makes room")
}

// Headers of another version of bbolt's format are no damage.
func TestOtherFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	made(t, path)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	for header := range 2 {
		meta := content[header*os.Getpagesize()+16:][:64]
		binary.NativeEndian.PutUint32(meta[4:], 3)
		sum := fnv.New64a()
		_, err := sum.Write(meta[:56])
		require.NoError(t, err)
		binary.NativeEndian.PutUint64(meta[56:], sum.Sum64())
	}
	require.NoError(t, os.WriteFile(path, content, 0o600))
	for _, options := range []Options{{}, {ReadOnly: true}, {ReadOnly: true, Damaged: true}} {
		_, err := Open(path, options)
		require.ErrorIs(t, err, ErrNewer)
	}
}

// What was wrong with a header is known after the opening, which may have replaced it.
func TestDamagedHeadersAreRemembered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	made(t, path)
	s := openAt(t, path, Options{})
	require.Empty(t, s.DamagedHeaders())
	require.NoError(t, s.Close())
	older := headersOf(t, path)[1]
	flip(t, path, int64(older)*int64(os.Getpagesize())+20, 3)
	s = openAt(t, path, Options{})
	require.Equal(t, []string{fmt.Sprintf("page %d: the header is damaged", older)}, s.DamagedHeaders())
	require.NoError(t, s.CreateSession(t.Context(), &storagetest.NewSession("", "other", "v").Texts(1).Commit))
	require.NoError(t, s.Close())
	s = openAt(t, path, Options{})
	require.Empty(t, s.DamagedHeaders())
}

// headersOf returns the pages of the newer and the older header of a store.
func headersOf(t *testing.T, path string) [2]int {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	first, ok := pages.ParseMeta(content)
	require.True(t, ok)
	second, ok := pages.ParseMeta(content[os.Getpagesize():])
	require.True(t, ok)
	if second.Transaction > first.Transaction {
		return [2]int{1, 0}
	}
	return [2]int{0, 1}
}

// Which disk errors are a lack of space, and which may have lost something.
func TestMapError(t *testing.T) {
	for _, full := range []error{
		&fs.PathError{Op: "write", Err: syscall.ENOSPC}, &fs.PathError{Op: "write", Err: syscall.EDQUOT},
		berrors.ErrMaxSizeReached,
	} {
		require.ErrorIs(t, mapError(full), storage.ErrFull)
		require.ErrorIs(t, mapError(full), full)
	}
	for _, other := range []error{syscall.ENOSPC, &fs.PathError{Op: "write", Err: syscall.EIO}, syscall.EIO} {
		require.NotErrorIs(t, mapError(other), storage.ErrFull)
		require.ErrorIs(t, mapError(other), other)
	}
	require.NoError(t, mapError(nil))
}

// After a disk error nothing more is acknowledged, what exists can be read, and the next Open works.
func TestLostDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	d := made(t, path)
	var file *os.File
	s, err := Open(path, Options{openFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
		var err error
		file, err = os.OpenFile(name, flag, mode)
		return file, err
	}})
	require.NoError(t, err)
	// From here on every write fails, as on a disk that was removed.
	require.NoError(t, file.Close())
	lose := func() error { return s.Commit(t.Context(), &storagetest.Next(d.Session).Text("lost").Commit) }
	require.ErrorIs(t, lose(), fs.ErrClosed)
	err = lose()
	require.ErrorIs(t, err, fs.ErrClosed)
	require.ErrorIs(t, err, storage.ErrDisk)
	row, err := s.Session(t.Context(), "", "s")
	require.NoError(t, err)
	require.Equal(t, d.Session.GetRevision(), row.GetRevision())
	require.Error(t, s.Close())

	s = openAt(t, path, Options{})
	require.NoError(t, s.Commit(t.Context(), &storagetest.Next(d.Session).Text("again").Commit))
}

func TestSize(t *testing.T) {
	s := openNew(t, Options{})
	_, empty, err := s.Size(t.Context())
	require.NoError(t, err)
	d := storagetest.NewSession("", "s", "u").Text(strings.Repeat("x", 5<<20))
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	size, full, err := s.Size(t.Context())
	require.NoError(t, err)
	require.Greater(t, full, empty+5<<20)
	require.GreaterOrEqual(t, size, full)
	info, err := os.Stat(s.path)
	require.NoError(t, err)
	require.Equal(t, info.Size(), size)
	require.NoError(t, s.DeleteSession(t.Context(), "", "s"))
	_, freed, err := s.Size(t.Context())
	require.NoError(t, err)
	require.Less(t, freed, full-5<<20)
}
