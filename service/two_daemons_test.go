package service_test

import (
	"context"
	"errors"
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
	*testing.T

	held, other *daemon
	stops       *stops
	store       sharedStore
	// operation is the id of the compaction that is held, and ended what its call returned.
	operation string
	ended     chan error
}

// forTwoDaemons runs a test for two daemons on each kind of shared store.
func forTwoDaemons(t *testing.T, test func(two *twoDaemons)) {
	t.Helper()
	t.Parallel()
	for name, newStore := range sharedStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			two := &twoDaemons{T: t, stops: newStops(), store: newStore(t), ended: make(chan error, 1)}
			two.other = start(t, withStore(two.store.open(t)))
			two.held = start(t, withStore(two.store.open(t)), two.stops.option())
			two.held.create("s", small(1000))
			two.held.append("s", working(10, 2000)...)
			test(two)
		})
	}
}

// compact lets one daemon begin its compaction.
func (two *twoDaemons) compact() {
	two.Helper()
	two.begin(func() error {
		_, err := two.held.compact(compactRequest("s", nil))
		return err
	})
}

// revert lets one daemon begin a revert with a summary.
func (two *twoDaemons) revert() {
	two.Helper()
	two.begin(func() error {
		_, err := two.held.sessions.RevertToCheckpoint(two.Context(), summarized(turnsBack(2)))
		return err
	})
}

// begin makes a call of one daemon, up to where it is held.
func (two *twoDaemons) begin(call func() error) {
	two.Helper()
	go func() { two.ended <- call() }()
	<-two.stops.reached
	running := two.running()
	require.Len(two, running, 1)
	two.operation = running[0].GetOperationId()
}

// goOn lets what is held go on, and returns how it ended.
func (two *twoDaemons) goOn() error {
	close(two.stops.release)
	return <-two.ended
}

// die makes the daemon that is held one that the others take for dead.
func (two *twoDaemons) die() {
	two.Helper()
	two.store.end(two.T, two.held.store.Opening())
}

// running is what the session's row says of what runs.
func (two *twoDaemons) running() []*storagev1.RunningCompaction {
	two.Helper()
	row, err := two.other.store.Session(two.Context(), "", "s")
	require.NoError(two, err)
	return row.GetRunning()
}

// requireRunning asserts that the other daemon refuses to compact the session, and names what runs.
func (two *twoDaemons) requireRunning() {
	two.Helper()
	_, err := two.other.compact(compactRequest("s", nil))
	info := requireReason(two.T, err, codes.FailedPrecondition, "COMPACTION_RUNNING")
	require.Equal(two, two.operation, info.GetMetadata()["operation_id"])
}

// requireCompacts asserts that the other daemon can compact the session.
func (two *twoDaemons) requireCompacts() {
	two.Helper()
	events, err := two.other.compact(compactRequest("s", nil))
	require.NoError(two, err)
	require.NotNil(two, last(two.T, events).GetCompleted())
}

// attempt is the only attempt in the log.
func (two *twoDaemons) attempt() *compactordv1.CompactionAttempt {
	two.Helper()
	var found []*compactordv1.CompactionAttempt
	for _, r := range two.other.records("s") {
		if a := r.GetAttempt(); a != nil {
			found = append(found, a)
		}
	}
	require.Len(two, found, 1)
	return found[0]
}

// requireEnds asserts that the log has so many compactions and attempts, and is sound.
func (two *twoDaemons) requireEnds(completed, attempts int) {
	two.Helper()
	hasCompleted, hasAttempts := two.other.ends("s")
	require.Equal(two, completed, hasCompleted)
	require.Equal(two, attempts, hasAttempts)
	problems, err := sessionlog.Check(two.Context(), two.other.store, "")
	require.NoError(two, err)
	require.Empty(two, problems)
}

// Two daemons compacted one session at the same time, and the summary of one of them was paid for nothing.
func TestOneDaemonAtATimeCompactsASession(t *testing.T) {
	forTwoDaemons(t, func(two *twoDaemons) {
		two.compact()
		two.requireRunning()
		require.NoError(two, two.goOn())
		two.requireEnds(1, 0)

		two.other.append("s", working(10, 2000)...)
		two.requireCompacts()
		two.requireEnds(2, 0)
	})
}

// CancelCompaction found only the compactions of the daemon that it came to.
func TestCancelReachesACompactionOfAnotherDaemon(t *testing.T) {
	cancel := func(t *testing.T, named bool) {
		t.Helper()
		forTwoDaemons(t, func(two *twoDaemons) {
			two.compact()
			_, err := two.other.cancelRunning("s", "another operation")
			requireReason(two.T, err, codes.NotFound, "OPERATION_NOT_FOUND")
			operation := ""
			if named {
				operation = two.operation
			}
			answer, err := two.other.cancelRunning("s", operation)
			require.NoError(two, err)
			require.Equal(two, two.operation, answer.GetOperationId())
			require.Contains(two, answer.GetEnding().GetCancelled().GetMessage(), "another client cancelled it")
			require.Equal(two, codes.Canceled, statusCode(<-two.ended))
			two.requireEnds(0, 1)
			_, err = two.other.cancelRunning("s", "")
			requireReason(two.T, err, codes.NotFound, "OPERATION_NOT_FOUND")
		})
	}
	t.Run("by its session", func(t *testing.T) { cancel(t, false) })
	t.Run("by its id", func(t *testing.T) { cancel(t, true) })
}

func TestPreemptReachesACompactionOfAnotherDaemon(t *testing.T) {
	forTwoDaemons(t, func(two *twoDaemons) {
		two.compact()
		req := compactRequest("s", nil)
		req.Preempt = true
		events, err := two.other.compact(req)
		require.NoError(two, err)
		require.NotNil(two, last(t, events).GetCompleted())
		require.Equal(two, codes.Canceled, statusCode(<-two.ended))
		two.requireEnds(1, 1)
		require.Contains(two, two.attempt().GetMessage(), "another compaction took its place")
	})
}

// A compaction ran on, and a model was paid for its summary, after another daemon had deleted its session.
func TestADeletionByAnotherDaemonEndsACompaction(t *testing.T) {
	forTwoDaemons(t, func(two *twoDaemons) {
		two.compact()
		two.other.delete("s")
		err := <-two.ended
		require.Equal(two, codes.Canceled, statusCode(err))
		require.ErrorContains(two, err, apierror.ErrDeleted.Error())
	})
}

// A daemon that was only taken for dead writes nothing after that.
func TestADaemonThatWasTakenForDeadWritesNothing(t *testing.T) {
	forTwoDaemons(t, func(two *twoDaemons) {
		two.compact()
		watch := two.other.watch(&compactordv1.WatchSessionRequest{SessionId: "s"})
		two.die()
		start(two.T, withStore(two.store.open(t)))
		require.NotNil(two, watch.next().GetRecord().GetAttempt())
		require.Error(two, two.goOn())
		two.requireEnds(0, 1)
	})
}

// A daemon that is dead holds up nobody.
func TestACompactionOfADeadDaemonIsInterrupted(t *testing.T) {
	forTwoDaemons(t, func(two *twoDaemons) {
		two.compact()
		two.die()
		two.requireCompacts()
		require.Error(two, two.goOn())
		two.requireEnds(1, 1)
		attempt := two.attempt()
		require.Equal(two, compactordv1.ErrorReason_ERROR_REASON_INTERRUPTED, attempt.GetErrorReason())
		require.Equal(two, two.operation, attempt.GetProvenance().GetOperationId())
	})
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
	forTwoDaemons(t, func(two *twoDaemons) {
		watch := two.other.watch(&compactordv1.WatchSessionRequest{SessionId: "s", Events: true})
		two.compact()
		begun := watch.next().GetEvent()
		require.Equal(two, two.operation, begun.GetOperationId())
		require.Equal(two, compactordv1.CompactionReason_COMPACTION_REASON_MANUAL, begun.GetStarted().GetReason())
		require.NotZero(two, begun.GetTime())
		two.held.append("s", user("Go on."))
		require.NotNil(two, watch.next().GetMessage())
		require.NoError(two, two.goOn())
		entry := watch.next().GetRecord().GetCompaction()
		require.Equal(two, two.operation, entry.GetProvenance().GetOperationId())
	})
}

// A revert with a summary was known to its own daemon only: another one compacted the session meanwhile, so that a summary was
// paid for nothing, and could not cancel it.
func TestARevertWithSummaryIsSeenByAnotherDaemon(t *testing.T) {
	forTwoDaemons(t, func(two *twoDaemons) {
		watch := two.other.watch(&compactordv1.WatchSessionRequest{SessionId: "s", Events: true})
		two.revert()
		two.requireRunning()
		_, err := two.other.sessions.RevertToCheckpoint(two.Context(), summarized(turnsBack(2)))
		requireReason(two.T, err, codes.FailedPrecondition, "COMPACTION_RUNNING")
		answer, err := two.other.cancelRunning("s", "")
		require.NoError(two, err)
		require.Equal(two, two.operation, answer.GetOperationId())
		require.Nil(two, answer.GetEnding())
		require.Equal(two, codes.Canceled, statusCode(<-two.ended))
		require.Empty(two, two.running())
		two.requireEnds(0, 0)
		two.other.append("s", user("Go on."))
		require.NotNil(two, watch.next().GetMessage(), "a revert has no events")
	})
}

// A revert with a summary that nobody disturbs leaves nothing in the row.
func TestARevertWithSummaryOnASharedStore(t *testing.T) {
	forTwoDaemons(t, func(two *twoDaemons) {
		two.revert()
		require.NoError(two, two.goOn())
		require.Empty(two, two.running())
		two.requireEnds(0, 0)
		two.requireCompacts()
	})
}

// One of a daemon that is taken for dead holds up nobody, leaves no record, and is not written after that.
func TestARevertWithSummaryOfADeadDaemon(t *testing.T) {
	forTwoDaemons(t, func(two *twoDaemons) {
		two.revert()
		two.die()
		start(two.T, withStore(two.store.open(t)))
		for len(two.running()) > 0 {
			// Who starts clears it soon after.
			runtime.Gosched()
		}
		require.Equal(two, codes.Canceled, statusCode(two.goOn()))
		two.requireEnds(0, 0)
	})
}
