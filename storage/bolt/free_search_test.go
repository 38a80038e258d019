package boltstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage/bolt/internal/pages"
	"github.com/compactord/compactord/storage/storagetest"
)

// withoutList returns a file as the end of a process leaves it while more pages are free than a commit lists.
func withoutList(t *testing.T) (left string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	outer := t
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(path, Options{listed: 5})
		require.NoError(t, err)
		d := storagetest.NewSession("", "large", "u")
		require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
		for range 20 {
			d = storagetest.Next(d.Session)
			for range 500 {
				d.Text(strings.Repeat("text ", 100))
			}
			require.NoError(t, s.Commit(t.Context(), &d.Commit))
		}
		fill(t, s)
		synctest.Wait()
		left = killed(outer, path)
		require.NoError(t, s.Close())
	})
	listed, _ := listState(t, left)
	require.False(t, listed)
	return left
}

// lacksFree reports whether a file has a list that says that it lacks free pages.
func lacksFree(t *testing.T, path string) bool {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	snapshot, err := newestSnapshot(file)
	require.NoError(t, err)
	lacks := snapshot.LacksFree()
	require.NoError(t, file.Close())
	return lacks
}

// after lets a search begin when a channel is closed.
func after(search <-chan struct{}) func(<-chan struct{}) {
	return func(ended <-chan struct{}) {
		select {
		case <-search:
		case <-ended:
		}
	}
}

// change deletes a session, which a writer then removes, and writes another one.
func (s *Store) change(t *testing.T, gone, id string) {
	t.Helper()
	require.NoError(t, s.DeleteSession(t.Context(), "", gone))
	d := storagetest.NewSession("", id, "u").Text(strings.Repeat(id, 5000))
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
}

// A store without a list of its free pages is opened without a look at its pages, and gets all of them back in the
// background.
func TestFreePagesAreFoundLater(t *testing.T) {
	left := withoutList(t)
	again := killed(t, left)

	raw, err := os.OpenFile(left, os.O_RDWR, 0)
	require.NoError(t, err)
	file := &countedFile{File: raw}
	require.NoError(t, ensureList(file, Options{listLater: true}))
	read := file.read
	snapshot, err := newestSnapshot(file)
	require.NoError(t, err)
	file.read = 0
	require.True(t, snapshot.Used().Whole())
	require.Less(t, read, file.read/5)
	require.NoError(t, raw.Close())
	require.True(t, lacksFree(t, left))

	free := func(path string, options Options) (bytes int64) {
		synctest.Test(t, func(t *testing.T) {
			s, err := Open(path, options)
			require.NoError(t, err)
			synctest.Wait()
			bytes = s.Statistics().FreeBytes
			s.change(t, "two", "four")
			synctest.Wait()
			rows, err := s.Session(t.Context(), "", "four")
			require.NoError(t, err)
			require.Equal(t, "four", rows.GetSessionId())
			require.NoError(t, s.Close())
		})
		_, sealed := listState(t, path)
		require.True(t, sealed)
		requireSound(t, path)
		return bytes
	}
	want := free(again, Options{})
	require.Greater(t, want, int64(100_000))
	require.InDelta(t, want, free(left, Options{ListFreeLater: true}), 100_000)
}

// What is written while the pages are searched for is kept, and so is what the list says about itself: whoever opens the
// file after another kill knows what it lacks.
func TestKilledBeforeFreePagesAreFound(t *testing.T) {
	left := withoutList(t)
	outer := t
	var files []string
	synctest.Test(t, func(t *testing.T) {
		search := make(chan struct{})
		s, err := Open(left, Options{ListFreeLater: true, searches: after(search)})
		require.NoError(t, err)
		synctest.Wait()
		for n := range 4 {
			gone := map[int]string{0: "two", 1: "new0", 2: "new1", 3: "new2"}[n]
			s.change(t, gone, fmt.Sprint("new", n))
			synctest.Wait()
			files = append(files, killed(outer, left))
		}
		require.NoError(t, s.Snapshot(t.Context(), func(*os.File, int) error { return nil }))
		close(search)
		synctest.Wait()
		require.False(t, lacksFree(t, left))
		s.change(t, "new3", "last")
		require.NoError(t, s.Close())
	})
	_, sealed := listState(t, left)
	require.True(t, sealed)
	requireSound(t, left)
	for n, file := range files {
		require.True(t, lacksFree(t, file))
		requireSound(t, file)
		later := killed(t, file)
		for path, options := range map[string]Options{file: {}, later: {ListFreeLater: true}} {
			synctest.Test(t, func(t *testing.T) {
				s, err := Open(path, options)
				require.NoError(t, err)
				synctest.Wait()
				_, err = s.Session(t.Context(), "", fmt.Sprint("new", n))
				require.NoError(t, err)
				require.NoError(t, s.Close())
			})
			_, sealed := listState(t, path)
			require.True(t, sealed)
			requireSound(t, path)
		}
	}
}

// A list that lacks pages and got no seal yet is none that was only not sealed, whatever the commits before it were: the header
// says so.
func TestUnsealedListThatLacksFreePages(t *testing.T) {
	path, outer := withoutList(t), t
	var left []string
	synctest.Test(t, func(t *testing.T) {
		search := make(chan struct{})
		s, err := Open(path, Options{ListFreeLater: true, listed: 20, searches: after(search)})
		require.NoError(t, err)
		d := storagetest.NewSession("", "small", "u")
		require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
		synctest.Wait()
		left = append(left, killed(outer, path))
		gone := "two"
		for _, id := range []string{"four", "five", "six"} {
			s.change(t, gone, id)
			synctest.Wait()
			left, gone = append(left, killed(outer, path)), id
		}
		// A list is written after a commit without one.
		listed, _ := listState(t, path)
		require.False(t, listed)
		<-time.After(2 * listPause)
		synctest.Wait()
		left = append(left, killed(outer, path))
		close(search)
		require.NoError(t, s.Close())
	})
	lists := 0
	for _, left := range left {
		file, err := os.OpenFile(left, os.O_RDWR, 0)
		require.NoError(t, err)
		snapshot, err := newestSnapshot(file)
		require.NoError(t, err)
		if seal, at := snapshot.ListSeal(); seal != nil {
			require.True(t, snapshot.HasIncompleteList())
			_, err = file.WriteAt(make([]byte, len(seal)), at)
			require.NoError(t, err)
			lists++
		}
		require.True(t, snapshot.LacksFree())
		require.False(t, snapshot.HasIncompleteList())
		require.False(t, snapshot.HasSealedList())
		require.False(t, snapshot.HasFollowingList())
		require.False(t, snapshot.HasCheckedList())
		require.NoError(t, file.Close())
		requireSound(t, left)
		requireAllFree(t, left)
	}
	require.Equal(t, 2, lists)
}

// requireAllFree opens a file for writing, and requires that its list has all free pages then.
func requireAllFree(t *testing.T, path string) {
	t.Helper()
	s, err := Open(path, Options{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.False(t, lacksFree(t, path))
	_, sealed := listState(t, path)
	require.True(t, sealed)
	requireSound(t, path)
}

// What an opening writes itself, such as the name of a new key, does not hide what the list lacks.
func TestOpeningWritesWhileFreePagesAreNotKnown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	old, both := keys(t, "k0"), keys(t, "k1", "k0")
	var left string
	outer := t
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(path, Options{listed: 5, Keys: old})
		require.NoError(t, err)
		fill(t, s)
		synctest.Wait()
		left = killed(outer, path)
		require.NoError(t, s.Close())
	})
	search := make(chan struct{})
	s, err := Open(left, Options{ListFreeLater: true, Keys: both, searches: after(search)})
	require.NoError(t, err)
	require.True(t, lacksFree(t, left))
	again := killed(t, left)
	close(search)
	require.NoError(t, s.Close())
	requireSoundWith(t, again, both)
}

// Pages that were found for another commit are not used.
func TestMissingPagesAreThoseOfOneCommit(t *testing.T) {
	path := withoutList(t)
	raw, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, ensureList(raw, Options{listLater: true}))
	snapshot, err := newestSnapshot(raw)
	require.NoError(t, err)
	found, err := snapshot.Missing(func() bool { return false })
	require.NoError(t, err)
	require.NoError(t, ensureList(raw, Options{listLater: true, missing: &missingPages{pages: found, commit: snapshot.Commit() - 1}}))
	require.True(t, lacksFree(t, path))
	_, err = snapshot.Missing(func() bool { return true })
	require.ErrorIs(t, err, pages.ErrUnknownUse, "a search that was ended has found no pages")
	require.NoError(t, raw.Close())
}

// An earlier version of the program does not look at what the header says of the list, and must not trust it either.
func TestEarlierVersionsDoNotTrustAListThatLacksPages(t *testing.T) {
	path := withoutList(t)
	raw, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, ensureList(raw, Options{listLater: true}))
	meta, err := pages.NewestMeta(raw)
	require.NoError(t, err)
	require.True(t, meta.LacksFree)
	meta.LacksFree = false
	earlier := pages.Stored(raw, meta)
	require.False(t, earlier.HasSealedList())
	require.False(t, earlier.HasFollowingList())
	require.False(t, earlier.HasCheckedList())
	require.Error(t, earlier.CheckFreelist(earlier.Used()))
	require.NoError(t, raw.Close())
}

// Free pages that are to be overwritten are known from the beginning.
func TestFreePagesThatAreOverwrittenAreNotFoundLater(t *testing.T) {
	path := withoutList(t)
	s, err := Open(path, Options{ListFreeLater: true, OverwriteFreed: true})
	require.NoError(t, err)
	require.False(t, lacksFree(t, path))
	require.NoError(t, s.Close())
	requireSound(t, path)
}

// seeing never ends, and calls a function whenever somebody asks whether it has.
type seeing func()

func (seeing) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }
func (seeing) Done() <-chan struct{}                   { return nil }
func (seeing) Value(any) any                           { return nil }
func (see seeing) Err() error                          { see(); return nil }

var _ context.Context = seeing(nil)

// Reads do not wait for one of the whole store: meanwhile the file is not opened again.
func TestFreePagesAreListedAfterAReadOfTheWholeStore(t *testing.T) {
	path := withoutList(t)
	synctest.Test(t, func(t *testing.T) {
		search := make(chan struct{})
		s, err := Open(path, Options{ListFreeLater: true, searches: after(search)})
		require.NoError(t, err)
		asked := 0
		_, err = s.CheckStructure(seeing(func() {
			if asked++; asked == 1 {
				// The writer can do all that it wants now.
				close(search)
				<-time.After(10 * completePause)
				require.True(t, lacksFree(t, path))
			}
		}))
		require.NoError(t, err)
		require.Positive(t, asked)
		<-time.After(10 * completePause)
		synctest.Wait()
		require.False(t, lacksFree(t, path))
		asked = 0
		_, err = s.Copy(seeing(func() {
			asked++
			require.False(t, s.wholeReads.TryLock())
		}), path+".copy", nil)
		require.NoError(t, err)
		require.Positive(t, asked)
		require.NoError(t, s.Close())
	})
}
