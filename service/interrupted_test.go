package service_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
)

// requireNothingRuns asserts that no row names a running compaction, so that every end was recorded. Ends that the
// store refused are recorded at the next opening.
func requireNothingRuns(t testing.TB, s storage.Store) {
	t.Helper()
	refused := func(string) bool { return false }
	switch s := s.(type) {
	case *failing, settled:
		return
	case *faulty:
		s.every.Store(0)
		refused = func(operation string) bool { return s.refusedEnd(t, operation) }
	}
	cursor := ""
	for {
		rows, next, err := s.Sessions(context.WithoutCancel(t.Context()), storage.SessionQuery{Limit: 100, Cursor: cursor})
		require.NoError(t, err)
		for _, row := range rows {
			for _, running := range row.GetRunning() {
				require.True(t, refused(running.GetOperationId()), row.GetSessionId())
			}
		}
		if cursor = next; cursor == "" {
			return
		}
	}
}

// cutOff runs a compaction until it is held before its commit. It returns the store's file as a kill at that moment
// leaves it, and the operation's id.
func cutOff(t *testing.T, meanwhile func(d *daemon)) (path, operation string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "store.db")
	reached, release := make(chan struct{}), make(chan struct{})
	free := sync.OnceFunc(func() { close(release) })
	defer free()
	d := start(t, withStore(openStore(t, path)), withHooks(service.Hooks{BeforeCommit: func(context.Context) {
		close(reached)
		<-release
	}}))
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	watch := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s", Events: true})
	done := make(chan error, 1)
	go func() {
		_, err := d.compact(compactRequest("s", nil))
		done <- err
	}()
	<-reached
	require.NotNil(t, watch.next().GetEvent().GetStarted())
	row, err := d.store.Session(t.Context(), "", "s")
	require.NoError(t, err)
	require.Len(t, row.GetRunning(), 1)
	if meanwhile != nil {
		meanwhile(d)
	}
	image, err := os.ReadFile(path)
	require.NoError(t, err)
	left := filepath.Join(t.TempDir(), "left.db")
	require.NoError(t, os.WriteFile(left, image, 0o600))
	free()
	require.NoError(t, <-done)
	return left, row.GetRunning()[0].GetOperationId()
}

// A compaction that was interrupted by a kill left no record, and watchers of its `started` waited for its end for
// ever.
func TestKilledCompactionLeavesARecord(t *testing.T) {
	t.Parallel()
	path, operation := cutOff(t, nil)
	store := openStore(t, path)
	before, err := store.Session(t.Context(), "", "s")
	require.NoError(t, err)
	end := before.GetHead().GetNextSequence()
	d := start(t, withStore(store))

	// A watcher that goes on from there gets the end.
	record := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s", FromSequence: &end, Uid: before.GetUid()}).next().GetRecord()
	require.Equal(t, end, record.GetSequence())
	attempt := record.GetAttempt()
	require.Equal(t, operation, attempt.GetProvenance().GetOperationId())
	require.Equal(t, compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_FAILED, attempt.GetOutcome())
	require.Equal(t, compactordv1.ErrorReason_ERROR_REASON_INTERRUPTED, attempt.GetErrorReason())
	require.Equal(t, int32(codes.Unavailable), attempt.GetStatusCode())
	require.Equal(t, compactordv1.CompactionReason_COMPACTION_REASON_MANUAL, attempt.GetProvenance().GetReason())
	require.Nil(t, attempt.GetProvenance().GetDuration())

	// The record changes no view, and blocks nothing.
	asOf := end - 1
	require.Len(t, d.view("s"), 41, "all that was appended")
	requireSameView(t, d.fullView(&compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, AsOf: &asOf,
	}), d.view("s"))
	problems, err := sessionlog.Check(t.Context(), store, "")
	require.NoError(t, err)
	require.Empty(t, problems)
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	require.NotNil(t, last(t, events).GetCompleted())
	d.stop()

	// It is recorded only once.
	d = start(t, withStore(openStore(t, path)))
	_, attempts := d.ends("s")
	require.Equal(t, 1, attempts)
}

// A session that was deleted, or created again, gets no record.
func TestNewIncarnationHasNoRecordOfAKilledCompaction(t *testing.T) {
	t.Parallel()
	path, _ := cutOff(t, nil)
	store := openStore(t, path)
	require.NoError(t, store.DeleteSession(t.Context(), "", "s"))
	d := start(t, withStore(store))
	d.create("s", small(1000))
	d.stop()
	d = start(t, withStore(openStore(t, path)))
	completed, attempts := d.ends("s")
	require.Zero(t, completed+attempts)
}

// A fork copies the log, but not the running compactions.
func TestForkOfASessionThatIsCompactedRunsNothing(t *testing.T) {
	t.Parallel()
	path, _ := cutOff(t, func(d *daemon) {
		_, err := d.sessions.ForkSession(t.Context(), &compactordv1.ForkSessionRequest{SessionId: "s", NewSessionId: "fork"})
		require.NoError(t, err)
		row, err := d.store.Session(t.Context(), "", "fork")
		require.NoError(t, err)
		require.Empty(t, row.GetRunning())
	})
	d := start(t, withStore(openStore(t, path)))
	_, attempts := d.ends("fork")
	require.Zero(t, attempts)
}

// The start of a compaction does not set the session's changed_at.
func TestStartOfACompactionChangesNoTime(t *testing.T) {
	t.Parallel()
	reached, release := make(chan struct{}), make(chan struct{})
	free := sync.OnceFunc(func() { close(release) })
	defer free()
	d := start(t, withHooks(service.Hooks{BeforeCommit: func(context.Context) {
		close(reached)
		<-release
	}}))
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	changed := func() time.Time {
		row, err := d.store.Session(t.Context(), "", "s")
		require.NoError(t, err)
		return row.GetChangedAt().AsTime()
	}
	before := changed()
	done := make(chan error, 1)
	go func() {
		_, err := d.compact(compactRequest("s", nil))
		done <- err
	}()
	<-reached
	require.Equal(t, before, changed())
	free()
	require.NoError(t, <-done)
	require.NotEqual(t, before, changed())
}

// A compaction whose request was already committed by another daemon writes nothing, and counts as ended.
func TestCompactionWhoseRequestAnotherHasCommittedRunsNoMore(t *testing.T) {
	t.Parallel()
	reached, release := make(chan struct{}), make(chan struct{})
	free := sync.OnceFunc(func() { close(release) })
	defer free()
	// On a store that is known to be shared, it would notice before its commit that it is taken for dead.
	d := start(t, withStore(memory.New()), withHooks(service.Hooks{BeforeCommit: func(context.Context) {
		close(reached)
		<-release
	}}))
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	req := compactRequest("s", nil)
	req.RequestId = "once"
	done := make(chan error, 1)
	go func() {
		_, err := d.compact(req)
		done <- err
	}()
	<-reached
	other := start(t, withStore(&shared{d.store}))
	_, err := other.compact(req)
	require.NoError(t, err)
	free()
	require.NoError(t, <-done)
	completed, attempts := d.ends("s")
	require.Equal(t, 1, completed)
	require.Equal(t, 1, attempts, "the other daemon takes this one for dead, since only one uses such a store")
	requireNothingRuns(t, d.store)
}

// beginsCompaction reports whether a commit is the beginning of a compaction.
func beginsCompaction(c *storage.Commit) bool {
	return len(c.Session.GetRunning()) > 0 && len(c.Records) == 0
}

// A beginning that the store wrote and answered with an error is taken back: nothing runs.
func TestBeginningWithAnErrorIsTakenBack(t *testing.T) {
	t.Parallel()
	store := &untold{Store: memory.New(), commits: beginsCompaction}
	d := start(t, withStore(store))
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	end := d.session("s").GetSession().GetPoint()
	events, err := d.compact(compactRequest("s", nil))
	requireReason(t, err, codes.Unavailable, "STORE_UNAVAILABLE")
	require.Empty(t, events)
	row, err := d.store.Session(t.Context(), "", "s")
	require.NoError(t, err)
	require.Empty(t, row.GetRunning())
	require.Equal(t, end, d.session("s").GetSession().GetPoint(), "nothing was recorded of what never started")
}

// A compaction whose end the store did not record is recorded by the next one of its session, not only by the next
// daemon.
func TestNextCompactionRecordsWhatIsLeft(t *testing.T) {
	t.Parallel()
	store := &untold{Store: memory.New()}
	d := start(t, withStore(store))
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	store.refused = func(c *storage.Commit) bool { return !beginsCompaction(c) }
	_, err := d.compact(compactRequest("s", nil))
	requireReason(t, err, codes.Unavailable, "STORE_UNAVAILABLE")
	row, err := d.store.Session(t.Context(), "", "s")
	require.NoError(t, err)
	require.Len(t, row.GetRunning(), 1)
	left := row.GetRunning()[0].GetOperationId()

	store.refused = nil
	sequence := row.GetHead().GetNextSequence()
	watch := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s", FromSequence: &sequence})
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	require.NotNil(t, last(t, events).GetCompleted())
	attempt := watch.next().GetRecord().GetAttempt()
	require.Equal(t, left, attempt.GetProvenance().GetOperationId())
	require.Equal(t, compactordv1.ErrorReason_ERROR_REASON_INTERRUPTED, attempt.GetErrorReason())
	require.Contains(t, attempt.GetMessage(), "the store did not take the record of the end")
	require.NotNil(t, watch.next().GetRecord().GetCompaction())
}
