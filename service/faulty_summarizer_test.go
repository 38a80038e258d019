package service_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

type fault struct {
	name   string
	do     func(context.Context, *summarizers.Request, summarizers.Progress) (*summarizers.Summary, error)
	code   codes.Code
	reason string
	// calls is how often the summarizer is asked.
	calls int
}

func faults() []fault {
	text := func(s string) func(context.Context, *summarizers.Request, summarizers.Progress) (*summarizers.Summary, error) {
		return func(_ context.Context, _ *summarizers.Request, p summarizers.Progress) (*summarizers.Summary, error) {
			p.Text(s)
			return &summarizers.Summary{Text: s, Calls: 1}, nil
		}
	}
	return []fault{
		{"nothing", text(""), codes.FailedPrecondition, "SUMMARY_REJECTED", 2},
		{"white space", text(" \n\t"), codes.FailedPrecondition, "SUMMARY_REJECTED", 2},
		{"thinking only", text("<think>hm</think>"), codes.FailedPrecondition, "SUMMARY_REJECTED", 2},
		{"garbage", text("%%% no sections %%%"), codes.FailedPrecondition, "SUMMARY_REJECTED", 2},
		{"more than it was given", text(strings.Repeat("word ", 100_000)), codes.FailedPrecondition, "SUMMARY_REJECTED", 2},
		{"no summary and no error", func(
			context.Context, *summarizers.Request, summarizers.Progress,
		) (*summarizers.Summary, error) {
			return nil, nil
		}, codes.FailedPrecondition, "SUMMARY_REJECTED", 2},
		{"an error", func(
			context.Context, *summarizers.Request, summarizers.Progress,
		) (*summarizers.Summary, error) {
			return nil, errors.New("secret text of the provider")
		}, codes.Unavailable, "SUMMARIZER_UNAVAILABLE", 1},
		{"a panic", func(
			context.Context, *summarizers.Request, summarizers.Progress,
		) (*summarizers.Summary, error) {
			panic("boom")
		}, codes.Internal, "INTERNAL", 1},
		{"hangs", func(
			ctx context.Context, _ *summarizers.Request, _ summarizers.Progress,
		) (*summarizers.Summary, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}, codes.DeadlineExceeded, "DEADLINE_EXCEEDED", 1},
	}
}

func (f *fault) policy(fallback compactordv1.SummaryFallback) *compactordv1.Policy {
	policy := by("faulty", fallback, small(1000))
	if f.reason == "DEADLINE_EXCEEDED" {
		policy.Summary.TryTimeout = durationpb.New(100 * time.Millisecond)
	}
	return policy
}

func TestFaultySummarizerLeavesHistory(t *testing.T) {
	t.Parallel()
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			faulty := &scripted{name: "faulty", do: f.do}
			d := start(t, withSummarizer(faulty))
			d.create("s", f.policy(noFallback))
			d.append("s", working(10, 2000)...)
			before := d.view("s")

			events, err := d.compact(compactRequest("s", nil))
			requireReason(t, err, f.code, f.reason)
			require.NotContains(t, err.Error(), "secret")
			requireGrammar(t, events)
			failed := last(t, events).GetFailed()
			require.Equal(t, int32(f.code), failed.GetStatusCode())
			require.Equal(t, "ERROR_REASON_"+f.reason, failed.GetReason().String())
			require.Len(t, faulty.seen(), f.calls)
			if f.calls > 1 {
				require.Empty(t, faulty.seen()[0].Refusal)
				require.NotEmpty(t, faulty.seen()[1].Refusal)
			}
			requireSameView(t, before, d.view("s"))
			attempt := d.lastRecord("s").GetAttempt()
			require.Equal(t, compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_FAILED, attempt.GetOutcome())
			require.Equal(t, failed.GetReason(), attempt.GetErrorReason())
		})
	}
}

func TestFaultySummarizerFallsBack(t *testing.T) {
	t.Parallel()
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			d := start(t, withSummarizer(&scripted{name: "faulty", do: f.do}))
			d.create("s", f.policy(fallingBack))
			d.append("s", working(10, 2000)...)

			events, err := d.compact(compactRequest("s", nil))
			require.NoError(t, err)
			requireGrammar(t, events)
			entry := last(t, events).GetCompleted().GetCompaction()
			provenance := entry.GetProvenance()
			require.Equal(t, fallingBack, provenance.GetFallback())
			require.NotEmpty(t, provenance.GetFallbackCause())
			require.NotContains(t, provenance.GetFallbackCause(), "secret")
			require.Equal(t, "extractive", provenance.GetSummarizer())
			require.Contains(t, entry.GetSummary(), "## Goal")
		})
	}
}

// A summarizer whose second text is good, after it was told the fault of the first, needs no fallback.
func TestSecondTryNamesTheFault(t *testing.T) {
	t.Parallel()
	learns := &scripted{name: "learns", do: func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		if req.Refusal == "" {
			p.Text("no good")
			return &summarizers.Summary{Text: "no good", Calls: 1}, nil
		}
		return faithful(ctx, req, p)
	}}
	d := start(t, withSummarizer(learns))
	d.create("s", by("learns", noFallback, small(1000)))
	d.append("s", working(10, 2000)...)
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	entry := last(t, events).GetCompleted().GetCompaction()
	require.Equal(t, "learns", entry.GetProvenance().GetSummarizer())
	require.Zero(t, entry.GetProvenance().GetFallback())
	require.Equal(t, entry.GetSummary(), lastAttemptText(events))
}
