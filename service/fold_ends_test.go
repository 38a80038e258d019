package service_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/summarizers"
)

// running is a fold that is held at a stage, in session s.
type running struct {
	*daemon
	// leave cancels its RPC.
	leave context.CancelFunc
}

// waysToEndAFold are the ways to end a fold from outside.
func waysToEndAFold() map[string]func(t *testing.T, r *running) {
	return map[string]func(t *testing.T, r *running){
		"the client cancels the call": func(_ *testing.T, r *running) { r.leave() },
		"CancelCompaction": func(t *testing.T, r *running) {
			t.Helper()
			_, err := r.cancelRunning("s", "")
			require.NoError(t, err)
		},
		"preempt": func(_ *testing.T, r *running) { r.compactNothing("s") },
	}
}

// A fold whose text a model writes, and that ends before its commit, leaves the view and the log as they were, but for the
// record of the attempt. Its watchers see it end, and the same fold can be made afterwards.
func TestEndedFoldLeavesTheViewAsItWas(t *testing.T) {
	t.Parallel()
	for stage, build := range stagesToCancelAt() {
		for way, end := range waysToEndAFold() {
			t.Run(stage+", "+way, func(t *testing.T) {
				t.Parallel()
				g := newGate()
				d := start(t, build(g)...)
				d.create("s", by("held", noFallback, small(1000)))
				d.append("s", working(3, 2000)...)
				before, records := d.view("s"), len(d.records("s"))
				req := viewRequest()
				answer, err := d.compactions.GetLLMView(t.Context(), req)
				require.NoError(t, err)
				req.ViewToken = answer.GetViewToken()
				w := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s", Events: true})

				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				ended := make(chan error, 1)
				go func() {
					_, err := d.compactCtx(ctx, foldRequest(foldOf(5, 9, "")))
					ended <- err
				}()
				<-g.reached
				end(t, &running{daemon: d, leave: leave})
				require.Equal(t, codes.Canceled, statusCode(<-ended))
				d.compactNothing("s")

				requireSameView(t, before, d.view("s"))
				answer, err = d.compactions.GetLLMView(t.Context(), req)
				require.NoError(t, err)
				require.Equal(t, uint32(len(before)), answer.GetUnchangedPrefix())
				require.Empty(t, answer.GetMessages())
				if stage == "before the plan" {
					require.Len(t, d.records("s"), records, "it had not started")
				} else {
					require.Len(t, d.records("s"), records+1)
					attempt := d.lastRecord("s").GetAttempt()
					require.Equal(t, compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_CANCELLED, attempt.GetOutcome())
					events, logged := w.events()
					requireGrammar(t, events)
					require.NotNil(t, last(t, events).GetCancelled())
					if len(logged) == 0 {
						// Events do not wait for the records that were written before them.
						logged = append(logged, w.next())
					}
					require.Len(t, logged, 1)
					require.NotNil(t, logged[0].GetRecord().GetAttempt())
				}
				d.requireSound(t)

				entry := d.fold(foldOf(5, 9, ""))
				require.Len(t, entry.GetEdits(), 4)
				require.Equal(t, []string{"5 to 8"}, d.foldsIn("s"))
			})
		}
	}
}

// A detached fold goes on without its client, and its watchers get the events of its whole life.
func TestDetachedFoldOutlivesItsClient(t *testing.T) {
	t.Parallel()
	held := newStops()
	d := start(t, held.option(), withSummarizer(&scripted{name: "writer", do: func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		p.Text("Module 1")
		return faithful(ctx, req, p)
	}}))
	d.create("s", by("writer", noFallback, small(1000)))
	d.append("s", working(3, 2000)...)
	w := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s", Events: true})
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	req := foldRequest(foldOf(5, 9, ""))
	req.Detach = true
	stream, err := d.compactions.Compact(ctx, req)
	require.NoError(t, err)
	<-held.reached
	leave()
	for err == nil {
		_, err = stream.Recv()
	}
	require.Empty(t, d.foldsIn("s"), "nothing is folded before the commit")
	d.append("s", user("meanwhile"))
	close(held.release)
	events, _ := w.events()
	requireGrammar(t, events)
	entry := last(t, events).GetCompleted().GetPrune()
	require.NotEmpty(t, entry.GetId())
	d.compactNothing("s")
	require.Equal(t, entry.GetId(), d.lastRecord("s").GetPrune().GetId())
	require.Equal(t, []string{"5 to 8"}, d.foldsIn("s"))
	view := d.view("s")
	require.Equal(t, "meanwhile", textOf(view[len(view)-1].GetMessage()))
}

// Where a fold's messages are reverted or covered while its text is written, the fold fails, and no part of it is made.
func TestFoldOfMessagesThatChangeMeanwhile(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(d *daemon){
		"a revert": func(d *daemon) {
			_, err := d.sessions.RevertToCheckpoint(d.t.Context(), &compactordv1.RevertToCheckpointRequest{
				SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: 8},
			})
			require.NoError(d.t, err)
		},
		"another compaction covers them": func(d *daemon) {
			other := start(d.t, withStore(&shared{d.store}))
			_, err := other.compact(compactRequest("s", small(100)))
			require.NoError(d.t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			held := newStops()
			// Over a database, the other daemon would take this one for dead and its compaction for ended.
			d := start(t, withStore(memory.New()), withHooks(service.Hooks{BeforeCommit: held.hold}))
			d.create("s", small(1000))
			d.append("s", working(10, 2000)...)
			ended := make(chan error, 1)
			go func() {
				_, err := d.compact(foldRequest(foldOf(5, 9, "")))
				ended <- err
			}()
			<-held.reached
			change(d)
			want := d.view("s")
			close(held.release)
			requireReason(t, <-ended, codes.Aborted, "STATE_CHANGED")
			requireSameView(t, want, d.view("s"))
			require.Empty(t, d.foldsIn("s"))
			d.requireSound(t)
		})
	}
}

// A fold with a message that is pinned while its text is written is not made, since nothing pinned is folded.
func TestPinWhileAFoldIsMade(t *testing.T) {
	t.Parallel()
	held := newStops()
	d := start(t, withHooks(service.Hooks{BeforeCommit: held.hold}))
	d.create("s", small(1000))
	d.append("s", working(3, 2000)...)
	before := d.view("s")
	ended := make(chan *compactordv1.CompactionEvent, 1)
	go func() {
		events, _ := d.compact(foldRequest(foldOf(5, 9, "")))
		ended <- events[len(events)-1]
	}()
	<-held.reached
	d.pin("s", 7)
	close(held.release)
	require.Equal(t, compactordv1.SkipReason_SKIP_REASON_OVERTAKEN, (<-ended).GetSkipped().GetReason())
	requireSameView(t, before, d.view("s"))
	d.requireSound(t)
}
