package boltstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/storagetest"
)

// requireContents requires that the store in a file is sound and holds these sessions.
func requireContents(t *testing.T, path string, want map[string]*content) {
	t.Helper()
	requireSound(t, path)
	s, err := Open(path, Options{ReadOnly: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	require.True(t, requireListed(t, path, s, want))
	for id, sound := range want {
		var requests []string
		for request := range sound.requests {
			requests = append(requests, request)
		}
		got := readContent(t, s, id, requests)
		require.Empty(t, got.errs)
		require.True(t, requireSoundOrSaid(t, path, id, got, sound))
		require.Len(t, got.requests, len(sound.requests))
	}
}

// A copy holds all that the store holds, and its file only that.
func TestCopy(t *testing.T) {
	folder := t.TempDir()
	path, to := filepath.Join(folder, "store.db"), filepath.Join(folder, "copy.db")
	s, want := busy(t, path, Options{Reserve: 1 << 16})
	var last int64
	copied, err := s.Copy(t.Context(), to, func(bytes int64) {
		require.Greater(t, bytes, last)
		last = bytes
	})
	require.NoError(t, err)
	require.Equal(t, len(want), copied.Sessions)
	info, err := os.Stat(to)
	require.NoError(t, err)
	require.Equal(t, copied.Bytes, info.Size())
	_, inUse, err := s.Size(t.Context())
	require.NoError(t, err)
	require.Less(t, copied.Bytes, inUse)
	requireContents(t, to, want)

	before, err := os.ReadFile(to)
	require.NoError(t, err)
	_, err = s.Copy(t.Context(), to, nil)
	require.ErrorIs(t, err, fs.ErrExist)
	after, err := os.ReadFile(to)
	require.NoError(t, err)
	require.True(t, bytes.Equal(before, after), "what is there is left as it is")
	require.NoError(t, s.Close())
	requireContents(t, path, want)
}

// Nothing is inserted into the middle of a log, so no room is left there for it.
func TestCopyHasFullPages(t *testing.T) {
	folder := t.TempDir()
	path, to := filepath.Join(folder, "store.db"), filepath.Join(folder, "copy.db")
	s := openAt(t, path, Options{})
	d := storagetest.NewSession("", "s", "u")
	for range 2000 {
		d.Text("a line of which a page of 4 kB has room for many")
	}
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	_, err := s.Copy(t.Context(), to, nil)
	require.NoError(t, err)
	db, err := bbolt.Open(to, 0o600, &bbolt.Options{ReadOnly: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, db.View(func(tx *bbolt.Tx) error {
		stats := tx.Bucket(messagesBucket).Stats()
		require.Greater(t, stats.LeafInuse*100, stats.LeafAlloc*95)
		return nil
	}))
}

// The values of a store of version 1, which is only read, get their sums in the copy.
func TestCopyOfVersion1(t *testing.T) {
	folder := t.TempDir()
	path, to := filepath.Join(folder, "store.db"), filepath.Join(folder, "copy.db")
	want := busyStore(t, path)
	unseal1(t, path)
	s, err := Open(path, Options{ReadOnly: true})
	require.NoError(t, err)
	_, err = s.Copy(t.Context(), to, nil)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	requireContents(t, to, want)
}

// A copy is what the store held at one moment: of two sessions that are written in turns, neither is ahead of its turn.
func TestCopyWhileTheStoreIsWritten(t *testing.T) {
	s := openNew(t, Options{})
	rows := map[string]*storagetest.Draft{}
	for _, id := range []string{"first", "second"} {
		rows[id] = storagetest.NewSession("", id, "uid-"+id).Texts(1)
		require.NoError(t, s.CreateSession(t.Context(), &rows[id].Commit))
	}
	ctx, stop := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	writing.Go(func() {
		for ctx.Err() == nil {
			for _, id := range []string{"first", "second"} {
				rows[id] = storagetest.Next(rows[id].Session).Text(strings.Repeat(id, 1000))
				if err := s.Commit(context.WithoutCancel(ctx), &rows[id].Commit); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	// The row and the messages of a store that is written are of two moments: only of a copy must they agree.
	acknowledgedLength := func() uint32 {
		row, err := s.Session(t.Context(), "", "first")
		require.NoError(t, err)
		return row.GetHead().GetNextIndex()
	}
	length := func(s *Store, id string) uint32 {
		row, err := s.Session(t.Context(), "", id)
		require.NoError(t, err)
		messages, err := s.Messages(t.Context(), storage.RefOf(row), 0, 1<<32-1, 0)
		require.NoError(t, err)
		require.Len(t, messages, int(row.GetHead().GetNextIndex()))
		return row.GetHead().GetNextIndex()
	}
	for n := range 5 {
		acknowledged := acknowledgedLength()
		path := filepath.Join(t.TempDir(), fmt.Sprint(n))
		_, err := s.Copy(t.Context(), path, nil)
		require.NoError(t, err)
		requireSound(t, path)
		other, err := Open(path, Options{ReadOnly: true})
		require.NoError(t, err)
		first, second := length(other, "first"), length(other, "second")
		require.NoError(t, other.Close())
		require.GreaterOrEqual(t, first, acknowledged)
		require.LessOrEqual(t, first-second, uint32(1))
	}
	stop()
	writing.Wait()
}

// withDeleted writes a store of which a deleted session's text is left: in free pages, and of another one in a log that is
// still to be removed.
func withDeleted(t *testing.T, path string) (want map[string]*content) {
	t.Helper()
	s, want := busy(t, path, Options{})
	for _, id := range []string{"swept", "dead"} {
		d := storagetest.NewSession("", id, "uid-"+id)
		for n := range 50 {
			d.Text(fmt.Sprintf("the secret of %s, %d %s", id, n, strings.Repeat("x", 500)))
		}
		require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	}
	require.NoError(t, s.DeleteSession(t.Context(), "", "swept"))
	require.NoError(t, s.Close())
	meta(t, path, func(tx *bbolt.Tx) error {
		key := sessionKey("", "dead")
		header, row, err := decodeRow(tx.Bucket(sessionsBucket).Get(key)[sealSize:])
		require.NoError(t, err)
		require.NoError(t, tx.Bucket(sessionsBucket).Delete(key))
		require.NoError(t, updateListings(begin(tx, contents{sums: true}), row, nil, header.ordinal))
		ordinal := ordinalKey(header.ordinal)
		return tx.Bucket(deadBucket).Put(ordinal, seal(deadBucket, ordinal, nil))
	})
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, id := range []string{"swept", "dead"} {
		require.True(t, bytes.Contains(content, []byte("the secret of "+id)), "%s: the test has nothing to show", id)
	}
	return want
}

// Nothing of deleted sessions is left in the file after a defragmentation, which keeps its mode and all else.
func TestDefragLeavesNothingDeleted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	want := withDeleted(t, path)
	require.NoError(t, os.Chmod(path, 0o640))
	require.NoError(t, os.WriteFile(path+".defrag", []byte("of a run that was killed"), 0o600))
	link := filepath.Join(t.TempDir(), "link.db")
	require.NoError(t, os.Symlink(path, link))
	before, err := os.Stat(path)
	require.NoError(t, err)
	s, err := Open(link, Options{ReadOnly: true})
	require.NoError(t, err)
	copied, err := s.Defrag(t.Context(), nil)
	require.NoError(t, err)
	after, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, copied.Bytes, after.Size())
	require.Less(t, after.Size(), before.Size())
	require.Equal(t, fs.FileMode(0o640), after.Mode().Perm())
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.Equal(t, fs.ModeSymlink, info.Mode().Type(), "the link leads to the store as before")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.False(t, bytes.Contains(content, []byte("the secret of ")))
	require.NoFileExists(t, path+".defrag")
	requireContents(t, path, want)
	_, _, err = s.Sessions(t.Context(), storage.SessionQuery{Limit: 1})
	require.ErrorIs(t, err, storage.ErrClosed)
}

// A copy that fails leaves no file, and a defragmentation that fails leaves the store.
func TestCopyThatFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	want := busyStore(t, path)
	to := filepath.Join(t.TempDir(), "copy.db")
	ended, end := context.WithCancel(t.Context())
	end()
	for name, fail := range map[string]func(s *Store) error{
		"copy":   func(s *Store) error { _, err := s.Copy(ended, to, nil); return err },
		"defrag": func(s *Store) error { _, err := s.Defrag(ended, nil); return err },
	} {
		s, err := Open(path, Options{})
		require.NoError(t, err)
		require.ErrorIs(t, fail(s), context.Canceled, name)
		require.NoError(t, s.Close())
		requireContents(t, path, want)
	}

	content, err := os.ReadFile(path)
	require.NoError(t, err)
	at := bytes.Index(content, []byte("session-3-7 session-3-7"))
	require.Positive(t, at)
	content[at] ^= 1
	damaged := filepath.Join(t.TempDir(), "damaged.db")
	require.NoError(t, os.WriteFile(damaged, content, 0o600))
	for name, fail := range map[string]func(s *Store) error{
		"copy":   func(s *Store) error { _, err := s.Copy(t.Context(), to, nil); return err },
		"defrag": func(s *Store) error { _, err := s.Defrag(t.Context(), nil); return err },
	} {
		s, err := Open(damaged, Options{ReadOnly: true})
		require.NoError(t, err)
		require.ErrorIs(t, fail(s), storage.ErrCorrupt, name)
		require.NoError(t, s.Close())
	}
	after, err := os.ReadFile(damaged)
	require.NoError(t, err)
	require.True(t, bytes.Equal(content, after))
	for _, folder := range []string{filepath.Dir(to), filepath.Dir(path), filepath.Dir(damaged)} {
		left, err := filepath.Glob(filepath.Join(folder, "*"))
		require.NoError(t, err)
		for _, file := range left {
			require.Contains(t, []string{path, damaged}, file)
		}
	}
}

// A store whose file is replaced while another process waits to open it is not opened: what is written there would be lost.
func TestReplacedWhileItIsOpened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	want := busyStore(t, path)
	other, err := Open(path, Options{ReadOnly: true})
	require.NoError(t, err)
	replaced := false
	_, err = Open(path, Options{openFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
		file, err := os.OpenFile(name, flag, mode)
		if !replaced {
			replaced = true
			_, err := other.Defrag(t.Context(), nil)
			require.NoError(t, err)
		}
		return file, err
	}})
	require.ErrorIs(t, err, ErrInUse)
	require.True(t, replaced)
	requireContents(t, path, want)
}

// A snapshot is there while it is used, and those of a process that was killed are removed at the next start.
func TestSnapshot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	want := busyStore(t, path)
	left := path + snapshotSuffix + "OFAKILLEDPROCESS"
	require.NoError(t, os.WriteFile(left, []byte("a part of a copy"), 0o600))
	other := filepath.Join(filepath.Dir(path), "other.db"+snapshotSuffix+"X")
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	s, err := Open(path, Options{})
	require.NoError(t, err)
	require.NoFileExists(t, left)
	require.FileExists(t, other, "of another store")
	name := ""
	require.NoError(t, s.Snapshot(t.Context(), func(file *os.File, sessions int) error {
		name = file.Name()
		require.Equal(t, len(want), sessions)
		requireContents(t, name, want)
		return nil
	}))
	require.NoFileExists(t, name)
	broken := errors.New("broken")
	require.ErrorIs(t, s.Snapshot(t.Context(), func(file *os.File, _ int) error {
		name = file.Name()
		return broken
	}), broken)
	require.NoFileExists(t, name)
	require.NoError(t, s.Close())
	requireContents(t, path, want)
}
