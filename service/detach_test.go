package service_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/summarizers"
)

// inDeltas returns a summarizer that writes a faithful summary after some deltas.
func inDeltas(deltas, chars int) func(
	context.Context, *summarizers.Request, summarizers.Progress,
) (*summarizers.Summary, error) {
	return func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		for range deltas {
			p.Text(strings.Repeat("x", chars))
		}
		return faithful(ctx, req, p)
	}
}

// stops holds a compaction at its first commit until it is released or cancelled.
type stops struct{ reached, release chan struct{} }

func newStops() *stops { return &stops{reached: make(chan struct{}), release: make(chan struct{})} }

func (s *stops) hold(ctx context.Context) {
	close(s.reached)
	select {
	case <-s.release:
	case <-ctx.Done():
	}
}

func (s *stops) option() option { return withHooks(service.Hooks{BeforeCommit: s.hold}) }

func detached(id string) *compactordv1.CompactRequest {
	req := compactRequest(id, nil)
	req.Detach = true
	return req
}

// events reads events up to the end of a compaction, and the records between them.
func (w *watching) events() (events []*compactordv1.CompactionEvent, logged []*compactordv1.WatchSessionResponse) {
	w.t.Helper()
	for {
		answer := w.next()
		if answer.GetEvent() == nil {
			logged = append(logged, answer)
			continue
		}
		e := answer.GetEvent()
		events = append(events, e)
		if e.GetCompleted() != nil || e.GetFailed() != nil || e.GetCancelled() != nil || e.GetSkipped() != nil {
			return events, logged
		}
	}
}

// cancelRunning cancels the operation with this id, or whatever runs if it is empty.
func (d *daemon) cancelRunning(session, operation string) (*compactordv1.CancelCompactionResponse, error) {
	return d.compactions.CancelCompaction(d.t.Context(), &compactordv1.CancelCompactionRequest{
		SessionId: session, OperationId: operation,
	})
}

// A detached compaction goes on when its client leaves or its call's deadline passes. Others end.
func TestDetachedCompactionOutlivesItsClient(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]time.Duration{"cancel": time.Minute, "deadline": time.Hour} {
		t.Run(name, func(t *testing.T) {
			held, clock := newStops(), &clock{}
			d := start(t, withHooks(service.Hooks{BeforeCommit: held.hold, Now: clock.now}))
			d.create("s", small(1000))
			d.append("s", working(10, 2000)...)
			w := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s", Events: true})
			ctx, leave := context.WithTimeout(t.Context(), time.Hour)
			defer leave()
			stream, err := d.compactions.Compact(ctx, detached("s"))
			require.NoError(t, err)
			<-held.reached
			clock.pass(after)
			leave()
			for err == nil {
				_, err = stream.Recv()
			}
			require.Equal(t, codes.Canceled, statusCode(err), "the client says so itself")
			close(held.release)
			events, _ := w.events()
			requireGrammar(t, events)
			entry := last(t, events).GetCompleted().GetCompaction()
			require.NotEmpty(t, entry.GetId())
			d.compactNothing("s")
			require.Equal(t, entry.GetId(), d.lastRecord("s").GetCompaction().GetId())
		})
	}
}

// compactNothing waits for the end of a running compaction, without writing anything.
func (d *daemon) compactNothing(id string) {
	d.t.Helper()
	req := compactRequest(id, nil)
	req.Preempt, req.DryRun = true, true
	_, err := d.compact(req)
	require.NoError(d.t, err)
}

// A client that stays but does not read does not delay its detached compaction. It misses progress and text, but never
// the last event.
func TestDetachedCompactionDoesNotWaitForItsStream(t *testing.T) {
	t.Parallel()
	const deltas, chars = 5000, 1000
	d := start(t, withSummarizer(&scripted{name: "wordy", do: inDeltas(deltas, chars)}))
	d.create("s", by("wordy", noFallback, small(1000)))
	d.append("s", working(10, 2000)...)
	w := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s"})
	stream, err := d.unread().compactions.Compact(t.Context(), detached("s"))
	require.NoError(t, err)
	entry := w.next().GetRecord().GetCompaction()
	require.NotNil(t, entry, "it is over while nobody has read a thing")
	var events []*compactordv1.CompactionEvent
	var number uint32
	for {
		answer, err := stream.Recv()
		if err != nil {
			break
		}
		e := answer.GetEvent()
		require.Greater(t, e.GetNumber(), number, "in order")
		number = e.GetNumber()
		events = append(events, e)
	}
	require.NotNil(t, events[0].GetStarted())
	require.Equal(t, entry.GetId(), last(t, events).GetCompleted().GetCompaction().GetId())
	require.Greater(t, number, uint32(deltas), "what is missed counts")
	require.Less(t, len(events), deltas)
}

// Watchers get the events of the stream from `started` on, with the same numbers, including heartbeats. They get no
// event of a compaction that never started.
func TestWatchersGetTheEventsOfTheStream(t *testing.T) {
	t.Parallel()
	held := newStops()
	d := start(t, held.option(), func(o *service.ServerOptions) { o.Heartbeat = time.Millisecond })
	d.create("s", small(1000))
	d.append("s", user("too little to compact"))
	w := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s", Events: true})
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	require.NotNil(t, last(t, events).GetSkipped())
	d.append("s", working(10, 2000)...)
	req := compactRequest("s", nil)
	req.DryRun = true
	events, err = d.compact(req)
	require.NoError(t, err)
	require.NotNil(t, last(t, events).GetPlanned())

	stream, err := d.compactions.Compact(t.Context(), compactRequest("s", nil))
	require.NoError(t, err)
	events = nil
	beats := 0
	for {
		answer, err := stream.Recv()
		if err != nil {
			break
		}
		events = append(events, answer.GetEvent())
		if answer.GetEvent().GetHeartbeat() != nil {
			if beats++; beats == 3 {
				close(held.release)
			}
		}
	}
	for i, e := range events {
		require.Equal(t, uint32(i+1), e.GetNumber())
	}
	require.NotNil(t, last(t, events).GetCompleted())
	require.GreaterOrEqual(t, beats, 3)
	events = events[slices.IndexFunc(events, func(e *compactordv1.CompactionEvent) bool { return e.GetStarted() != nil }):]
	seen, _ := w.events()
	require.Empty(t, cmp.Diff(events, seen, protocmp.Transform()))
}

// CancelCompaction ends what runs, detached or not, and returns its last event. The stream says who cancelled.
func TestCancelCompaction(t *testing.T) {
	t.Parallel()
	for name, req := range map[string]*compactordv1.CompactRequest{
		"detached": detached("s"), "attached": compactRequest("s", nil),
	} {
		for _, named := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				held := newStops()
				d := start(t, held.option())
				d.create("s", small(1000))
				d.append("s", working(10, 2000)...)
				before := d.view("s")
				w := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s", Events: true})
				type outcome struct {
					events []*compactordv1.CompactionEvent
					err    error
				}
				ended := make(chan outcome, 1)
				go func() {
					events, err := d.compact(req)
					ended <- outcome{events, err}
				}()
				<-held.reached
				id := ""
				if named {
					id = w.next().GetEvent().GetOperationId()
				}
				answer, err := d.cancelRunning("s", id)
				require.NoError(t, err)
				require.Contains(t, answer.GetEnding().GetCancelled().GetMessage(), "another client cancelled it")

				o := <-ended
				info := requireReason(t, o.err, codes.Canceled, "CANCELLED")
				require.Equal(t, answer.GetOperationId(), info.GetMetadata()["operation_id"])
				requireGrammar(t, o.events)
				require.Empty(t, cmp.Diff(answer.GetEnding(), last(t, o.events), protocmp.Transform()))
				seen, logged := w.events()
				require.Empty(t, cmp.Diff(answer.GetEnding(), last(t, seen), protocmp.Transform()))
				if len(logged) == 0 {
					logged = append(logged, w.next())
				}
				require.Equal(t, compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_CANCELLED,
					logged[0].GetRecord().GetAttempt().GetOutcome())
				requireSameView(t, before, d.view("s"))
			})
		}
	}
}

// A compaction that is cancelled before it has started has no last event.
func TestCancelCompactionBeforeItStarts(t *testing.T) {
	t.Parallel()
	g := newGate()
	d := start(t, withHooks(service.Hooks{BeforePlan: g.hold}))
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	ended := make(chan error, 1)
	go func() {
		_, err := d.compact(detached("s"))
		ended <- err
	}()
	<-g.reached
	answer, err := d.cancelRunning("s", "")
	require.NoError(t, err)
	require.NotEmpty(t, answer.GetOperationId())
	require.Nil(t, answer.GetEnding())
	requireReason(t, <-ended, codes.Canceled, "CANCELLED")
	completed, attempts := d.ends("s")
	require.Zero(t, completed+attempts)
}

// slowDisk holds the commit of an entry after it is on disk.
type slowDisk struct {
	storage.Store
	written, release chan struct{}
}

func (s *slowDisk) Commit(ctx context.Context, c *storage.Commit) error {
	err := s.Store.Commit(ctx, c)
	if err == nil && len(c.Records) > 0 && isCompaction(c.Records[0]) {
		close(s.written)
		<-s.release
	}
	return err
}

func isCompaction(r *storagev1.StoredRecord) bool { return r.GetRecord().GetCompaction() != nil }

// After the commit a cancel changes nothing, and its response says so.
func TestCancelCompactionAfterTheCommit(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	disk := &slowDisk{Store: &shared{d.store}, written: make(chan struct{}), release: make(chan struct{})}
	slow := start(t, withStore(disk))
	ended := make(chan error, 1)
	go func() {
		_, err := slow.compact(detached("s"))
		ended <- err
	}()
	<-disk.written
	ctx, cancel := context.WithCancel(t.Context())
	impatient := make(chan error, 1)
	go func() {
		_, err := slow.compactions.CancelCompaction(ctx, &compactordv1.CancelCompactionRequest{SessionId: "s"})
		impatient <- err
	}()
	cancel()
	require.Equal(t, codes.Canceled, statusCode(<-impatient), "one who waits may give up")
	type outcome struct {
		answer *compactordv1.CancelCompactionResponse
		err    error
	}
	cancelled := make(chan outcome, 1)
	go func() {
		answer, err := slow.cancelRunning("s", "")
		cancelled <- outcome{answer, err}
	}()
	close(disk.release)
	require.NoError(t, <-ended)
	entry := slow.lastRecord("s").GetCompaction()
	require.NotNil(t, entry)
	o := <-cancelled
	if o.err != nil {
		// The compaction had ended before the cancel came.
		requireReason(t, o.err, codes.NotFound, "OPERATION_NOT_FOUND")
	} else {
		require.Equal(t, entry.GetId(), o.answer.GetEnding().GetCompleted().GetCompaction().GetId())
	}
	completed, attempts := slow.ends("s")
	require.Equal(t, 1, completed)
	require.Zero(t, attempts)
}

// Only operations of the request's session can be cancelled.
func TestCancelCompactionOfAnother(t *testing.T) {
	t.Parallel()
	held := newStops()
	d := start(t, held.option())
	for _, id := range []string{"s", "other"} {
		d.create(id, small(1000))
		d.append(id, working(10, 2000)...)
	}
	w := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s", Events: true})
	ended := make(chan error, 1)
	go func() {
		_, err := d.compact(detached("s"))
		ended <- err
	}()
	<-held.reached
	running := w.next().GetEvent().GetOperationId()
	for session, operation := range map[string]string{"other": running, "s": "unknown"} {
		_, err := d.cancelRunning(session, operation)
		info := requireReason(t, err, codes.NotFound, "OPERATION_NOT_FOUND")
		require.Equal(t, operation, info.GetMetadata()["operation_id"])
	}
	_, err := d.cancelRunning("other", "")
	requireReason(t, err, codes.NotFound, "OPERATION_NOT_FOUND")
	_, err = d.cancelRunning("none", running)
	requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
	close(held.release)
	require.NoError(t, <-ended)
	_, err = d.cancelRunning("s", running)
	requireReason(t, err, codes.NotFound, "OPERATION_NOT_FOUND")
}

// A detached compaction may finish within the drain timeout, though it has no call. After that it is cancelled.
func TestStopWaitsForDetachedCompactions(t *testing.T) {
	t.Parallel()
	for name, drain := range map[string]time.Duration{"within the timeout": time.Hour, "after it": 1} {
		t.Run(name, func(t *testing.T) {
			held := newStops()
			d := start(t, held.option(), func(o *service.ServerOptions) { o.DrainTimeout = drain })
			d.create("s", small(1000))
			d.append("s", working(10, 2000)...)
			w := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s"})
			ctx, leave := context.WithCancel(t.Context())
			_, err := d.compactions.Compact(ctx, detached("s"))
			require.NoError(t, err)
			<-held.reached
			leave()
			stopped := make(chan struct{})
			go func() {
				defer close(stopped)
				d.shutdown()
			}()
			requireReason(t, w.last(), codes.Unavailable, "SHUTTING_DOWN")
			if drain == time.Hour {
				// A stop that does not wait would cancel it within this time.
				other := start(t, withStore(&shared{d.store}))
				for range 20 {
					other.append("s", user("meanwhile"))
				}
				close(held.release)
			}
			<-stopped
			row, err := d.store.Session(t.Context(), "", "s")
			require.NoError(t, err)
			record, err := d.store.RecordAtOrBefore(t.Context(), storage.RefOf(row), row.GetHead().GetNextSequence())
			require.NoError(t, err)
			require.Equal(t, drain == time.Hour, record.GetRecord().GetCompaction() != nil)
			require.Equal(t, drain != time.Hour, record.GetRecord().GetAttempt() != nil)
		})
	}
}

func TestDetachNeedsASession(t *testing.T) {
	t.Parallel()
	d := start(t)
	_, err := d.compact(&compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_History{History: &compactordv1.InlineHistory{Messages: working(1, 10)}},
		Detach: true,
	})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	require.ErrorContains(t, err, "detach")
}
