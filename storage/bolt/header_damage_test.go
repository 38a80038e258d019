package boltstore

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/storagetest"
)

// Where the newer header is damaged while the store is open, bbolt would read the state before the last commit, and write
// it once more. Nothing is served or written then, until the header is whole again.
func TestHeaderDamagedWhileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, Options{})
	require.NoError(t, err)
	d := storagetest.NewSession("", "one", "u").Text("first")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	d = storagetest.Next(d.Session).Text("second")
	require.NoError(t, s.Commit(t.Context(), &d.Commit))
	mend := damageNewestHeader(t, s, path)
	_, err = s.Session(t.Context(), "", "one")
	require.ErrorIs(t, err, storage.ErrCorrupt)
	require.ErrorContains(t, err, "the header of the last commit is damaged")
	next := storagetest.Next(d.Session).Text("third")
	require.ErrorIs(t, s.Commit(t.Context(), &next.Commit), storage.ErrCorrupt)

	mend()
	require.NoError(t, s.Commit(t.Context(), &next.Commit))
	messages, err := s.Messages(t.Context(), storage.RefOf(d.Session), 0, 9, 0)
	require.NoError(t, err)
	require.Len(t, messages, 3)
	require.NoError(t, s.Close())
}

// damageNewestHeader damages the header of the last commit. mend undoes it.
func damageNewestHeader(t *testing.T, s *Store, path string) (mend func()) {
	t.Helper()
	return damageHeader(t, path, s.acknowledged.Load())
}

// damageHeader damages the header of a transaction. mend undoes it.
func damageHeader(t *testing.T, path string, transaction int64) (mend func()) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	header := make([]byte, os.Getpagesize())
	at := transaction % 2 * int64(len(header))
	_, err = file.ReadAt(header, at)
	require.NoError(t, err)
	_, err = file.WriteAt(make([]byte, 100), at)
	require.NoError(t, err)
	return func() {
		_, err := file.WriteAt(header, at)
		require.NoError(t, err)
	}
}

// unfollowed holds the writer between the answer to a commit and what it notes of it.
type unfollowed struct {
	armed           atomic.Bool
	begins, release chan struct{}
	done            chan struct{}
}

func holdUnfollowed() *unfollowed {
	return &unfollowed{begins: make(chan struct{}), release: make(chan struct{}), done: make(chan struct{})}
}

func (h *unfollowed) following() func() {
	if !h.armed.CompareAndSwap(true, false) {
		return func() {}
	}
	h.begins <- struct{}{}
	<-h.release
	return func() { close(h.done) }
}

// The commit before the last one is not served for it, nor followed by another one, where its header is damaged before the
// writer has followed it: not before that, and not after it.
func TestHeaderDamagedBeforeItsCommitIsFollowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	hold := holdUnfollowed()
	s, err := Open(path, Options{following: hold.following})
	require.NoError(t, err)
	hold.armed.Store(true)
	d := storagetest.NewSession("", "one", "u")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	<-hold.begins
	mend := damageNewestHeader(t, s, path)
	_, err = s.Session(t.Context(), "", "one")
	require.ErrorIs(t, err, storage.ErrCorrupt)
	close(hold.release)
	<-hold.done
	_, err = s.Session(t.Context(), "", "one")
	require.ErrorIs(t, err, storage.ErrCorrupt)
	other := storagetest.NewSession("", "other", "v")
	require.ErrorIs(t, s.CreateSession(t.Context(), &other.Commit), storage.ErrCorrupt)

	mend()
	row, err := s.Session(t.Context(), "", "one")
	require.NoError(t, err)
	require.EqualValues(t, 1, row.GetRevision())
	require.NoError(t, s.CreateSession(t.Context(), &other.Commit))
	require.NoError(t, s.Close())
	requireSound(t, path)
}

// What the last commit wrote is not overwritten where its header is damaged: by the one before, its pages are free.
func TestHeaderDamagedBeforePagesAreOverwritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	hold := holdUnfollowed()
	s, done := overwritingStore(t, path, Options{following: hold.following})
	grow(t, s, "kept", 20)
	grow(t, s, "gone", 20)
	settled(s, done)
	hold.armed.Store(true)
	require.NoError(t, s.DeleteSession(t.Context(), "", "gone"))
	<-hold.begins
	mend := damageNewestHeader(t, s, path)
	close(hold.release)
	require.NoError(t, s.Close())
	mend()
	requireSound(t, path)
	requireGrown(t, path, "kept", 20)
}

// heldRead begins a transaction that reads, until it is released.
func heldRead(t *testing.T, s *Store) (release func()) {
	t.Helper()
	began, end, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		ended <- s.view(t.Context(), func(*transaction) error {
			close(began)
			<-end
			return nil
		})
	}()
	<-began
	return func() {
		close(end)
		require.NoError(t, <-ended)
	}
}

// What bbolt knows of free pages is still that of the last commit when its header is whole again, while an
// earlier commit is still read.
func TestPagesAfterTheHeaderWasDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, Options{})
	require.NoError(t, err)
	grow(t, s, "one", 5)
	d := grow(t, s, "two", 5)
	release := heldRead(t, s)
	after := storagetest.Next(d).Text("second")
	require.NoError(t, s.Commit(t.Context(), &after.Commit))
	d = after.Session
	mend := damageNewestHeader(t, s, path)
	next := storagetest.Next(d).Text("third")
	require.ErrorIs(t, s.Commit(t.Context(), &next.Commit), storage.ErrCorrupt)
	release()
	mend()
	require.NoError(t, s.Commit(t.Context(), &next.Commit))
	require.NoError(t, s.Close())
	requireSound(t, path)
	requireAllFree(t, path)
}

// Watchers are told of a damaged header, and when it is whole again.
func TestDamagedHeaderIsAnOutage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, Options{})
	require.NoError(t, err)
	d := storagetest.NewSession("", "one", "u")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	var now []error
	s.WatchOutages(func(o storage.Outage) { now = append(now, o.Err) })
	mend := damageNewestHeader(t, s, path)
	_, err = s.Session(t.Context(), "", "one")
	require.ErrorIs(t, err, storage.ErrCorrupt)
	require.Len(t, now, 1)
	require.ErrorContains(t, now[0], "the header of the last commit is damaged")
	mend()
	next := storagetest.Next(d.Session)
	require.NoError(t, s.Commit(t.Context(), &next.Commit))
	require.Len(t, now, 2)
	require.NoError(t, now[1])
	require.NoError(t, s.Close())
}

// No backup is made of the state before the last commit, and no copy that lacks what was last written to it.
func TestNoCopyWhereTheHeaderIsDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, Options{})
	require.NoError(t, err)
	d := grow(t, s, "one", 5)
	mend := damageNewestHeader(t, s, path)
	require.ErrorIs(t, s.Snapshot(t.Context(), func(*os.File, int) error {
		t.Error("a snapshot was taken")
		return nil
	}), storage.ErrCorrupt)
	_, err = s.Copy(t.Context(), path+".copy", nil)
	require.ErrorIs(t, err, storage.ErrCorrupt)
	require.NoFileExists(t, path+".copy")
	_, err = s.CheckStructure(t.Context())
	require.ErrorIs(t, err, storage.ErrCorrupt)
	mend()
	next := storagetest.Next(d)
	require.NoError(t, s.Commit(t.Context(), &next.Commit))

	to, err := newCopy(path+".copy", s.form())
	require.NoError(t, err)
	to.ended, to.progress = func() error { return nil }, func(int64) {}
	require.NoError(t, s.view(t.Context(), to.fill))
	damageHeader(t, path+".copy", int64(to.written.last))
	_, err = to.finish()
	require.ErrorIs(t, err, storage.ErrCorrupt)
	require.NoError(t, to.abandon())
	require.NoError(t, s.Close())
}

// A row of transactions ends where the header of one is damaged before the next one begins.
func TestSuccessionOfTransactions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file.db")
	db, err := bbolt.Open(path, fileMode, nil)
	require.NoError(t, err)
	var written succession
	for range 3 {
		tx, err := written.begin(db)
		require.NoError(t, err)
		_, err = tx.CreateBucketIfNotExists([]byte("b"))
		require.NoError(t, err)
		require.NoError(t, tx.Commit())
	}
	require.NoError(t, db.View(written.ends))
	mend := damageHeader(t, path, int64(written.last))
	require.ErrorIs(t, db.View(written.ends), storage.ErrCorrupt)
	_, err = written.begin(db)
	require.ErrorIs(t, err, storage.ErrCorrupt)
	mend()
	tx, err := written.begin(db)
	require.NoError(t, err)
	require.NoError(t, tx.Rollback())
	require.NoError(t, db.Close())
}
