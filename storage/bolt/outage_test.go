//go:build linux

package boltstore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/storagetest"
)

// testReserve is large enough for the deletions of these tests.
const testReserve = 1 << 20

// told collects what watchers of outages are told.
type told struct {
	mu   sync.Mutex
	list []storage.Outage
}

func (w *told) watch(s *Store) {
	s.WatchOutages(func(o storage.Outage) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.list = append(w.list, o)
	})
}

// texts returns "fails", "lost" and "works" in the order in which they were told.
func (w *told) texts() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var texts []string
	for _, o := range w.list {
		switch {
		case o.Lost:
			texts = append(texts, "lost")
		case o.Err != nil:
			texts = append(texts, "fails")
		default:
			texts = append(texts, "works")
		}
	}
	return texts
}

// isHeader reports whether an offset is that of one of the two headers.
func isHeader(offset int64) bool { return offset < 2*int64(os.Getpagesize()) }

// once returns a decision that is made at the first page of a kind only.
func once(header bool, write, sync error) decision {
	done := false
	return func(start, _ int64) (error, error) {
		if done || isHeader(start) != header {
			return nil, nil
		}
		done = true
		return write, sync
	}
}

// A single error of the disk passes: the caller learns nothing of it, and what was acknowledged is in the file.
func TestASingleErrorOfTheDiskPasses(t *testing.T) {
	for name, page := range map[string]decision{
		"write of a page":   once(false, syscall.EIO, nil),
		"sync of pages":     once(false, nil, syscall.EIO),
		"write of a header": once(true, syscall.EIO, nil),
		"sync of a header":  once(true, nil, syscall.EIO),
	} {
		t.Run(name, func(t *testing.T) {
			f, options := newFaultyFile(t)
			options.failed = f.healed
			s := openNew(t, options)
			d := storagetest.NewSession("", "s", "u")
			require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
			w := &told{}
			w.watch(s)
			f.inject(s, page)
			d = storagetest.Next(d.Session).Text("one")
			require.NoError(t, s.Commit(t.Context(), &d.Commit))
			require.Equal(t, 1, f.writes+f.syncs)
			d = storagetest.Next(d.Session).Text("two")
			require.NoError(t, s.Commit(t.Context(), &d.Commit))
			messages, err := s.Messages(t.Context(), d.Ref(), 0, 9, 0)
			require.NoError(t, err)
			require.Len(t, messages, 2)
			if texts := w.texts(); len(texts) > 0 {
				require.Equal(t, []string{"fails", "works"}, texts)
			}
		})
	}
}

// A write that readers see is not refused for lack of room, since that would say that nothing was written.
func TestAWriteThatIsSeenIsNotSaidToBeRefused(t *testing.T) {
	f, options := newFaultyFile(t)
	options.failed = f.unusable
	s := openNew(t, options)
	d := storagetest.NewSession("", "s", "u")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	// The first half of the page has all of the header.
	f.inject(s, once(true, syscall.ENOSPC, nil))
	d = storagetest.Next(d.Session).Text("one")
	err := s.Commit(t.Context(), &d.Commit)
	require.ErrorIs(t, err, storage.ErrDisk)
	require.NotErrorIs(t, err, storage.ErrFull)
	messages, err := s.Messages(t.Context(), d.Ref(), 0, 9, 0)
	require.NoError(t, err)
	require.Len(t, messages, 1)
	f.repair()
	require.NoError(t, s.Commit(t.Context(), &storagetest.Next(d.Session).Text("two").Commit))
}

// A write that readers see is settled, and not run again: a second run would find the changes of the first, and say that
// nothing was written, so that the caller would write once more.
func TestAWriteThatIsSeenIsNotRunAgain(t *testing.T) {
	for name, write := range map[string]func(*Store, *storagetest.Draft) error{
		"append": func(s *Store, d *storagetest.Draft) error {
			return s.Commit(t.Context(), &storagetest.Next(d.Session).Text("one").Commit)
		},
		"creation": func(s *Store, _ *storagetest.Draft) error {
			return s.CreateSession(t.Context(), &storagetest.NewSession("", "other", "v").Commit)
		},
		"deletion": func(s *Store, _ *storagetest.Draft) error { return s.DeleteSession(t.Context(), "", "s") },
	} {
		t.Run(name, func(t *testing.T) {
			f, options := newFaultyFile(t)
			s := openNew(t, options)
			d := storagetest.NewSession("", "s", "u")
			require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
			w := &told{}
			w.watch(s)
			// The sync of its header fails, and the next one too. When the outage begins, syncs succeed again.
			s.WatchOutages(func(storage.Outage) { f.healed() })
			f.inject(s, once(true, nil, syscall.EIO))
			require.NoError(t, write(s, d))
			require.Equal(t, 1, f.syncs)
			require.Equal(t, []string{"fails", "works"}, w.texts())
		})
	}
}

// Where the file has no list of its free pages, a failed commit costs a scan of the file, so that only the first write
// of an outage is tried until the next probe, which ends it.
func TestWritesThatWouldScanTheFileAreSpared(t *testing.T) {
	for name, listed := range map[string]int{"without a list": 1, "with a list": 0} {
		t.Run(name, func(t *testing.T) {
			f, options := newFaultyFile(t)
			options.Reserve, options.listed = testReserve, listed
			failures := 0
			options.failed = func() { failures++ }
			s := openNew(t, options)
			d := storagetest.NewSession("", "s", "u").Text("zero")
			require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
			other := storagetest.NewSession("", "other", "v")
			require.NoError(t, s.CreateSession(t.Context(), &other.Commit))
			w := &told{}
			w.watch(s)
			f.inject(s, func(int64, int64) (error, error) { return syscall.ENOSPC, nil })
			const tries = 20
			for range tries {
				next := storagetest.Next(d.Session).Text("no")
				require.ErrorIs(t, s.Commit(t.Context(), &next.Commit), storage.ErrFull)
			}
			if listed == 0 {
				require.GreaterOrEqual(t, failures, tries)
			} else {
				require.Less(t, failures, tries/2, "the first one, and probes that were due")
			}
			before := failures
			require.Error(t, s.DeleteSession(t.Context(), "", "other"))
			require.Greater(t, failures, before, "deletions are tried")
			f.repair()
			for len(w.texts()) < 2 {
				next := storagetest.Next(d.Session).Text("again")
				if err := s.Commit(t.Context(), &next.Commit); err == nil {
					d = next
				}
			}
			require.Equal(t, []string{"fails", "works"}, w.texts())
		})
	}
}

// While the disk fails, reads go on, each write gets an error of the disk, and there is one outage, which ends with the
// first write that succeeds.
func TestOutage(t *testing.T) {
	for name, page := range map[string]decision{
		"writes":              func(int64, int64) (error, error) { return syscall.EIO, nil },
		"syncs":               func(int64, int64) (error, error) { return nil, syscall.EIO },
		"syncs of the header": func(start, _ int64) (write, sync error) { return nil, onHeader(start, syscall.EIO) },
		"read-only":           func(int64, int64) (error, error) { return syscall.EROFS, nil },
	} {
		t.Run(name, func(t *testing.T) {
			f, options := newFaultyFile(t)
			s := openNew(t, options)
			d := storagetest.NewSession("", "s", "u").Text("zero")
			require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
			w := &told{}
			w.watch(s)
			f.inject(s, page)
			var err error
			for range 5 {
				next := storagetest.Next(d.Session).Text("lost?")
				err = s.Commit(t.Context(), &next.Commit)
				require.ErrorIs(t, err, storage.ErrDisk)
				_, err = s.Messages(t.Context(), d.Ref(), 0, 9, 0)
				require.NoError(t, err)
			}
			require.Equal(t, []string{"fails"}, w.texts())
			late := &told{}
			late.watch(s)
			require.Equal(t, []string{"fails"}, late.texts(), "who comes later is told")

			f.repair()
			row, err := s.Session(t.Context(), "", "s")
			require.NoError(t, err)
			next := storagetest.Next(row).Text("again")
			if err = s.Commit(t.Context(), &next.Commit); errors.Is(err, storage.ErrConflict) {
				// The write whose header could not be synced was settled before.
				row, err = s.Session(t.Context(), "", "s")
				require.NoError(t, err)
				err = s.Commit(t.Context(), &storagetest.Next(row).Text("again").Commit)
			}
			require.NoError(t, err)
			require.Equal(t, []string{"fails", "works"}, w.texts())
		})
	}
}

func onHeader(offset int64, err error) error {
	if isHeader(offset) {
		return err
	}
	return nil
}

// Whatever fails, nothing that was acknowledged is lost, each error is one of the disk, and the file stays sound.
func TestRandomFaults(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 8
		t.Log("8 of 40 rounds: each syncs hundreds of times")
	}
	for seed := range rounds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { randomFaults(t, uint64(seed)) })
	}
}

func randomFaults(t *testing.T, seed uint64) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 18))
	f, options := newFaultyFile(t)
	lasting := random.IntN(2) == 0
	if !lasting {
		options.failed = f.healed
	}
	var s *Store
	page := func(int64, int64) (write, sync error) {
		switch random.IntN(60) {
		case 0:
			return syscall.EIO, nil
		case 1:
			return nil, syscall.EIO
		case 2:
			return syscall.ENOSPC, nil
		}
		return nil, nil
	}
	// A file that was opened again needs the wrapper again.
	options.synced = func([]change) { f.hook(s.db) }
	s = openNew(t, options)
	acknowledged := map[string]*storagev1.Session{}
	f.inject(s, page)
	failed := 0
	for range 120 {
		id := fmt.Sprint(random.IntN(4))
		err := randomWrite(t, s, id, random, acknowledged)
		if err != nil {
			failed++
			require.True(t, refuses(err), "%v", err)
		}
	}
	f.repair()
	for id, want := range acknowledged {
		row, err := s.Session(t.Context(), "", id)
		require.NoError(t, err)
		require.GreaterOrEqual(t, row.GetRevision(), want.GetRevision(), "session %s", id)
		messages, err := s.Messages(t.Context(), storage.RefOf(row), 0, row.GetHead().GetNextIndex(), 0)
		require.NoError(t, err)
		require.Len(t, messages, int(row.GetHead().GetNextIndex()))
	}
	t.Logf("faults in %d writes and %d syncs, %d of 120 calls failed", f.writes, f.syncs, failed)
}

// randomWrite appends to a session, or creates or deletes it, from what the store says it is.
func randomWrite(
	t *testing.T, s *Store, id string, random *rand.Rand, acknowledged map[string]*storagev1.Session,
) error {
	t.Helper()
	row, err := s.Session(t.Context(), "", id)
	if err != nil {
		require.ErrorIs(t, err, storage.ErrNotFound)
		require.NotContains(t, acknowledged, id)
		d := storagetest.NewSession("", id, "u")
		if err = s.CreateSession(t.Context(), &d.Commit); err == nil {
			acknowledged[id] = d.Session
		}
		return err
	}
	if random.IntN(10) == 0 {
		delete(acknowledged, id)
		return s.DeleteSession(t.Context(), "", id)
	}
	d := storagetest.Next(row).Text(strings.Repeat("x", random.IntN(200_000)))
	if err = s.Commit(t.Context(), &d.Commit); err == nil {
		acknowledged[id] = d.Session
	}
	return err
}

// A store whose file was replaced while it had to be opened again is lost: every call says so, and Close ends.
func TestReplacedFileIsLost(t *testing.T) {
	f, options := newFaultyFile(t)
	path := filepath.Join(t.TempDir(), "store.db")
	options.failed = func() {
		f.healed()
		require.NoError(t, os.Rename(path, path+".old"))
		made(t, path)
	}
	s, err := Open(path, options)
	require.NoError(t, err)
	d := storagetest.NewSession("", "s", "u")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	w := &told{}
	w.watch(s)
	f.inject(s, once(true, nil, syscall.EIO))
	require.ErrorIs(t, s.Commit(t.Context(), &storagetest.Next(d.Session).Text("m").Commit), storage.ErrLost)
	_, err = s.Session(t.Context(), "", "s")
	require.ErrorIs(t, err, storage.ErrLost)
	require.Equal(t, "lost", w.texts()[len(w.texts())-1])
	require.NoError(t, s.Close())
}

// A store whose file was removed or replaced took writes that nobody would have found again, though the disk was sound.
func TestNothingIsWrittenToAFileThatIsGone(t *testing.T) {
	t.Parallel()
	for name, another := range map[string]bool{"removed": false, "replaced": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "store.db")
			s, err := Open(path, Options{})
			require.NoError(t, err)
			d := storagetest.NewSession("", "s", "u")
			require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
			w := &told{}
			w.watch(s)
			require.NoError(t, os.Rename(path, path+".old"))
			if another {
				made(t, path)
			}
			require.ErrorIs(t, s.Commit(t.Context(), &storagetest.Next(d.Session).Text("m").Commit), storage.ErrLost)
			require.Equal(t, []string{"lost"}, w.texts())
			require.NoError(t, s.Close())

			s, err = Open(path+".old", Options{})
			require.NoError(t, err)
			row, err := s.Session(t.Context(), "", "s")
			require.NoError(t, err)
			require.Equal(t, d.Session.GetHead().GetNextIndex(), row.GetHead().GetNextIndex())
			require.NoError(t, s.Close())
		})
	}
}

// On a disk without room, deletions work, also many of them, and make room for what comes after.
func TestDeletionsOnAFullDisk(t *testing.T) {
	f, options := newFaultyFile(t)
	options.Reserve = testReserve
	s := openNew(t, options)
	w := &told{}
	w.watch(s)
	const limit = 8 << 20
	first := storagetest.NewSession("", "first", "u")
	require.NoError(t, s.CreateSession(t.Context(), &first.Commit), "the reserve is written before")
	f.inject(s, func(_, end int64) (write, sync error) {
		if end > limit {
			return syscall.ENOSPC, nil
		}
		return nil, nil
	})
	fill := func(prefix string) (n int) {
		for ; ; n++ {
			require.Less(t, n, 1000)
			d := storagetest.NewSession("", prefix+fmt.Sprint(n), "u").Text(strings.Repeat("x", 100_000)).Texts(20)
			err := s.CreateSession(t.Context(), &d.Commit)
			if err != nil {
				require.ErrorIs(t, err, storage.ErrFull)
				return n
			}
		}
	}
	n := fill("a")
	require.Greater(t, n, 20)
	require.Equal(t, []string{"fails"}, w.texts())
	// Smaller and smaller commits use up what is left in free pages.
	small := 0
	for _, size := range []int{10_000, 1} {
		for err := error(nil); err == nil; small++ {
			d := storagetest.NewSession("", fmt.Sprint("small", small), "u").Text(strings.Repeat("x", size))
			if err = s.CreateSession(t.Context(), &d.Commit); err != nil {
				require.ErrorIs(t, err, storage.ErrFull)
			}
		}
	}
	for i := range n {
		require.NoError(t, s.DeleteSession(t.Context(), "", "a"+fmt.Sprint(i)), "deletion %d of %d", i, n)
	}
	require.InDelta(t, n, fill("b"), float64(n)/2)
}
