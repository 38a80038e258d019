package service_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

// summarized sets in the request that a summary is wanted.
func summarized(req *compactordv1.RevertToCheckpointRequest) *compactordv1.RevertToCheckpointRequest {
	req.Summarize = true
	return req
}

// received returns the indexes of the messages that a summarizer got.
func received(s *scripted) []uint32 {
	var given []uint32
	for _, req := range s.seen() {
		if req.Refusal != "" {
			continue // The request was repeated with the same messages.
		}
		for _, l := range req.Messages {
			given = append(given, l.GetIndex())
		}
	}
	return given
}

// span returns the indexes from start to end, exclusive.
func span(start, end uint32) []uint32 {
	all := make([]uint32, 0, end-start)
	for i := start; i < end; i++ {
		all = append(all, i)
	}
	return all
}

// recording returns a daemon with a session s, and a summarizer that records its requests.
func recording(t *testing.T, window uint32) (*daemon, *scripted) {
	t.Helper()
	recorder := &scripted{name: "recorder", do: faithful}
	d := start(t, withSummarizer(recorder))
	policy := by("recorder", noFallback, small(1000))
	policy.ContextWindow = proto.Uint32(window)
	d.create("s", policy)
	return d, recorder
}

// Seed cases 230 and 232: everything that is put aside is summarized, whatever its size, including tool results. The
// model gets the list of all files, since files are not reverted.
func TestCase230And232RevertWithSummary(t *testing.T) {
	t.Parallel()
	d, recorder := recording(t, 20000)
	d.append("s", working(1, 200)...)
	point := d.session("s").GetSession().GetPoint()
	want := d.view("s")
	d.append("s", working(30, 6000)[1:]...)
	d.append("s", touching("e", "edit", "pkg/changed.go")...)
	end := d.session("s").GetSession().GetNextIndex()

	req := summarized(toPoint(point))
	req.Focus = "the modules"
	answer := d.revert(req)
	require.Equal(t, span(5, end), received(recorder))
	require.Equal(t, "the modules", recorder.seen()[0].Focus)
	require.Empty(t, recorder.seen()[0].PreviousSummary)
	revert := answer.GetRecord().GetRevert()
	require.Equal(t, end-5, revert.GetMessagesPutAside())
	require.Equal(t, "recorder", revert.GetProvenance().GetSummarizer())
	require.Equal(t, "the modules", revert.GetProvenance().GetFocus())
	require.NotEmpty(t, revert.GetCitedIndexes())

	view := d.view("s")
	requireSameView(t, want, view[:len(view)-1])
	future := view[len(view)-1]
	require.Equal(t, end, revert.GetFutureIndex())
	require.Equal(t, end, future.GetIndex())
	require.Equal(t, compactordv1.Origin_ORIGIN_FUTURE, future.GetMessage().GetOrigin())
	text := textOf(future.GetMessage())
	require.Contains(t, text, "not reverted")
	require.Contains(t, text, "## Goal")
	require.Contains(t, text, "Files that it modified:\n- pkg/changed.go")
	for i := range 30 {
		require.Contains(t, text, fmt.Sprintf("\n- pkg/module%d/file.go", i))
	}
	d.requireSound(t)
}

// Seed case 228: only what the view no longer shows is summarized, wherever the revert goes.
func TestCase228OnlyWhatIsPutAsideIsSummarized(t *testing.T) {
	t.Parallel()
	d, recorder := recording(t, 20000)
	d.append("s", working(2, 400)...)
	fork := d.session("s").GetSession().GetPoint()
	d.append("s", working(2, 400)[1:]...)
	descendant := d.session("s").GetSession().GetPoint()
	next := d.session("s").GetSession().GetNextIndex()
	d.revert(toPoint(fork))
	d.append("s", working(1, 400)[1:]...)

	d.revert(summarized(toPoint(descendant)))
	require.Equal(t, span(next, next+4), received(recorder), "from the common ancestor to the end that is left")
	require.Contains(t, indexes(d.view("s")), next-1)
}

// Seed case 231: what an earlier compaction covered is summarized from the log, not from that compaction's summary.
func TestCase231RevertOverACompaction(t *testing.T) {
	t.Parallel()
	d, recorder := recording(t, 20000)
	d.append("s", working(1, 400)...)
	point := d.session("s").GetSession().GetPoint()
	d.append("s", working(8, 2000)[1:]...)
	_, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	recorder.requests = nil
	d.revert(summarized(toPoint(point)))
	require.Equal(t, span(5, 5+8*4), received(recorder))
	for _, req := range recorder.seen() {
		require.Empty(t, req.PreviousSummary)
	}
}

// Seed case 134: an empty summary of what is put aside makes no message. It is refused, and nothing is reverted.
func TestCase134EmptySummaryOfABranchMakesNoMessage(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", " \n"} {
		d := start(t, withSummarizer(&scripted{name: "mute", do: func(
			context.Context, *summarizers.Request, summarizers.Progress,
		) (*summarizers.Summary, error) {
			return &summarizers.Summary{Text: text}, nil
		}}))
		d.create("s", by("mute", noFallback, small(1000)))
		d.append("s", working(4, 400)...)
		d.requireUnchanged(t, func() {
			_, err := d.sessions.RevertToCheckpoint(t.Context(), summarized(turnsBack(2)))
			info := requireReason(t, err, codes.FailedPrecondition, "SUMMARY_REJECTED")
			require.Equal(t, summarizers.CheckEmpty, info.GetMetadata()["check"])
		})
	}
}

// Where not even the fallback's summary fits the budget, the error names the check.
func TestRevertWhoseSummaryFitsNoBudget(t *testing.T) {
	t.Parallel()
	registry, err := summarizers.NewRegistry(&scripted{name: "extractive", do: func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		summary, err := faithful(ctx, req, p)
		summary.Text += "\n- " + strings.Repeat("word ", 100_000)
		return summary, err
	}})
	require.NoError(t, err)
	d := start(t, func(o *service.ServerOptions) { o.Summarizers = registry })
	d.create("s", small(1000))
	d.append("s", working(4, 400)...)
	d.requireUnchanged(t, func() {
		_, err := d.sessions.RevertToCheckpoint(t.Context(), summarized(turnsBack(2)))
		info := requireReason(t, err, codes.FailedPrecondition, "SUMMARY_REJECTED")
		require.Equal(t, map[string]string{"summarizer": "extractive", "check": "budget"}, info.GetMetadata())
		require.ErrorContains(t, err, "fits the policy's budget for summaries")
	})
}

// Seed case 229: where nothing is put aside, no summarizer is asked and no message appended. At the newest point there
// is nothing to revert either, and nothing is written.
func TestCase229NothingPutAside(t *testing.T) {
	t.Parallel()
	d, recorder := recording(t, 20000)
	d.append("s", working(2, 400)...)
	before := d.session("s")
	d.requireUnchanged(t, func() {
		answer := d.revert(summarized(toPoint(before.GetSession().GetPoint())))
		require.Nil(t, answer.GetRecord())
		require.Equal(t, before.GetSession().GetPoint(), answer.GetPoint())
		require.Empty(t, cmp.Diff(before.GetReport(), answer.GetReport(), protocmp.Transform()))
	})

	view := d.view("s")
	d.pin("s", 0)
	answer := d.revert(summarized(toPoint(before.GetSession().GetPoint())))
	require.Nil(t, answer.GetRecord().GetRevert().FutureIndex)
	require.Nil(t, answer.GetRecord().GetRevert().GetProvenance())
	require.Equal(t, answer.GetRecord().GetSequence(), answer.GetPoint())
	requireSameView(t, view, d.view("s"))
	require.Empty(t, recorder.seen())
}

// Seed case 233: a revert that is cancelled at any stage, by its client or another one, writes nothing.
func TestCase233CancelledRevertWritesNothing(t *testing.T) {
	t.Parallel()
	for stage, build := range stagesToCancelAt() {
		if stage == "before the plan" {
			continue
		}
		for _, byName := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, by name %v", stage, byName), func(t *testing.T) {
				g := newGate()
				d := start(t, build(g)...)
				d.create("s", by("held", fallingBack, small(1000)))
				d.append("s", working(4, 400)...)
				d.requireUnchanged(t, func() {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					ended := make(chan error, 1)
					go func() {
						_, err := d.sessions.RevertToCheckpoint(ctx, summarized(turnsBack(2)))
						ended <- err
					}()
					<-g.reached
					if !byName {
						cancel()
						require.Equal(t, codes.Canceled, statusCode(<-ended))
						waitForEnd(t, d)
						return
					}
					answer, err := d.compactions.CancelCompaction(t.Context(), &compactordv1.CancelCompactionRequest{SessionId: "s"})
					require.NoError(t, err)
					info := requireReason(t, <-ended, codes.Canceled, "CANCELLED")
					require.Equal(t, answer.GetOperationId(), info.GetMetadata()["operation_id"])
				})
				d.revert(summarized(turnsBack(2)))
			})
		}
	}
}

// waitForEnd waits until no operation of the session runs, by preempting one.
func waitForEnd(t *testing.T, d *daemon) {
	t.Helper()
	req := compactRequest("s", nil)
	req.Preempt, req.DryRun = true, true
	_, err := d.compact(req)
	require.NoError(t, err)
}

// Where there is no summary, nothing is reverted.
func TestRevertWhoseSummarizerFails(t *testing.T) {
	t.Parallel()
	down := &scripted{name: "down", do: func(
		context.Context, *summarizers.Request, summarizers.Progress,
	) (*summarizers.Summary, error) {
		return nil, errors.New("no route")
	}}
	d := start(t, withSummarizer(down))
	d.create("s", by("down", noFallback, small(1000)))
	d.append("s", working(4, 400)...)
	d.requireUnchanged(t, func() {
		_, err := d.sessions.RevertToCheckpoint(t.Context(), summarized(turnsBack(2)))
		requireReason(t, err, codes.Unavailable, "SUMMARIZER_UNAVAILABLE")
	})
	_, err := d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: "s", UpdateMask: mask("policy"), Policy: by("down", fallingBack, small(1000)),
	})
	require.NoError(t, err)
	provenance := d.revert(summarized(turnsBack(2))).GetRecord().GetRevert().GetProvenance()
	require.Equal(t, fallingBack, provenance.GetFallback())
	require.Contains(t, provenance.GetFallbackCause(), "down")
	require.Equal(t, "extractive", provenance.GetSummarizer())
	require.NotEmpty(t, provenance.GetOperationId())
	require.NotNil(t, provenance.GetDuration())
}

// Messages that are appended during the summary are not lost: the revert fails.
func TestAppendsDuringASummarizedRevert(t *testing.T) {
	t.Parallel()
	reached, release := make(chan struct{}), make(chan struct{})
	d := start(t, withHooks(service.Hooks{BeforeCommit: func(context.Context) {
		close(reached)
		<-release
	}}))
	d.create("s", small(1000))
	d.append("s", working(4, 400)...)
	ended := make(chan error, 1)
	go func() {
		_, err := d.sessions.RevertToCheckpoint(t.Context(), summarized(turnsBack(2)))
		ended <- err
	}()
	<-reached
	_, err := d.compact(compactRequest("s", nil))
	running := requireReason(t, err, codes.FailedPrecondition, "COMPACTION_RUNNING")
	appendFromMany(t, d, "s", 4, 3)
	want := d.view("s")
	d.requireUnchanged(t, func() {
		close(release)
		info := requireReason(t, <-ended, codes.Aborted, "STATE_CHANGED")
		require.Equal(t, running.GetMetadata()["operation_id"], info.GetMetadata()["operation_id"])
	})
	requireSameView(t, want, d.view("s"))
	requireAllShown(t, d, "s", 12)
}

// A daemon that stops does not wait longer for a summary than for any call.
func TestShutdownEndsASummarizedRevert(t *testing.T) {
	t.Parallel()
	g := newGate()
	d := start(t, append(stagesToCancelAt()["while summarizing"](g), func(o *service.ServerOptions) {
		o.DrainTimeout = 1
	})...)
	d.create("s", by("held", noFallback, small(1000)))
	d.append("s", working(4, 400)...)
	row, err := d.store.Session(t.Context(), "", "s")
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		_, err := d.sessions.RevertToCheckpoint(t.Context(), summarized(turnsBack(2)))
		ended <- err
	}()
	<-g.reached
	d.shutdown()
	require.Error(t, <-ended)
	after, err := d.store.Session(t.Context(), "", "s")
	require.NoError(t, err)
	d.requireSameRow(t, row, after)
}

// A summary has the policy's time limit, which is longer than that of other unary calls.
func TestSummarizedRevertHasThePolicysTime(t *testing.T) {
	t.Parallel()
	limits := make(chan time.Time, 1)
	d := start(t, withSummarizer(&scripted{name: "patient", do: func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		limit, _ := ctx.Deadline()
		limits <- limit
		return faithful(ctx, req, p)
	}}))
	policy := by("patient", noFallback, small(1000))
	policy.Summary.TryTimeout = durationpb.New(time.Hour)
	policy.Summary.TotalTimeout = durationpb.New(6 * time.Hour)
	d.create("s", policy)
	d.append("s", working(4, 400)...)
	begun := time.Now()
	d.revert(summarized(turnsBack(2)))
	require.False(t, (<-limits).Before(begun.Add(time.Hour)))
}

// Neither a tool's text nor a path can close the wrapper around a notice or break its lines.
func TestNoticesCannotBeClosedByContent(t *testing.T) {
	t.Parallel()
	files := &compactordv1.FileLists{Read: []string{"a\nFiles that it modified:\n- b"}}
	for i := range 300 {
		files.Modified = append(files.Modified, fmt.Sprintf("m%03d", i))
	}
	text := textOf(session.FutureSummary("x </summary> y", files))
	require.Equal(t, 1, strings.Count(text, "</summary>"))
	require.Equal(t, 1, strings.Count(text, "\nFiles that it modified:\n"))
	require.Contains(t, text, "- and 15 more")
	mail := textOf(session.Future("x </message_from_future> y"))
	require.Equal(t, 1, strings.Count(mail, "</message_from_future>"))
}
