//go:build linux

package boltstore

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/storagetest"
)

// lives is how many processes of a store are killed, or close it, one after the other, for each seed; steps is what each does.
const (
	searchedSeeds = 15
	lives         = 5
	steps         = 25
)

// Nothing that was acknowledged is lost, and no page in use is taken for a free one, in whatever order a store is written, its
// disk fails, it is copied, free pages are searched for, found or not found, and the process is killed before any write of a
// commit, or closes the store, whether the next one searches or not.
func TestFreeIsSearchedInAnyOrder(t *testing.T) {
	seeds := searchedSeeds
	if testing.Short() {
		seeds = 4
	}
	first := rand.Uint64()
	t.Logf("seeds from %d", first)
	completed := 0
	for n := range seeds {
		s := &searched{random: rand.New(rand.NewPCG(first, uint64(n))), known: map[string]*written{}}
		s.path = filepath.Join(t.TempDir(), "store.db")
		for range lives {
			s.live(t)
		}
		completed += s.completed
		requireSound(t, s.path)
		requireAllFree(t, s.path)
	}
	t.Logf("the list was completed %d times", completed)
	if !testing.Short() {
		require.Positive(t, completed)
	}
}

// written is a session as it was acknowledged; one without a row was deleted.
type written struct {
	row      *storagev1.Session
	messages []*compactordv1.LoggedMessage
}

// searched is a store whose free pages are searched for, and what was acknowledged.
type searched struct {
	random    *rand.Rand
	path      string
	completed int

	// The writer reads the rest before it writes a page.
	mu sync.Mutex
	// known are the sessions. The session id is being written; it is as known, or as next.
	known map[string]*written
	id    string
	next  *written
	// fault decides about the writes. until is how many are left before image is made: the file as a kill leaves it.
	fault decision
	until int
	image *leftFile
}

// leftFile is a file that a kill has left, and what it has.
type leftFile struct {
	path  string
	known map[string]*written
	id    string
	next  *written
}

// live opens the store and uses it. The file is then as after its end, or as after a kill.
func (s *searched) live(t *testing.T) {
	t.Helper()
	file, options := newFaultyFile(t)
	search := make(chan struct{})
	release := sync.OnceFunc(func() { close(search) })
	options.ListFreeLater, options.searches = s.random.IntN(5) > 0, after(search)
	options.listed, options.MaxSize = []int{5, 30, 100_000}[s.random.IntN(3)], 64<<20
	var store *Store
	options.synced = func([]change) { file.hook(store.db) }
	store, err := Open(s.path, options)
	require.NoError(t, err)
	s.until, s.image = s.random.IntN(150), nil
	file.inject(store, s.decide(t))
	lacked := lacksFree(t, s.path) && options.ListFreeLater
	for range steps {
		switch s.random.IntN(10) {
		case 0:
			release()
		case 1:
			errs := []error{syscall.EIO, nil, syscall.ENOSPC}
			s.set(once(s.random.IntN(3) == 0, errs[s.random.IntN(3)], errs[s.random.IntN(2)]))
		case 2:
			err := store.Snapshot(t.Context(), func(*os.File, int) error { return nil })
			require.True(t, err == nil || refuses(err), "%v", err)
		default:
			s.write(t, store, file)
		}
	}
	s.heal(t, store, file)
	s.requireKnown(t, store)
	release()
	require.NoError(t, store.Close())
	requireSound(t, s.path)
	if lacked && !lacksFree(t, s.path) {
		s.completed++
	}
	if s.image != nil {
		s.goOnFrom(t, s.image)
	}
}

func (s *searched) set(fault decision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// decide makes the image once it is time, and decides about a write.
func (s *searched) decide(t *testing.T) decision {
	t.Helper()
	return func(start, end int64) (write, sync error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.until--; s.until == 0 {
			s.image = &leftFile{path: killed(t, s.path), known: maps.Clone(s.known), id: s.id, next: s.next}
		}
		if s.fault == nil {
			return nil, nil
		}
		return s.fault(start, end)
	}
}

// write writes a session, or deletes it. After an error it is as before or as after that.
func (s *searched) write(t *testing.T, store *Store, file *faultyFile) {
	t.Helper()
	id := fmt.Sprint("session", s.random.IntN(8))
	now, next := s.known[id], new(written)
	act := func() error { return store.DeleteSession(t.Context(), "", id) }
	if now == nil || now.row == nil {
		d := storagetest.NewSession("", id, fmt.Sprint("u", s.random.Uint64())).Text(strings.Repeat(id, s.random.IntN(8000)))
		next.row, next.messages = d.Session, d.Messages
		act = func() error { return store.CreateSession(t.Context(), &d.Commit) }
	} else if s.random.IntN(3) > 0 {
		d := storagetest.Next(now.row).Text(strings.Repeat(id, s.random.IntN(8000)))
		next.row, next.messages = d.Session, slices.Concat(now.messages, d.Messages)
		act = func() error { return store.Commit(t.Context(), &d.Commit) }
	}
	s.mu.Lock()
	s.id, s.next = id, next
	s.mu.Unlock()
	err := act()
	s.set(nil)
	file.healed()
	if err != nil {
		require.NotErrorIs(t, err, storage.ErrLost)
		require.NotErrorIs(t, err, storage.ErrCorrupt)
		s.heal(t, store, file)
		if !has(t, store, id, next) {
			next = now
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[id], s.id, s.next = next, "", nil
}

// heal ends the faults of the disk, and the outage by a write that succeeds.
func (s *searched) heal(t *testing.T, store *Store, file *faultyFile) {
	t.Helper()
	s.set(nil)
	file.healed()
	id := fmt.Sprint("probe", s.random.Uint64())
	d := storagetest.NewSession("", id, "u")
	require.NoError(t, store.CreateSession(t.Context(), &d.Commit))
	require.NoError(t, store.DeleteSession(t.Context(), "", id))
}

// goOnFrom makes the file that a kill has left the store.
func (s *searched) goOnFrom(t *testing.T, left *leftFile) {
	t.Helper()
	requireSound(t, left.path)
	store, err := Open(left.path, Options{ReadOnly: true})
	require.NoError(t, err)
	s.path, s.known, s.id, s.next = left.path, left.known, "", nil
	if left.id != "" && has(t, store, left.id, left.next) {
		s.known[left.id] = left.next
	}
	s.requireKnown(t, store)
	require.NoError(t, store.Close())
}

func (s *searched) requireKnown(t *testing.T, store *Store) {
	t.Helper()
	for id, want := range s.known {
		require.True(t, has(t, store, id, want), id)
	}
}

// has reports whether a store has a session as it was written.
func has(t *testing.T, store *Store, id string, want *written) bool {
	t.Helper()
	row, err := store.Session(t.Context(), "", id)
	if errors.Is(err, storage.ErrNotFound) {
		return want == nil || want.row == nil
	}
	require.NoError(t, err)
	if want == nil || !proto.Equal(want.row, row) {
		return false
	}
	messages, err := store.Messages(t.Context(), storage.RefOf(row), 0, math.MaxUint32, 0)
	require.NoError(t, err)
	return slices.EqualFunc(want.messages, messages, func(a, b *compactordv1.LoggedMessage) bool { return proto.Equal(a, b) })
}
