package service_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/summarizers"
)

// gate holds a compaction at one place until the test has cancelled it.
type gate struct {
	reached chan struct{}
	visited atomic.Bool
}

func newGate() *gate { return &gate{reached: make(chan struct{})} }

// hold waits for the cancel. Later calls return at once.
func (g *gate) hold(ctx context.Context) {
	if g.visited.CompareAndSwap(false, true) {
		close(g.reached)
		<-ctx.Done()
	}
}

// stagesToCancelAt returns, by the name of a stage, the options of a daemon that holds its first compaction there.
func stagesToCancelAt() map[string]func(g *gate) []option {
	return map[string]func(g *gate) []option{
		"before the plan": func(g *gate) []option {
			return []option{withHooks(service.Hooks{BeforePlan: g.hold}), withSummarizer(&scripted{name: "held", do: faithful})}
		},
		"while summarizing": func(g *gate) []option {
			return []option{withSummarizer(&scripted{name: "held", do: func(
				ctx context.Context, req *summarizers.Request, p summarizers.Progress,
			) (*summarizers.Summary, error) {
				p.Text("## Goal")
				g.hold(ctx)
				return faithful(ctx, req, p)
			}})}
		},
		// Seed case 166: the summary is written, the entry is not.
		"at the commit": func(g *gate) []option {
			return []option{withHooks(service.Hooks{BeforeCommit: g.hold}), withSummarizer(&scripted{name: "held", do: faithful})}
		},
	}
}

func TestCase166And167CancelWritesNothingButTheAttempt(t *testing.T) {
	t.Parallel()
	for stage, build := range stagesToCancelAt() {
		t.Run(stage, func(t *testing.T) {
			g := newGate()
			d := start(t, build(g)...)
			d.create("s", by("held", noFallback, small(1000)))
			d.append("s", working(10, 2000)...)
			before := d.view("s")

			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				<-g.reached
				cancel()
			}()
			_, err := d.compactCtx(ctx, compactRequest("s", nil))
			require.Equal(t, codes.Canceled, statusCode(err))

			// The next compaction of the session waits for the end of the cancelled one.
			req := compactRequest("s", nil)
			req.Preempt, req.DryRun = true, true
			_, err = d.compact(req)
			require.NoError(t, err)
			requireSameView(t, before, d.view("s"))
			completed, attempts := d.ends("s")
			require.Zero(t, completed)
			if stage == "before the plan" {
				require.Zero(t, attempts, "it had not started")
			} else {
				require.Equal(t, 1, attempts)
				require.Equal(t, compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_CANCELLED,
					d.lastRecord("s").GetAttempt().GetOutcome())
			}

			events, err := d.compact(compactRequest("s", nil))
			require.NoError(t, err, "the session goes on working")
			requireGrammar(t, events)
			require.NotNil(t, last(t, events).GetCompleted())
		})
	}
}

// Seed case 175: messages that are appended between plan and commit stay in the view.
func TestCase175AppendsDuringCompactionAreKept(t *testing.T) {
	t.Parallel()
	for stage, build := range stagesToCancelAt() {
		for _, cancelled := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, cancelled %v", stage, cancelled), func(t *testing.T) {
				g := newGate()
				d := start(t, build(g)...)
				d.create("s", by("held", noFallback, small(1000)))
				d.append("s", working(10, 2000)...)

				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				release := make(chan struct{})
				go func() {
					<-g.reached
					appendFromMany(t, d, "s", 8, 5)
					close(release)
					cancel()
				}()
				if cancelled {
					_, err := d.compactCtx(ctx, compactRequest("s", nil))
					require.Equal(t, codes.Canceled, statusCode(err))
				} else {
					preemptWhenReached(t, d, g, release)
				}
				<-release
				requireAllShown(t, d, "s", 8*5)
				problems, err := sessionlog.Check(t.Context(), d.store, "")
				require.NoError(t, err)
				require.Empty(t, problems)
			})
		}
	}
}

// Seed case 175: the commit keeps what was appended after the plan, and counts it.
func TestCase175CommitKeepsWhatCameAfterThePlan(t *testing.T) {
	t.Parallel()
	held := newStops()
	d := start(t, held.option())
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	planned := d.session("s").GetSession().GetNextIndex()
	go func() {
		<-held.reached
		appendFromMany(t, d, "s", 8, 5)
		close(held.release)
	}()
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	entry := last(t, events).GetCompleted().GetCompaction()
	require.NotNil(t, entry)
	require.Less(t, entry.GetFirstKeptIndex(), planned)
	require.Len(t, d.messages("s"), int(planned)+8*5)
	requireAllShown(t, d, "s", 8*5)
	require.Equal(t, tokensOf(d.view("s")), d.report("s").GetTokens())
	d.requireChecked()
}

// preemptWhenReached runs a compaction to the gate and preempts it with a second one: the first is cancelled, the
// second completes.
func preemptWhenReached(t *testing.T, d *daemon, g *gate, appended <-chan struct{}) {
	t.Helper()
	first := make(chan error, 1)
	go func() {
		_, err := d.compact(compactRequest("s", nil))
		first <- err
	}()
	<-g.reached
	<-appended
	req := compactRequest("s", nil)
	req.Preempt = true
	events, err := d.compact(req)
	require.NoError(t, err)
	requireGrammar(t, events)
	require.NotNil(t, last(t, events).GetCompleted())
	requireReason(t, <-first, codes.Canceled, "CANCELLED")
}

func appendFromMany(t *testing.T, d *daemon, id string, writers, each int) {
	t.Helper()
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
					SessionId: id, Messages: []*compactordv1.Message{user(fmt.Sprintf("note %d of writer %d", i, w))},
				})
				if err != nil {
					t.Errorf("append: %v", err)
				}
			}
		})
	}
	group.Wait()
}

// requireAllShown asserts that the newest n messages of the log are in the view.
func requireAllShown(t *testing.T, d *daemon, id string, n int) {
	t.Helper()
	logged := d.messages(id)
	shown := indexes(d.view(id))
	for _, l := range logged[len(logged)-n:] {
		require.Contains(t, shown, l.GetIndex())
	}
}

// Seed case 169: one compaction of a session at a time.
func TestCase169SecondCompactionIsRefused(t *testing.T) {
	t.Parallel()
	g := newGate()
	d := start(t, withHooks(service.Hooks{BeforePlan: g.hold}))
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := d.compactCtx(ctx, compactRequest("s", nil))
		first <- err
	}()
	<-g.reached
	_, err := d.compact(compactRequest("s", nil))
	info := requireReason(t, err, codes.FailedPrecondition, "COMPACTION_RUNNING")
	require.NotEmpty(t, info.GetMetadata()["operation_id"])
	cancel()
	require.Equal(t, codes.Canceled, statusCode(<-first))
}

// Seed case 171: every `started` is followed by an end, also when the daemon stops.
func TestCase171ShutdownEndsRunningCompactions(t *testing.T) {
	t.Parallel()
	g := newGate()
	d := start(t, append(stagesToCancelAt()["while summarizing"](g), func(o *service.ServerOptions) {
		o.DrainTimeout = 1
	})...)
	d.create("s", by("held", noFallback, small(1000)))
	d.append("s", working(10, 2000)...)
	type outcome struct {
		events []*compactordv1.CompactionEvent
		err    error
	}
	ended := make(chan outcome, 1)
	go func() {
		events, err := d.compact(compactRequest("s", nil))
		ended <- outcome{events, err}
	}()
	<-g.reached
	d.shutdown()
	o := <-ended
	require.Error(t, o.err)
	requireGrammar(t, o.events)
	require.NotNil(t, last(t, o.events).GetCancelled())
	row, err := d.store.Session(t.Context(), "", "s")
	require.NoError(t, err)
	record, err := d.store.RecordAtOrBefore(t.Context(), storage.RefOf(row), row.GetHead().GetNextSequence())
	require.NoError(t, err)
	require.Equal(t, compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_CANCELLED,
		record.GetRecord().GetAttempt().GetOutcome())
}

// A Revert during a compaction makes its plan useless: the compaction fails and the Revert stays.
func TestRevertDuringCompaction(t *testing.T) {
	t.Parallel()
	reached, release := make(chan struct{}), make(chan struct{})
	d := start(t, withHooks(service.Hooks{BeforeCommit: func(context.Context) {
		close(reached)
		<-release
	}}))
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	type outcome struct {
		events []*compactordv1.CompactionEvent
		err    error
	}
	ended := make(chan outcome, 1)
	go func() {
		events, err := d.compact(compactRequest("s", nil))
		ended <- outcome{events, err}
	}()
	<-reached
	_, err := d.sessions.RevertToCheckpoint(t.Context(), &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: 20},
	})
	require.NoError(t, err)
	want := d.view("s")
	close(release)
	o := <-ended
	requireReason(t, o.err, codes.Aborted, "STATE_CHANGED")
	requireGrammar(t, o.events)
	require.Equal(t, compactordv1.ErrorReason_ERROR_REASON_STATE_CHANGED, last(t, o.events).GetFailed().GetReason())
	requireSameView(t, want, d.view("s"))
}

// If two compactions run at once, as with two daemons on one store, one is committed.
func TestCompactionDuringCompaction(t *testing.T) {
	t.Parallel()
	reached, release := make(chan struct{}), make(chan struct{})
	slow := start(t, withStore(alone{newStore(t)}), withHooks(service.Hooks{BeforeCommit: func(context.Context) {
		close(reached)
		<-release
	}}))
	slow.create("s", small(1000))
	slow.append("s", working(10, 2000)...)
	fast := start(t, withStore(&shared{slow.store}))
	ended := make(chan error, 1)
	go func() {
		_, err := slow.compact(compactRequest("s", nil))
		ended <- err
	}()
	<-reached
	events, err := fast.compact(compactRequest("s", nil))
	require.NoError(t, err)
	want := last(t, events).GetCompleted().GetCompaction()
	close(release)
	requireReason(t, <-ended, codes.Aborted, "STATE_CHANGED")
	completed, attempts := slow.ends("s")
	require.Equal(t, 1, completed)
	require.Equal(t, 1, attempts)
	require.Equal(t, want.GetId(), slow.view("s")[1].GetSummaryOf())
}

// alone hides that a store can be shared. On a shared one, a daemon looks from time to time for what others have done, and
// cancels its compaction; here only the commit finds it.
type alone struct{ storage.Store }

// shared is a store that another daemon of the test closes.
type shared struct{ storage.Store }

func (*shared) Close() error { return nil }

func (s *shared) Opening() string { return "another daemon's, beside " + s.Store.Opening() }

// A client that has received the end of one compaction can start the next at once. This test calls the service directly
// and often, so that it would find a session that is freed too late.
func TestNextCompactionAfterTheEndIsNotRefused(t *testing.T) {
	t.Parallel()
	w := newCheckedService(t, make(map[string]int), func(low, _ int, _ string) int { return low })
	defer w.service.Close()
	req := compactRequest(checkedSession, nil)
	compactions := 20_000
	if testing.Short() {
		compactions = 2_000
	}
	for range compactions {
		require.NoError(t, w.service.Compact(req, newMemoryStream(t.Context())))
	}
}
