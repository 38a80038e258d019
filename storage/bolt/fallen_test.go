//go:build linux

package boltstore

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/storagetest"
)

// mount stands for a file system that a test makes read-only.
type mount struct{ readOnly atomic.Bool }

func (m *mount) options() Options {
	return Options{ReadOnlyFallback: true, openFile: m.open}
}

func (m *mount) open(name string, flag int, mode os.FileMode) (*os.File, error) {
	if m.readOnly.Load() && flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE) != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EROFS}
	}
	return os.OpenFile(name, flag, mode)
}

// fallenStore returns a store with a session of one message, opened while its file system is read-only.
func fallenStore(t *testing.T, m *mount) (*Store, *storagetest.Draft) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, m.options())
	require.NoError(t, err)
	d := storagetest.NewSession("", "s", "u").Text("zero")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	require.NoError(t, s.Close())
	m.readOnly.Store(true)
	s, err = Open(path, m.options())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s, d
}

// requireReadOnly asserts that writes are refused since the file system is read-only, and that reads go on.
func requireReadOnly(t *testing.T, s *Store, d *storagetest.Draft) {
	t.Helper()
	var disk *storage.DiskError
	require.ErrorAs(t, s.Commit(t.Context(), &storagetest.Next(d.Session).Text("lost").Commit), &disk)
	require.Equal(t, storage.DiskReadOnly, disk.Cause)
	require.ErrorAs(t, s.DeleteSession(t.Context(), "", "s"), &disk)
	messages, err := s.Messages(t.Context(), d.Ref(), 0, 9, 0)
	require.NoError(t, err)
	require.Len(t, messages, 1)
}

// A store on a read-only file system is read, refuses writes as one whose disk fails, and takes them once it can.
func TestReadOnlyFileSystem(t *testing.T) {
	m := &mount{}
	s, d := fallenStore(t, m)
	w := &told{}
	w.watch(s)
	require.Equal(t, []string{"fails"}, w.texts())
	requireReadOnly(t, s, d)
	requireReadOnly(t, s, d)
	require.Equal(t, []string{"fails"}, w.texts())

	m.readOnly.Store(false)
	require.NoError(t, s.Commit(t.Context(), &storagetest.Next(d.Session).Text("one").Commit))
	require.Equal(t, []string{"fails", "works"}, w.texts())
	messages, err := s.Messages(t.Context(), d.Ref(), 0, 9, 0)
	require.NoError(t, err)
	require.Len(t, messages, 2)
	problems, err := s.CheckStructure(t.Context())
	require.NoError(t, err)
	require.Empty(t, problems)
}

// Another process that reads the same file only delays the writes.
func TestReadOnlyFileSystemWithAnotherReader(t *testing.T) {
	m := &mount{}
	s, d := fallenStore(t, m)
	other, err := Open(s.path, Options{ReadOnly: true})
	require.NoError(t, err)
	m.readOnly.Store(false)
	requireReadOnly(t, s, d)
	require.NoError(t, other.Close())
	require.NoError(t, s.Commit(t.Context(), &storagetest.Next(d.Session).Text("one").Commit))
}

// Where a store must be opened again while its file system is read-only, reads go on too.
func TestReadOnlyFileSystemAfterAFault(t *testing.T) {
	m := &mount{}
	f, options := newFaultyFile(t)
	inner := options.openFile
	options = m.options()
	options.openFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		if file, err := m.open(name, flag, mode); err != nil {
			return nil, err
		} else if err := file.Close(); err != nil {
			return nil, err
		}
		return inner(name, flag, mode)
	}
	options.failed = func() {
		f.healed()
		m.readOnly.Store(true)
	}
	s := openNew(t, options)
	d := storagetest.NewSession("", "s", "u").Text("zero")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	w := &told{}
	w.watch(s)
	f.inject(s, once(true, nil, syscall.EIO))
	d = storagetest.Next(d.Session).Text("one")
	_ = s.Commit(t.Context(), &d.Commit)
	require.Equal(t, 1, f.syncs)
	requireWritesFail := func() {
		var disk *storage.DiskError
		require.ErrorAs(t, s.Commit(t.Context(), &storagetest.Next(d.Session).Text("two").Commit), &disk)
		require.Equal(t, storage.DiskReadOnly, disk.Cause)
	}
	requireWritesFail()
	messages, err := s.Messages(t.Context(), d.Ref(), 0, 9, 0)
	require.NoError(t, err)
	require.Len(t, messages, 2)
	m.readOnly.Store(false)
	require.NoError(t, s.Commit(t.Context(), &storagetest.Next(d.Session).Text("two").Commit))
	texts := w.texts()
	require.Equal(t, []string{"fails", "works"}, texts)
}

// A store that is not there, and one that nobody asked to be only read, are refused.
func TestReadOnlyFileSystemIsRefused(t *testing.T) {
	m := &mount{}
	m.readOnly.Store(true)
	path := filepath.Join(t.TempDir(), "store.db")
	_, err := Open(path, m.options())
	require.ErrorIs(t, err, syscall.EROFS)
	require.NoFileExists(t, path)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err = Open(path, m.options())
	require.ErrorIs(t, err, syscall.EROFS)
	m = &mount{}
	s, _ := fallenStore(t, m)
	options := m.options()
	options.ReadOnlyFallback = false
	_, err = Open(s.path, options)
	require.ErrorIs(t, err, syscall.EROFS)
}

// A store that is closed while its file cannot be opened again is not lost.
func TestClosingWhileTheFileIsClosed(t *testing.T) {
	m := &mount{}
	f, options := newFaultyFile(t)
	inner := options.openFile
	options.openFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		if m.readOnly.Load() {
			return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EMFILE}
		}
		return inner(name, flag, mode)
	}
	options.failed = func() {
		f.healed()
		m.readOnly.Store(true)
	}
	s, err := Open(filepath.Join(t.TempDir(), "store.db"), options)
	require.NoError(t, err)
	d := storagetest.NewSession("", "s", "u").Text("zero")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	w := &told{}
	w.watch(s)
	f.inject(s, once(true, nil, syscall.EIO))
	require.Error(t, s.Commit(t.Context(), &storagetest.Next(d.Session).Text("one").Commit))
	require.NoError(t, s.Close())
	require.Nil(t, s.db)
	require.Equal(t, []string{"fails"}, w.texts())
}
