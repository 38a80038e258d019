//go:build linux

package boltstore

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage/storagetest"
)

// A file is whole, and can be opened in either way, whichever of the writes of an opening was the last: of one that begins with
// an empty list, and of one that adds the pages that it lacks.
func TestKilledWhileTheListIsWritten(t *testing.T) {
	source := withoutList(t)
	begun := killed(t, source)
	require.True(t, readyAfter(t, begun, Options{listLater: true}, 100))
	for from, options := range map[string]Options{source: {listLater: true}, begun: {missing: missingOf(t, begun)}} {
		for writes, all := 0, false; !all; writes++ {
			require.Less(t, writes, 10)
			left := killed(t, from)
			all = readyAfter(t, left, options, writes)
			_, sealed := listState(t, left)
			require.Equal(t, all && options.missing != nil, sealed)
			requireSound(t, left)
			requireAllFree(t, killed(t, left))
			s, err := Open(left, Options{ListFreeLater: true})
			require.NoError(t, err)
			s.change(t, "two", "four")
			require.NoError(t, s.Close())
			requireSound(t, left)
		}
	}
}

// readyAfter makes a file ready that fails in the middle of the write after so many others, and reports whether there was none.
func readyAfter(t *testing.T, path string, options Options, writes int) (all bool) {
	t.Helper()
	raw, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	file := &endingFile{File: raw, writes: writes}
	err = ensureList(file, options)
	require.NoError(t, raw.Close())
	require.Equal(t, err != nil, file.writes < 0 && options.missing == nil)
	return file.writes >= 0
}

// missingOf returns the pages that the list of a file lacks.
func missingOf(t *testing.T, path string) *missingPages {
	t.Helper()
	raw, err := os.Open(path)
	require.NoError(t, err)
	snapshot, err := newestSnapshot(raw)
	require.NoError(t, err)
	found, err := snapshot.Missing(func() bool { return false })
	require.NoError(t, err)
	require.NotEmpty(t, found)
	require.NoError(t, raw.Close())
	return &missingPages{pages: found, commit: snapshot.Commit()}
}

// endingFile fails in the middle of a write, and from then on.
type endingFile struct {
	*os.File
	writes int
}

func (f *endingFile) WriteAt(b []byte, offset int64) (int, error) {
	if f.writes--; f.writes >= 0 {
		return f.File.WriteAt(b, offset)
	}
	// A header is written whole or not at all.
	if f.writes == -1 && !isHeader(offset) {
		_, _ = f.File.WriteAt(b[:len(b)/2], offset)
	}
	return 0, syscall.EIO
}

// Where a commit fails after one without a list, bbolt finds the free pages itself, and takes them. What the search finds then
// is not free.
func TestFailedCommitWhileFreeIsSearched(t *testing.T) {
	path := withoutList(t)
	file, options := newFaultyFile(t)
	search := make(chan struct{})
	options.ListFreeLater, options.listed, options.searches = true, 5, after(search)
	s, err := Open(path, options)
	require.NoError(t, err)
	s.change(t, "two", "four")
	listed, _ := listState(t, path)
	require.False(t, listed)
	file.inject(s, once(false, syscall.EIO, nil))
	for n := range 20 {
		d := storagetest.NewSession("", fmt.Sprint("after", n), "u").Text(strings.Repeat(fmt.Sprint(n, " "), 5000))
		require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	}
	require.Equal(t, 1, file.writes)
	close(search)
	for n := range 20 {
		d := storagetest.NewSession("", fmt.Sprint("later", n), "u").Text(strings.Repeat(fmt.Sprint(n, " "), 5000))
		require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	}
	require.NoError(t, s.Close())
	requireSound(t, path)
	requireAllFree(t, path)
}

// A list that cannot become longer stays as it is: the store is read and written on.
func TestNoRoomToCompleteTheList(t *testing.T) {
	path := withoutList(t)
	missing := missingAfterOpening(t, path)
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, ensureList(&endingFile{File: file}, Options{missing: missing}))
	require.NoError(t, file.Close())
	require.True(t, lacksFree(t, path))
	requireSound(t, path)
	requireAllFree(t, path)
}

// missingAfterOpening makes a file ready with an empty list, and returns what that lacks.
func missingAfterOpening(t *testing.T, path string) *missingPages {
	t.Helper()
	require.True(t, readyAfter(t, path, Options{listLater: true}, 100))
	return missingOf(t, path)
}
