package boltstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/storagetest"
)

// gate stops the writer between a transaction and the callers that wait for it.
type gate struct {
	reached chan []change
	release chan struct{}
}

func newGate() *gate {
	return &gate{reached: make(chan []change), release: make(chan struct{})}
}

func (g *gate) synced(changes []change) {
	g.reached <- changes
	<-g.release
}

// waiting waits until n operations are in the queue.
func waiting(t *testing.T, s *Store, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		s.queue.mu.Lock()
		defer s.queue.mu.Unlock()
		return len(s.queue.waiting) == n
	}, waitLimit, waitTick)
}

// Every acknowledged append is in a transaction that was synced before. With many writers, no append is acknowledged
// before synced was called with it, and every append that synced was called with is on the pages.
func TestSyncBeforeAcknowledgement(t *testing.T) {
	var mu sync.Mutex
	synced := map[change]bool{}
	var s *Store
	s = openNew(t, Options{synced: func(changes []change) {
		if s.db.NoSync {
			t.Error("the store does not sync")
		}
		mu.Lock()
		defer mu.Unlock()
		for _, c := range changes {
			row, err := s.Session(t.Context(), c.ref.Tenant, c.ref.SessionID)
			if err != nil || row.GetRevision() < c.revision {
				t.Errorf("revision %d of %s is said to be on disk and is not: %v", c.revision, c.ref.SessionID, err)
			}
			synced[c] = true
		}
	}})
	var wg sync.WaitGroup
	const sessions, each = 8, 25
	for n := range sessions {
		wg.Go(func() {
			d := storagetest.NewSession("", fmt.Sprint(n), "u")
			err := s.CreateSession(t.Context(), &d.Commit)
			for i := 0; err == nil && i < each; i++ {
				mu.Lock()
				if !synced[change{ref: d.Ref(), revision: d.Session.GetRevision()}] {
					t.Errorf("revision %d of session %d was acknowledged before its sync", d.Session.GetRevision(), n)
				}
				mu.Unlock()
				d = storagetest.Next(d.Session).Text("m")
				err = s.Commit(t.Context(), &d.Commit)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Len(t, synced, sessions*(each+1))
}

// No caller gets a result before the sync: the call does not return while the writer is in synced.
func TestAcknowledgementWaits(t *testing.T) {
	g := newGate()
	s := openNew(t, Options{synced: g.synced})
	d := storagetest.NewSession("", "s", "u")
	done := make(chan error, 1)
	go func() { done <- s.CreateSession(t.Context(), &d.Commit) }()
	require.Equal(t, []change{{ref: d.Ref(), revision: 1}}, <-g.reached)
	select {
	case err := <-done:
		t.Fatalf("acknowledged at the seam: %v", err)
	default:
	}
	g.release <- struct{}{}
	require.NoError(t, <-done)
}

// Waiting operations share one transaction, each with its own error: failed ones leave nothing, and two on one session
// see each other.
func TestBatch(t *testing.T) {
	g := newGate()
	s := openNew(t, Options{synced: g.synced})
	outcomes := map[string]chan error{}
	run := func(name string, call func() error) {
		waitingNow := len(outcomes)
		outcome := make(chan error, 1)
		outcomes[name] = outcome
		go func() { outcome <- call() }()
		if waitingNow > 0 {
			waiting(t, s, waitingNow)
		}
	}
	create := func(d *storagetest.Draft) func() error {
		return func() error { return s.CreateSession(t.Context(), &d.Commit) }
	}
	commit := func(d *storagetest.Draft) func() error {
		return func() error { return s.Commit(t.Context(), &d.Commit) }
	}
	a := storagetest.NewSession("", "a", "u")
	run("create a", create(a))
	require.Len(t, <-g.reached, 1)

	// While the first one is in synced, the others wait, in this order.
	one := storagetest.Next(a.Session).Text("one").Remember("r")
	two := storagetest.Next(one.Session).Text("two")
	run("commit a", commit(one))
	run("commit a on the same row", commit(storagetest.Next(a.Session).Text("late").Prune(0).Remember("other")))
	run("commit a again", commit(two))
	run("commit a with a known request", commit(storagetest.Next(two.Session).Text("again").Remember("r")))
	run("create b", create(storagetest.NewSession("", "b", "u")))
	run("create b again", create(storagetest.NewSession("", "b", "v")))
	run("delete c", func() error { return s.DeleteSession(t.Context(), "", "c") })
	run("create d", create(storagetest.NewSession("", "d", "u")))
	run("delete d", func() error { return s.DeleteSession(t.Context(), "", "d") })
	run("create d anew", create(storagetest.NewSession("", "d", "v")))
	g.release <- struct{}{}
	require.Len(t, <-g.reached, 5, "they are all in one transaction")
	g.release <- struct{}{}

	for name, want := range map[string]error{
		"commit a on the same row":      storage.ErrConflict,
		"commit a with a known request": storage.ErrRequestKnown,
		"create b again":                storage.ErrExists,
		"delete c":                      storage.ErrNotFound,
	} {
		require.ErrorIs(t, <-outcomes[name], want, name)
		delete(outcomes, name)
	}
	for name, outcome := range outcomes {
		require.NoError(t, <-outcome, name)
	}
	messages, err := s.Messages(t.Context(), a.Ref(), 0, 9, 0)
	require.NoError(t, err)
	require.Len(t, messages, 2)
	_, err = s.Request(t.Context(), a.Ref(), "other")
	require.ErrorIs(t, err, storage.ErrNotFound)
	row, err := s.Session(t.Context(), "", "d")
	require.NoError(t, err)
	require.Equal(t, "v", row.GetUid())
}

// A transaction that fails through one operation, by an error in writing or by a panic, is repeated for each one alone.
func TestBatchWithAFailingOperation(t *testing.T) {
	g := newGate()
	s := openNew(t, Options{synced: g.synced})
	first := storagetest.NewSession("", "first", "u")
	outcomes := make(chan error, 4)
	go func() { outcomes <- s.CreateSession(t.Context(), &first.Commit) }()
	<-g.reached

	good := storagetest.NewSession("", "good", "u")
	go func() { outcomes <- s.CreateSession(t.Context(), &good.Commit) }()
	waiting(t, s, 1)
	broken := errors.New("broken")
	failed, panicked := make(chan error, 1), make(chan error, 1)
	spoil := func(outcome chan<- error, how func() error) {
		outcome <- s.do(t.Context(), &operation{prepare: func(tx *transaction) (func() error, error) {
			return func() error {
				if err := tx.Bucket(messagesBucket).Put([]byte("half"), nil); err != nil {
					return err
				}
				return how()
			}, nil
		}})
	}
	go spoil(failed, func() error { return broken })
	waiting(t, s, 2)
	go spoil(panicked, func() error { panic("broken") })
	waiting(t, s, 3)
	last := storagetest.NewSession("", "last", "u")
	go func() { outcomes <- s.CreateSession(t.Context(), &last.Commit) }()
	waiting(t, s, 4)

	g.release <- struct{}{}
	for range 2 {
		require.Len(t, <-g.reached, 1)
		g.release <- struct{}{}
	}
	for range 3 {
		require.NoError(t, <-outcomes)
	}
	require.ErrorIs(t, <-failed, broken)
	require.ErrorIs(t, <-panicked, storage.ErrCorrupt)
}

// A transaction writes at most batchBytes; the other operations wait for the next.
func TestBatchBytes(t *testing.T) {
	g := newGate()
	s := openNew(t, Options{synced: g.synced})
	const calls = 5
	outcomes := make(chan error, calls)
	text := strings.Repeat("x", batchBytes*2/5)
	for n := range calls {
		d := storagetest.NewSession("", fmt.Sprint(n), "u").Text(text)
		go func() { outcomes <- s.CreateSession(t.Context(), &d.Commit) }()
		if n == 0 {
			require.Len(t, <-g.reached, 1)
		}
	}
	waiting(t, s, calls-1)
	for range 2 {
		g.release <- struct{}{}
		require.Len(t, <-g.reached, 2)
	}
	g.release <- struct{}{}
	for range calls {
		require.NoError(t, <-outcomes)
	}
}

// A context that ends while the operation waits withdraws it; once it is in a transaction its true result counts.
func TestCancelWaiting(t *testing.T) {
	g := newGate()
	s := openNew(t, Options{synced: g.synced})
	over := errors.New("over")
	taken, cancelTaken := context.WithCancelCause(t.Context())
	outcome := make(chan error, 1)
	go func() { outcome <- s.CreateSession(taken, &storagetest.NewSession("", "taken", "u").Commit) }()
	<-g.reached

	queued, cancelQueued := context.WithCancelCause(t.Context())
	dropped := make(chan error, 1)
	go func() { dropped <- s.CreateSession(queued, &storagetest.NewSession("", "queued", "u").Commit) }()
	waiting(t, s, 1)
	cancelQueued(over)
	require.ErrorIs(t, <-dropped, over)
	waiting(t, s, 0)

	cancelTaken(over)
	select {
	case err := <-outcome:
		t.Fatalf("returned %v while its transaction was not told yet", err)
	default:
	}
	g.release <- struct{}{}
	require.NoError(t, <-outcome)
	_, err := s.Session(t.Context(), "", "taken")
	require.NoError(t, err)
	_, err = s.Session(t.Context(), "", "queued")
	require.ErrorIs(t, err, storage.ErrNotFound)
}

// An operation whose context ended before the writer looked at it is not run.
func TestCancelTaken(t *testing.T) {
	s := openNew(t, Options{})
	over := errors.New("over")
	op := &operation{
		done:  make(chan error, 1),
		ended: func() error { return over },
		prepare: func(*transaction) (func() error, error) {
			return nil, errors.New("it was prepared")
		},
	}
	require.NoError(t, s.queue.push(op))
	require.ErrorIs(t, <-op.done, over)
}

// Close runs the waiting operations.
func TestCloseCommitsWaiting(t *testing.T) {
	g := newGate()
	s := openNew(t, Options{synced: g.synced})
	outcomes := make(chan error, 3)
	for n := range 3 {
		d := storagetest.NewSession("", fmt.Sprint(n), "u")
		go func() { outcomes <- s.CreateSession(t.Context(), &d.Commit) }()
		if n == 0 {
			<-g.reached
		}
	}
	waiting(t, s, 2)
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	g.release <- struct{}{}
	require.Len(t, <-g.reached, 2)
	g.release <- struct{}{}
	for range 3 {
		require.NoError(t, <-outcomes)
	}
	require.NoError(t, <-closed)
}

// A deleted log is removed, over several transactions where it is long, also by the next process.
func TestSweep(t *testing.T) {
	s := openNew(t, Options{})
	d := storagetest.NewSession("", "s", "u").Texts(3 * sweepKeys)
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	// The store is closed directly after the deletion, so that the next one removes the rest.
	require.NoError(t, s.DeleteSession(t.Context(), "", "s"))
	require.NoError(t, s.Close())
	s = openAt(t, s.path, Options{})
	require.Eventually(t, func() bool {
		left := 0
		require.NoError(t, s.view(t.Context(), func(tx *transaction) error {
			for _, name := range append(logBuckets, deadBucket) {
				left += tx.bolt.Bucket(name).Stats().KeyN
			}
			return nil
		}))
		return left == 0
	}, waitLimit, waitTick)
}

// A commit is followed when its caller has the answer, and before the next one begins. Until then readers see it.
func TestACommitIsFollowedAfterItsAnswer(t *testing.T) {
	follows, release := make(chan struct{}), make(chan struct{})
	s := openNew(t, Options{following: func() func() {
		follows <- struct{}{}
		<-release
		return func() {}
	}})
	d := storagetest.NewSession("", "s", "u")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	<-follows
	row, err := s.Session(t.Context(), "", "s")
	require.NoError(t, err)
	require.EqualValues(t, 1, row.GetRevision())

	next := storagetest.Next(d.Session).Text("m")
	done := make(chan error, 1)
	go func() { done <- s.Commit(t.Context(), &next.Commit) }()
	waiting(t, s, 1)
	row, err = s.Session(t.Context(), "", "s")
	require.NoError(t, err)
	require.EqualValues(t, 1, row.GetRevision(), "the next one has not begun")
	release <- struct{}{}
	require.NoError(t, <-done)
	<-follows
	release <- struct{}{}
}
