package service_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/storage"
)

// twoDaemons are two daemons on one store. One of them is held before the commit of its first compaction of the session
// "s", which both can compact.
type twoDaemons struct {
	held, other *daemon
	stops       *stops
	store       sharedStore
	// operation is the id of the compaction that is held, and ended what its call returned.
	operation string
	ended     chan error
}

func startTwo(t *testing.T, store sharedStore) *twoDaemons {
	t.Helper()
	two := &twoDaemons{stops: newStops(), store: store, ended: make(chan error, 1)}
	two.other = start(t, withStore(store.open(t)))
	two.held = start(t, withStore(store.open(t)), two.stops.option())
	two.held.create("s", small(1000))
	two.held.append("s", working(10, 2000)...)
	return two
}

// compact lets one daemon begin its compaction.
func (two *twoDaemons) compact(t *testing.T) {
	t.Helper()
	go func() {
		_, err := two.held.compact(compactRequest("s", nil))
		two.ended <- err
	}()
	<-two.stops.reached
	row, err := two.other.store.Session(t.Context(), "", "s")
	require.NoError(t, err)
	require.Len(t, row.GetRunning(), 1)
	two.operation = row.GetRunning()[0].GetOperationId()
}

// requireEnds asserts that the log has so many compactions and attempts, and is sound.
func (two *twoDaemons) requireEnds(t *testing.T, completed, attempts int) {
	t.Helper()
	hasCompleted, hasAttempts := two.other.ends("s")
	require.Equal(t, completed, hasCompleted)
	require.Equal(t, attempts, hasAttempts)
	problems, err := sessionlog.Check(t.Context(), two.other.store, "")
	require.NoError(t, err)
	require.Empty(t, problems)
}

// Two daemons compacted one session at the same time, and the summary of one of them was paid for nothing.
func TestOneDaemonAtATimeCompactsASession(t *testing.T) {
	t.Parallel()
	for name, newStore := range sharedStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			two := startTwo(t, newStore(t))
			two.compact(t)
			_, err := two.other.compact(compactRequest("s", nil))
			info := requireReason(t, err, codes.FailedPrecondition, "COMPACTION_RUNNING")
			require.Equal(t, two.operation, info.GetMetadata()["operation_id"])
			close(two.stops.release)
			require.NoError(t, <-two.ended)
			two.requireEnds(t, 1, 0)

			two.other.append("s", working(10, 2000)...)
			_, err = two.other.compact(compactRequest("s", nil))
			require.NoError(t, err)
			two.requireEnds(t, 2, 0)
		})
	}
}

// CancelCompaction found only the compactions of the daemon that it came to.
func TestCancelReachesACompactionOfAnotherDaemon(t *testing.T) {
	t.Parallel()
	for _, named := range []bool{false, true} {
		for name, newStore := range sharedStores {
			t.Run(fmt.Sprintf("%s, named %t", name, named), func(t *testing.T) {
				t.Parallel()
				two := startTwo(t, newStore(t))
				two.compact(t)
				_, err := two.other.cancelRunning("s", "another operation")
				requireReason(t, err, codes.NotFound, "OPERATION_NOT_FOUND")
				operation := ""
				if named {
					operation = two.operation
				}
				answer, err := two.other.cancelRunning("s", operation)
				require.NoError(t, err)
				require.Equal(t, two.operation, answer.GetOperationId())
				require.Contains(t, answer.GetEnding().GetCancelled().GetMessage(), "another client cancelled it")
				require.Equal(t, codes.Canceled, statusCode(<-two.ended))
				two.requireEnds(t, 0, 1)
				_, err = two.other.cancelRunning("s", "")
				requireReason(t, err, codes.NotFound, "OPERATION_NOT_FOUND")
			})
		}
	}
}

func TestPreemptReachesACompactionOfAnotherDaemon(t *testing.T) {
	t.Parallel()
	for name, newStore := range sharedStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			two := startTwo(t, newStore(t))
			two.compact(t)
			req := compactRequest("s", nil)
			req.Preempt = true
			events, err := two.other.compact(req)
			require.NoError(t, err)
			require.NotNil(t, last(t, events).GetCompleted())
			require.Equal(t, codes.Canceled, statusCode(<-two.ended))
			two.requireEnds(t, 1, 1)
			for _, r := range two.other.records("s") {
				if a := r.GetAttempt(); a != nil {
					require.Contains(t, a.GetMessage(), "another compaction took its place")
				}
			}
		})
	}
}

// A compaction ran on, and a model was paid for its summary, after another daemon had deleted its session.
func TestADeletionByAnotherDaemonEndsACompaction(t *testing.T) {
	t.Parallel()
	for name, newStore := range sharedStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			two := startTwo(t, newStore(t))
			two.compact(t)
			two.other.delete("s")
			err := <-two.ended
			require.Equal(t, codes.Canceled, statusCode(err))
			require.ErrorContains(t, err, apierror.ErrDeleted.Error())
		})
	}
}

// A daemon that was only taken for dead writes nothing after that.
func TestADaemonThatWasTakenForDeadWritesNothing(t *testing.T) {
	t.Parallel()
	for name, newStore := range sharedStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			two := startTwo(t, newStore(t))
			two.compact(t)
			watch := two.other.watch(&compactordv1.WatchSessionRequest{SessionId: "s"})
			two.store.end(t, two.held.store.Opening())
			start(t, withStore(two.store.open(t)))
			require.NotNil(t, watch.next().GetRecord().GetAttempt())
			close(two.stops.release)
			require.Error(t, <-two.ended)
			two.requireEnds(t, 0, 1)
		})
	}
}

// A daemon that is dead holds up nobody.
func TestACompactionOfADeadDaemonIsInterrupted(t *testing.T) {
	t.Parallel()
	for name, newStore := range sharedStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			two := startTwo(t, newStore(t))
			two.compact(t)
			two.store.end(t, two.held.store.Opening())
			events, err := two.other.compact(compactRequest("s", nil))
			require.NoError(t, err)
			require.NotNil(t, last(t, events).GetCompleted())
			close(two.stops.release)
			require.Error(t, <-two.ended)
			two.requireEnds(t, 1, 1)
			for _, r := range two.other.records("s") {
				if a := r.GetAttempt(); a != nil {
					require.Equal(t, compactordv1.ErrorReason_ERROR_REASON_INTERRUPTED, a.GetErrorReason())
					require.Equal(t, two.operation, a.GetProvenance().GetOperationId())
				}
			}
		})
	}
}

// refusing is an opening of a store that for a while refuses all commits except the beginnings of compactions.
type refusing struct {
	storage.Shared

	refuses atomic.Bool
}

// Commit implements storage.Store.
func (r *refusing) Commit(ctx context.Context, c *storage.Commit) error {
	if r.refuses.Load() && !beginsCompaction(c) {
		return &storage.DiskError{Cause: storage.DiskUnreachable, Err: errors.New("no answer")}
	}
	return r.Shared.Commit(ctx, c)
}

// A compaction whose end the store did not take, since its database restarted, locked the session for the other daemons as
// long as its own daemon lived. It is recorded as soon as the store takes it.
func TestACompactionWhoseEndWasRefusedHoldsUpNobody(t *testing.T) {
	t.Parallel()
	for name, newStore := range sharedStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := newStore(t)
			outage := &refusing{Shared: store.open(t)}
			other, d := start(t, withStore(store.open(t))), start(t, withStore(outage))
			d.create("s", small(1000))
			d.append("s", working(10, 2000)...)
			sequence := d.session("s").GetSession().GetPoint() + 1
			watch := other.watch(&compactordv1.WatchSessionRequest{SessionId: "s", FromSequence: &sequence})
			outage.refuses.Store(true)
			_, err := d.compact(compactRequest("s", nil))
			requireReason(t, err, codes.Unavailable, "STORE_UNAVAILABLE")
			_, err = other.compact(compactRequest("s", nil))
			requireReason(t, err, codes.FailedPrecondition, "COMPACTION_RUNNING")
			outage.refuses.Store(false)
			attempt := watch.next().GetRecord().GetAttempt()
			require.Equal(t, compactordv1.ErrorReason_ERROR_REASON_INTERRUPTED, attempt.GetErrorReason())
			require.Contains(t, attempt.GetMessage(), "the store did not take the record of the end")
			events, err := other.compact(compactRequest("s", nil))
			require.NoError(t, err)
			require.NotNil(t, last(t, events).GetCompleted())
		})
	}
}

// A watcher of one daemon gets the beginning of a compaction of another one, and its entry.
func TestWatchersSeeCompactionsOfAnotherDaemon(t *testing.T) {
	t.Parallel()
	for name, newStore := range sharedStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			two := startTwo(t, newStore(t))
			watch := two.other.watch(&compactordv1.WatchSessionRequest{SessionId: "s", Events: true})
			two.compact(t)
			begun := watch.next().GetEvent()
			require.Equal(t, two.operation, begun.GetOperationId())
			require.Equal(t, compactordv1.CompactionReason_COMPACTION_REASON_MANUAL, begun.GetStarted().GetReason())
			require.NotZero(t, begun.GetTime())
			two.held.append("s", user("Go on."))
			require.NotNil(t, watch.next().GetMessage())
			close(two.stops.release)
			require.NoError(t, <-two.ended)
			entry := watch.next().GetRecord().GetCompaction()
			require.Equal(t, two.operation, entry.GetProvenance().GetOperationId())
		})
	}
}

// revert lets one daemon begin a revert with a summary.
func (two *twoDaemons) revert(t *testing.T) {
	t.Helper()
	go func() {
		_, err := two.held.sessions.RevertToCheckpoint(t.Context(), summarized(turnsBack(2)))
		two.ended <- err
	}()
	<-two.stops.reached
	two.operation = two.running(t)[0].GetOperationId()
}

func (two *twoDaemons) running(t *testing.T) []*storagev1.RunningCompaction {
	t.Helper()
	row, err := two.other.store.Session(t.Context(), "", "s")
	require.NoError(t, err)
	return row.GetRunning()
}

// A revert with a summary was known to its own daemon only: another one compacted the session meanwhile, so that a summary was
// paid for nothing, and could not cancel it.
func TestARevertWithSummaryIsSeenByAnotherDaemon(t *testing.T) {
	t.Parallel()
	for name, newStore := range sharedStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			two := startTwo(t, newStore(t))
			watch := two.other.watch(&compactordv1.WatchSessionRequest{SessionId: "s", Events: true})
			two.revert(t)
			_, err := two.other.compact(compactRequest("s", nil))
			info := requireReason(t, err, codes.FailedPrecondition, "COMPACTION_RUNNING")
			require.Equal(t, two.operation, info.GetMetadata()["operation_id"])
			_, err = two.other.sessions.RevertToCheckpoint(t.Context(), summarized(turnsBack(2)))
			requireReason(t, err, codes.FailedPrecondition, "COMPACTION_RUNNING")
			answer, err := two.other.cancelRunning("s", "")
			require.NoError(t, err)
			require.Equal(t, two.operation, answer.GetOperationId())
			require.Nil(t, answer.GetEnding())
			require.Equal(t, codes.Canceled, statusCode(<-two.ended))
			require.Empty(t, two.running(t))
			two.requireEnds(t, 0, 0)
			two.other.append("s", user("Go on."))
			require.NotNil(t, watch.next().GetMessage(), "a revert has no events")
		})
	}
}

// A revert with a summary that nobody disturbs leaves nothing in the row.
func TestARevertWithSummaryOnASharedStore(t *testing.T) {
	t.Parallel()
	for name, newStore := range sharedStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			two := startTwo(t, newStore(t))
			two.revert(t)
			close(two.stops.release)
			require.NoError(t, <-two.ended)
			require.Empty(t, two.running(t))
			two.requireEnds(t, 0, 0)
			_, err := two.other.compact(compactRequest("s", nil))
			require.NoError(t, err)
		})
	}
}

// One of a daemon that is taken for dead holds up nobody, leaves no record, and is not written after that.
func TestARevertWithSummaryOfADeadDaemon(t *testing.T) {
	t.Parallel()
	for name, newStore := range sharedStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			two := startTwo(t, newStore(t))
			two.revert(t)
			two.store.end(t, two.held.store.Opening())
			start(t, withStore(two.store.open(t)))
			for len(two.running(t)) > 0 {
				// Who starts clears it soon after.
				runtime.Gosched()
			}
			close(two.stops.release)
			require.Equal(t, codes.Canceled, statusCode(<-two.ended))
			two.requireEnds(t, 0, 0)
		})
	}
}
