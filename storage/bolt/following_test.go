package boltstore

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage/bolt/internal/pages"
	"github.com/compactord/compactord/storage/storagetest"
)

// withoutSeal reads a file as if the seal of its newest list of free pages had not been written.
type withoutSeal struct {
	*os.File
	at   int64
	read int
}

func openWithoutSeal(t *testing.T, path string) *withoutSeal {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	newest, err := newestSnapshot(file)
	require.NoError(t, err)
	_, at := newest.ListSeal()
	require.NotZero(t, at)
	return &withoutSeal{File: file, at: at}
}

func (f *withoutSeal) ReadAt(b []byte, offset int64) (int, error) {
	n, err := f.File.ReadAt(b, offset)
	f.read += n
	if from, to := max(f.at, offset), min(f.at+8, offset+int64(n)); from < to {
		clear(b[from-offset : to-offset])
	}
	return n, err
}

// A process that ends between a commit and its seal leaves a list that follows from the sealed one before: after commits
// of all kinds.
func TestListFollowsFromTheOneBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	commits := 0
	options := Options{synced: func([]change) {
		if commits++; commits == 1 {
			// The first list follows from none.
			return
		}
		newest, err := newestSnapshot(openWithoutSeal(t, path))
		require.NoError(t, err)
		require.False(t, newest.HasSealedList())
		require.True(t, newest.HasFollowingList(), "commit %d", commits)
	}}
	s, _ := busy(t, path, options)
	for n := range 8 {
		require.NoError(t, s.DeleteSession(t.Context(), "", "session-"+string(rune('0'+n))))
	}
	require.NoError(t, s.Close())
	require.Greater(t, commits, 200)
}

// What is read after a kill does not grow with the file.
func TestOpeningAfterAKillReadsFewPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, Options{})
	require.NoError(t, err)
	d := storagetest.NewSession("", "large", "u")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	for range 20 {
		d = storagetest.Next(d.Session)
		for range 1000 {
			d.Text(benchText)
		}
		require.NoError(t, s.Commit(t.Context(), &d.Commit))
	}
	d = storagetest.Next(d.Session).Text("the last")
	require.NoError(t, s.Commit(t.Context(), &d.Commit))
	killed := killed(t, path)
	require.NoError(t, s.Close())

	file := openWithoutSeal(t, killed)
	require.NoError(t, ensureList(readOnly{file}, Options{}))
	require.Less(t, file.read, 60*os.Getpagesize())
}

// readOnly is a file that nothing is to be written to.
type readOnly struct{ io.ReaderAt }

func (readOnly) WriteAt([]byte, int64) (int, error) { return 0, os.ErrPermission }
func (readOnly) Sync() error                        { return os.ErrPermission }

func (i *image) hasFollowingList() bool {
	return pages.Mapped(i.data, i.meta.PageSize, i.meta.Root, i.meta.Transaction).HasFollowingList()
}

// A list does not follow that holds a page in use, or lacks a free one.
func TestListThatDoesNotFollow(t *testing.T) {
	i := unsealed(t)
	require.True(t, i.hasFollowingList())
	at := i.page(i.meta.Freelist)
	list, count := at[16:], i.count(i.meta.Freelist)
	var free []uint64
	for n := range count {
		free = append(free, binary.NativeEndian.Uint64(list[8*n:]))
	}
	write := func(ids []uint64) {
		binary.NativeEndian.PutUint16(at[10:], uint16(len(ids)))
		clear(list[:8*count])
		for n, id := range ids {
			binary.NativeEndian.PutUint64(list[8*n:], id)
		}
	}
	for n := range free {
		write(slices.Delete(slices.Clone(free), n, n+1))
		require.False(t, i.hasFollowingList(), "without page %d", free[n])
	}
	places := 0
	for id := uint64(2); id < i.meta.End; id++ {
		n, found := slices.BinarySearch(free, id)
		if found {
			continue
		}
		if n < count {
			changed := slices.Clone(free)
			changed[n] = id
			write(changed)
			require.False(t, i.hasFollowingList(), "page %d", id)
			places++
		}
	}
	require.Greater(t, places, 100)
	write(free)
	require.True(t, i.hasFollowingList())
}

// A list follows from nothing where the list or the header before it is damaged, and wherever bits of what the last
// commit has written are flipped, the list that is taken is right.
func TestListAfterADamagedCommit(t *testing.T) {
	i := unsealed(t)
	previous := i.page(1 - i.meta.Transaction%2)
	before, ok := pages.ParseMeta(previous)
	require.True(t, ok)
	for name, place := range map[string][]byte{
		"header": previous[40:], "list": i.page(before.Freelist)[16:], "count": i.page(before.Freelist)[10:],
	} {
		place[0] ^= 4
		require.False(t, i.hasFollowingList(), name)
		place[0] ^= 4
	}
	require.True(t, i.hasFollowingList())
	right := slices.Clone(i.data)
	r := rand.New(rand.NewPCG(7, 8))
	taken := 0
	for range 20000 {
		at := r.IntN(len(i.data)-2*i.meta.PageSize) + 2*i.meta.PageSize
		i.data[at] ^= 1 << r.IntN(8)
		if i.hasFollowingList() {
			taken++
			from := int(i.meta.Freelist) * i.meta.PageSize
			require.Equal(t, right[from:][:i.meta.PageSize], i.data[from:][:i.meta.PageSize], "byte %d", at)
		}
		i.data[at] = right[at]
	}
	require.NotZero(t, taken)
}

// A list that cannot be sealed right after its commit is sealed once nothing has been written for a while.
func TestSealThatFailsIsWrittenLater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(path, Options{})
		require.NoError(t, err)
		fill(t, s)
		synctest.Wait()
		refusing, err := os.Open(path)
		require.NoError(t, err)
		file := s.file
		s.file = refusing
		d := storagetest.NewSession("", "four", "u").Text("text")
		require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
		synctest.Wait()
		s.file = file
		// The writer takes the lock of this read before it looks at the file.
		require.NoError(t, s.db.View(func(*bbolt.Tx) error { return nil }))
		_, sealed := listState(t, killed(t, path))
		require.False(t, sealed)
		<-time.After(2 * sealPause)
		synctest.Wait()
		_, sealed = listState(t, killed(t, path))
		require.True(t, sealed)
		require.NoError(t, refusing.Close())
		require.NoError(t, s.Close())
	})
}
