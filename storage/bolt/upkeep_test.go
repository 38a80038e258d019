package boltstore

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/bolt/internal/pages"
	"github.com/compactord/compactord/storage/storagetest"
)

// fill writes sessions and deletes half of them.
func fill(t *testing.T, s *Store) {
	t.Helper()
	for _, id := range []string{"one", "two"} {
		d := storagetest.NewSession("", id, "u")
		require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
		for range 60 {
			d = storagetest.Next(d.Session).Text(strings.Repeat(id, 700)).Text("short")
			require.NoError(t, s.Commit(t.Context(), &d.Commit))
		}
	}
	require.NoError(t, s.DeleteSession(t.Context(), "", "one"))
	d := storagetest.NewSession("", "three", "u").Text("text")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
}

// killed returns a copy of the file of a store that is open, as the end of its process would leave it.
func killed(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	left := filepath.Join(t.TempDir(), "killed.db")
	require.NoError(t, os.WriteFile(left, data, 0o600))
	return left
}

// The list of free pages is sealed after each commit, before the next one.
func TestListIsSealedAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	var unsealed, commits, followed int
	s, err := Open(path, Options{
		synced: func([]change) { commits++ },
		following: func() func() {
			return func() {
				followed++
				if listed, sealed := listState(t, path); !listed || !sealed {
					unsealed++
				}
			}
		},
	})
	require.NoError(t, err)
	fill(t, s)
	require.NoError(t, s.Close())
	require.Greater(t, commits, 100)
	require.GreaterOrEqual(t, followed, commits)
	require.Zero(t, unsealed)
	_, sealed := listState(t, path)
	require.True(t, sealed)
	requireSound(t, path)
}

// A list that is too long for each commit is written once nothing has been written for longer, and when the store is
// closed.
func TestLongListIsWrittenInTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(path, Options{listed: 5})
		require.NoError(t, err)
		fill(t, s)
		synctest.Wait()
		listed, _ := listState(t, killed(t, path))
		require.False(t, listed)
		<-time.After(2 * listPause)
		synctest.Wait()
		listed, sealed := listState(t, killed(t, path))
		require.True(t, listed)
		require.True(t, sealed)
		d := storagetest.NewSession("", "four", "u").Text("text")
		require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
		listed, _ = listState(t, killed(t, path))
		require.False(t, listed)
		require.NoError(t, s.Close())
	})
	listed, sealed := listState(t, path)
	require.True(t, listed)
	require.True(t, sealed)
	requireSound(t, path)
}

// countedFile counts the bytes that are read and written of a file.
type countedFile struct {
	*os.File
	read, written int
}

func (f *countedFile) ReadAt(b []byte, offset int64) (int, error) {
	f.read += len(b)
	return f.File.ReadAt(b, offset)
}

func (f *countedFile) WriteAt(b []byte, offset int64) (int, error) {
	f.written += len(b)
	return f.File.WriteAt(b, offset)
}

// removeSeals removes the seals of the lists of free pages of the last two commits.
func removeSeals(t *testing.T, path string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	newest, err := pages.NewestMeta(file)
	require.NoError(t, err)
	header := make([]byte, newest.PageSize)
	for id := range int64(2) {
		_, err := file.ReadAt(header, id*int64(newest.PageSize))
		require.NoError(t, err)
		meta, ok := pages.ParseMeta(header)
		require.True(t, ok)
		seal, at := pages.Stored(file, meta).ListSeal()
		require.NotNil(t, seal)
		_, err = file.WriteAt(make([]byte, len(seal)), at)
		require.NoError(t, err)
	}
	require.NoError(t, file.Close())
}

// After the end of its process, a store is opened without a look at most of it: also where no list of free pages was
// sealed.
func TestOpeningAfterAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	var left string
	outer := t
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(path, Options{})
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
		left = killed(outer, path)
		require.NoError(t, s.Close())
	})
	removeSeals(t, left)
	_, sealed := listState(t, left)
	require.False(t, sealed)

	raw, err := os.OpenFile(left, os.O_RDWR, 0)
	require.NoError(t, err)
	file := &countedFile{File: raw}
	require.NoError(t, ensureList(file, Options{}))
	require.Zero(t, file.written)
	checked := file.read
	// What it costs to look at all pages.
	snapshot, err := newestSnapshot(file)
	require.NoError(t, err)
	file.read = 0
	require.True(t, snapshot.Used().Whole())
	require.Less(t, checked, file.read/5)
	require.NoError(t, raw.Close())

	s, err := Open(left, Options{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	_, sealed = listState(t, left)
	require.True(t, sealed)
	requireSound(t, left)
}

// unsealed is a store whose list of free pages was not sealed yet.
func unsealed(t *testing.T) *image {
	t.Helper()
	i := busyImage(t)
	require.False(t, i.hasCheckedList(), "its seal decides")
	seal, at := pages.Mapped(i.data, i.meta.PageSize, i.meta.Root, i.meta.Transaction).ListSeal()
	clear(i.data[at:][:len(seal)])
	return i
}

func (i *image) hasCheckedList() bool {
	return pages.Mapped(i.data, i.meta.PageSize, i.meta.Root, i.meta.Transaction).HasCheckedList()
}

// No page in use that stands in a list without a seal goes unnoticed.
func TestListWithAPageInUse(t *testing.T) {
	i := unsealed(t)
	require.True(t, i.hasCheckedList())
	list := i.page(i.meta.Freelist)[16:]
	count := i.count(i.meta.Freelist)
	free := map[uint64]bool{}
	for n := range count {
		free[binary.NativeEndian.Uint64(list[8*n:])] = true
	}
	places := 0
	for id := uint64(2); id < i.meta.End; id++ {
		if free[id] {
			continue
		}
		n := 0
		for n < count-1 && binary.NativeEndian.Uint64(list[8*n:]) < id {
			n++
		}
		was := binary.NativeEndian.Uint64(list[8*n:])
		binary.NativeEndian.PutUint64(list[8*n:], id)
		require.False(t, i.hasCheckedList(), "page %d", id)
		binary.NativeEndian.PutUint64(list[8*n:], was)
		places++
	}
	require.Greater(t, places, 100)
	require.True(t, i.hasCheckedList())
}

// While writes fail, the pauses between the probes grow, and then stay the same.
func TestPausesBetweenProbes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var tried []time.Duration
		s, err := Open(path, Options{MaxSize: 1 << 20, Reserve: 8 << 20, failed: func() {
			tried = append(tried, time.Since(begin))
		}})
		require.NoError(t, err)
		<-time.After(100 * time.Second)
		synctest.Wait()
		require.Equal(t, []time.Duration{
			0, 1 * time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second, 31 * time.Second, 61 * time.Second,
			91 * time.Second,
		}, tried)
		require.ErrorIs(t, s.outages.current().Err, storage.ErrFull)
		require.NoError(t, s.Close())
	})
}

// A file is opened in the way in which commits cost least for as many free pages as it has.
func TestFewFreePagesAreKeptInAnArray(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, Options{})
	require.NoError(t, err)
	require.Equal(t, bbolt.FreelistArrayType, s.db.FreelistType)
	fill(t, s)
	require.NoError(t, s.Close())

	for listed, want := range map[int]bbolt.FreelistType{0: bbolt.FreelistArrayType, 5: bbolt.FreelistMapType} {
		s, err = Open(path, Options{listed: listed})
		require.NoError(t, err)
		require.Equal(t, want, s.db.FreelistType)
		require.NoError(t, s.Close())
	}
	requireSound(t, path)
}
