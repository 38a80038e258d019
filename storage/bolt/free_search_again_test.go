//go:build linux

package boltstore

import (
	"encoding/binary"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage/bolt/internal/pages"
	"github.com/compactord/compactord/storage/storagetest"
)

// After an error of the disk the file is opened again without a look at all its pages, for which reads would wait: the search
// begins again.
func TestFreeIsSearchedAgainAfterAnError(t *testing.T) {
	for _, closed := range []bool{true, false} {
		path := withoutList(t)
		file, options := newFaultyFile(t)
		search, begun := make(chan struct{}), make(chan struct{}, 9)
		options.ListFreeLater, options.failed = true, file.healed
		options.searches = func(ended <-chan struct{}) {
			begun <- struct{}{}
			after(search)(ended)
		}
		s, err := Open(path, options)
		require.NoError(t, err)
		<-begun
		file.inject(s, once(true, nil, syscall.EIO))
		s.change(t, "two", "four")
		<-begun
		require.True(t, lacksFree(t, path))
		require.True(t, s.Statistics().FreeUnknown)
		if !closed {
			close(search)
			s.changeUntilFreeIsKnown(t)
			require.Greater(t, s.Statistics().FreeBytes, int64(100_000))
		}
		require.NoError(t, s.Close())
		require.Equal(t, closed, lacksFree(t, path))
		require.Empty(t, begun)
		requireSound(t, path)
		requireAllFree(t, path)
	}
}

// changeUntilFreeIsKnown writes until what was searched for is listed.
func (s *Store) changeUntilFreeIsKnown(t *testing.T) {
	t.Helper()
	for range 10_000 {
		if !s.Statistics().FreeUnknown {
			return
		}
		s.change(t, "four", "four")
	}
	require.Fail(t, "the free pages are not found")
}

// Where a deletion on a full disk needs the reserve, for which the search ends, it begins again.
func TestFreeIsSearchedAgainAfterTheReserveWasNeeded(t *testing.T) {
	path := withoutList(t)
	file, options := newFaultyFile(t)
	search, begun := make(chan struct{}), make(chan struct{}, 9)
	options.ListFreeLater, options.Reserve, options.failed = true, 1<<16, file.healed
	options.searches = func(ended <-chan struct{}) {
		begun <- struct{}{}
		after(search)(ended)
	}
	s, err := Open(path, options)
	require.NoError(t, err)
	<-begun
	s.change(t, "two", "four")
	file.inject(s, once(false, syscall.ENOSPC, nil))
	require.NoError(t, s.DeleteSession(t.Context(), "", "four"))
	<-begun
	close(search)
	d := storagetest.NewSession("", "four", "u")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	s.changeUntilFreeIsKnown(t)
	require.NoError(t, s.Close())
	require.False(t, lacksFree(t, path))
	requireSound(t, path)
	requireAllFree(t, path)
}

// Where the header of the last commit is damaged when the search ends, what it has found is listed once the header is whole again.
func TestFreePagesWaitForAWholeHeader(t *testing.T) {
	path := withoutList(t)
	synctest.Test(t, func(t *testing.T) {
		search, begun := make(chan struct{}), make(chan struct{}, 9)
		options := Options{ListFreeLater: true, searches: func(ended <-chan struct{}) {
			begun <- struct{}{}
			after(search)(ended)
		}}
		s, err := Open(path, options)
		require.NoError(t, err)
		s.change(t, "two", "four")
		synctest.Wait()
		mend := damageNewestHeader(t, s, path)
		close(search)
		synctest.Wait()
		require.True(t, s.Statistics().FreeUnknown)
		mend()
		s.change(t, "four", "four")
		<-time.After(2 * completePause)
		synctest.Wait()
		require.False(t, s.Statistics().FreeUnknown)
		require.Len(t, begun, 1)
		require.NoError(t, s.Close())
	})
	require.False(t, lacksFree(t, path))
	requireSound(t, path)
	requireAllFree(t, path)
}

// Where there is no room for the list of the free pages, they are not searched for again, and listed once there is.
func TestFreePagesWaitForRoom(t *testing.T) {
	path := withoutList(t)
	searches, opened := 0, 0
	var mend func()
	options := Options{ListFreeLater: true, searches: func(<-chan struct{}) { searches++ }}
	options.openFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		opened++
		file, err := os.OpenFile(name, flag, mode)
		if err == nil && opened == 2 {
			mend = refuseWrites(t, file)
		}
		return file, err
	}
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(path, options)
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, 2, opened)
		require.True(t, lacksFree(t, path))
		mend()
		s.change(t, "two", "four")
		require.True(t, s.Statistics().FreeUnknown)
		<-time.After(10 * completePause)
		synctest.Wait()
		require.Equal(t, 3, opened)
		require.Equal(t, 1, searches)
		require.False(t, s.Statistics().FreeUnknown)
		require.False(t, lacksFree(t, path))
		require.NoError(t, s.Close())
	})
	requireSound(t, path)
	requireAllFree(t, path)
}

// refuseWrites makes a file one that cannot be written until it is mended.
func refuseWrites(t *testing.T, file *os.File) (mend func()) {
	t.Helper()
	good, err := syscall.Dup(int(file.Fd()))
	require.NoError(t, err)
	bad, err := os.Open(file.Name())
	require.NoError(t, err)
	require.NoError(t, syscall.Dup3(int(bad.Fd()), int(file.Fd()), syscall.O_CLOEXEC))
	require.NoError(t, bad.Close())
	return func() {
		require.NoError(t, syscall.Dup3(good, int(file.Fd()), syscall.O_CLOEXEC))
		require.NoError(t, syscall.Close(good))
	}
}

// What has become of the search is said: how much is free, or why that cannot be known. Nothing is said of one that was ended.
func TestTheSearchForFreePagesIsReported(t *testing.T) {
	path := withoutList(t)
	var said []error
	var bytes atomic.Int64
	options := Options{ListFreeLater: true, FreeSearched: func(found int64, err error) {
		bytes.Store(found)
		said = append(said, err)
	}}
	damaged := killed(t, path)
	ended := options
	ended.searches = after(nil)
	s, err := Open(path, ended)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.Empty(t, said)

	found := func(path string) {
		synctest.Test(t, func(t *testing.T) {
			s, err := Open(path, options)
			require.NoError(t, err)
			synctest.Wait()
			require.Equal(t, s.Statistics().FreeUnknown, said[len(said)-1] != nil)
			require.NoError(t, s.Close())
		})
	}
	found(path)
	require.Equal(t, []error{nil}, said)
	require.Greater(t, bytes.Load(), int64(100_000))

	damageBranch(t, damaged)
	found(damaged)
	require.Len(t, said, 2)
	require.ErrorIs(t, said[1], pages.ErrUnknownUse)
}

// damageBranch damages a page that leads to others.
func damageBranch(t *testing.T, path string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	size := int64(os.Getpagesize())
	info, err := file.Stat()
	require.NoError(t, err)
	for at := info.Size() - size; at >= 2*size; at -= size {
		page := make([]byte, size)
		_, err := file.ReadAt(page, at)
		require.NoError(t, err)
		if page[8] != 1 || int64(binary.NativeEndian.Uint64(page)) != at/size {
			continue
		}
		_, err = file.WriteAt(make([]byte, size), at)
		require.NoError(t, err)
		snapshot, err := newestSnapshot(file)
		require.NoError(t, err)
		if !snapshot.Used().Whole() {
			return
		}
	}
	t.Fatal("there is no branch")
}
