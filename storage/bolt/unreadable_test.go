//go:build linux

package boltstore

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/bolt/internal/pages"
	"github.com/compactord/compactord/storage/storagetest"
)

// badSector is a file of which one page cannot be read. It counts what is written.
type badSector struct {
	*os.File
	page, size int64
	met        bool
	writes     int
}

func (b *badSector) ReadAt(p []byte, offset int64) (int, error) {
	if start := b.page * b.size; offset < start+b.size && start < offset+int64(len(p)) {
		b.met = true
		return 0, &os.PathError{Op: "read", Path: b.Name(), Err: syscall.EIO}
	}
	return b.File.ReadAt(p, offset)
}

func (b *badSector) WriteAt(p []byte, offset int64) (int, error) {
	b.writes++
	return b.File.WriteAt(p, offset)
}

// Where a page cannot be read while the file is opened, that is an error of the disk, not damage, and nothing is written:
// pages in use could look free.
func TestPagesThatCannotBeReadAtOpening(t *testing.T) {
	source := filepath.Join(t.TempDir(), "store.db")
	busyStore(t, source)
	for name, sealed := range map[string]bool{"sealed list": true, "list without seal": false} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			sound, err := os.ReadFile(source)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, sound, 0o600))
			file, err := os.OpenFile(path, os.O_RDWR, 0)
			require.NoError(t, err)
			defer func() { require.NoError(t, file.Close()) }()
			meta, err := pages.NewestMeta(file)
			require.NoError(t, err)
			if !sealed {
				snapshot, err := newestSnapshot(file)
				require.NoError(t, err)
				_, at := snapshot.ListSeal()
				flip(t, path, at, 0)
			}
			refused := 0
			for page := range int64(meta.End) {
				bad := &badSector{File: file, page: page, size: int64(meta.PageSize)}
				err := ensureList(bad, Options{})
				switch {
				case bad.met && page != int64(meta.Freelist):
					require.ErrorIs(t, err, storage.ErrDisk, "page %d", page)
					require.NotErrorIs(t, err, storage.ErrCorrupt)
					require.Zero(t, bad.writes)
					refused++
				case sealed && page != int64(meta.Freelist):
					require.NoError(t, err)
				}
				// Back to what it was.
				_, err = file.WriteAt(sound[:2*meta.PageSize], 0)
				require.NoError(t, err)
			}
			require.Greater(t, refused, 2)
		})
	}
}

// hide makes a page of the mapped file unreadable, as a bad sector does, until show is called.
func hide(t *testing.T, s *Store, page uint64) (show func()) {
	t.Helper()
	size := s.db.Info().PageSize
	at := mapped(s.db.Info().Data, int(page+1)*size)[int(page)*size:]
	require.NoError(t, syscall.Mprotect(at, syscall.PROT_NONE))
	return func() { require.NoError(t, syscall.Mprotect(at, syscall.PROT_READ)) }
}

// A page of the mapped file that cannot be read is an error of the disk and not damage, in every method that meets it.
func TestPagesThatCannotBeReadInTheMap(t *testing.T) {
	s := openNew(t, Options{})
	d := storagetest.NewSession("", "s", "u").Text(strings.Repeat("x", 30_000)).Remember("r")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	for n := range 20 {
		// So many that the rows have pages of their own.
		other := storagetest.NewSession("", fmt.Sprint("other-", n), "u")
		require.NoError(t, s.CreateSession(t.Context(), &other.Commit))
	}
	file, err := os.Open(s.path)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	meta, err := pages.NewestMeta(file)
	require.NoError(t, err)
	reads := map[string]func() error{
		"Session": func() error {
			_, err := s.Session(t.Context(), "", "s")
			return err
		},
		"Messages": func() error {
			_, err := s.Messages(t.Context(), d.Ref(), 0, 9, 0)
			return err
		},
		"Request": func() error {
			_, err := s.Request(t.Context(), d.Ref(), "r")
			return err
		},
		"Sessions": func() error {
			_, _, err := s.Sessions(t.Context(), storage.SessionQuery{Limit: 99, Damaged: func(*storage.DamagedError) {
				t.Error("a session is reported as damaged")
			}})
			return err
		},
	}
	met := map[string]int{}
	for page := uint64(2); page < meta.End; page++ {
		for name, read := range reads {
			show := hide(t, s, page)
			err := read()
			show()
			if err != nil {
				require.ErrorIs(t, err, storage.ErrDisk, "%s, page %d", name, page)
				require.NotErrorIs(t, err, storage.ErrCorrupt, "%s, page %d", name, page)
				met[name]++
			}
			require.NoError(t, read(), "%s goes on", name)
		}
	}
	for name := range reads {
		require.Positive(t, met[name], name)
	}
	next := storagetest.Next(d.Session).Text("m")
	show := hide(t, s, meta.Root)
	err = s.Commit(t.Context(), &next.Commit)
	show()
	require.ErrorIs(t, err, storage.ErrDisk)
	require.NoError(t, s.Commit(t.Context(), &next.Commit))
}
