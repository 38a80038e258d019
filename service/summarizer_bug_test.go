package service_test

import (
	"context"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// buggy returns a summarizer that panics.
func buggy() *scripted {
	return &scripted{name: "buggy", do: func(
		_ context.Context, req *summarizers.Request, _ summarizers.Progress,
	) (*summarizers.Summary, error) {
		beyond := make([]string, len(req.Messages))
		return &summarizers.Summary{Text: beyond[len(req.Messages)]}, nil
	}}
}

// bareQuotes returns a conversation in which the agent quotes text with an empty line, after a line that is almost
// full.
func bareQuotes(turns int) []*compactordv1.Message {
	quote := "Here is what the report says about the matter that we looked at\n>\n> it is all fine\n"
	messages := working(turns, 2000)
	for i := range turns {
		messages = append(messages, user("And the report?\n"+quote), assistant(quote+strings.Repeat("It goes on. ", 20+i)))
	}
	return messages
}

// An empty line in a quotation failed each way of summarizing a conversation, and after three failures the breaker was
// open.
func TestBareQuotesAreCompactedInEachWay(t *testing.T) {
	t.Parallel()
	for _, reason := range []compactordv1.CompactionReason{
		manual, threshold, compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW,
	} {
		for _, policy := range []*compactordv1.Policy{small(1000), by("buggy", fallingBack, small(1000))} {
			log := &kept{}
			d := start(t, withSummarizer(buggy()), log.option())
			d.create("s", policy)
			d.append("s", bareQuotes(30)...)
			events, err := d.compactFor(reason, nil)
			require.NoError(t, err)
			require.NotEmpty(t, last(t, events).GetCompleted().GetCompaction().GetSummary(), reason)
			require.Empty(t, log.lines(t, "summarizer left something out by a bug"))
		}
	}
	d := start(t)
	d.create("s", small(1000))
	d.append("s", bareQuotes(30)...)
	_, err := d.sessions.RevertToCheckpoint(t.Context(), summarized(toPoint(3)))
	require.NoError(t, err)

	events, err := d.compact(&compactordv1.CompactRequest{Policy: small(1000), Target: &compactordv1.CompactRequest_History{
		History: &compactordv1.InlineHistory{Messages: bareQuotes(30)},
	}})
	require.NoError(t, err)
	require.NotEmpty(t, last(t, events).GetCompleted().GetCompaction().GetSummary())
}

// A bug of a summarizer was reported as if a later try could work.
func TestBugOfASummarizerIsInternalAndSaysWhatToReport(t *testing.T) {
	t.Parallel()
	log := &kept{}
	d := start(t, log.option(), withSummarizer(buggy()))
	policy := by("buggy", noFallback, small(1000))
	d.create("s", policy)
	d.append("s", working(6, 3000)...)

	events, failure := d.compact(compactRequest("s", nil))
	told := last(t, events).GetFailed()
	require.EqualValues(t, codes.Internal, told.GetStatusCode())
	require.Equal(t, compactordv1.ErrorReason_ERROR_REASON_INTERNAL, told.GetReason())
	require.Nil(t, told.GetRetryAfter())
	id := requireBug(t, log, failure)
	require.Equal(t, events[0].GetOperationId(), id)
	attempts := d.attempts()
	require.Len(t, attempts, 1)
	require.Equal(t, compactordv1.ErrorReason_ERROR_REASON_INTERNAL, attempts[0].GetErrorReason())
	require.Equal(t, id, attempts[0].GetProvenance().GetOperationId())

	_, failure = d.sessions.RevertToCheckpoint(t.Context(), summarized(toPoint(3)))
	requireBug(t, log, failure)
	_, failure = d.compact(&compactordv1.CompactRequest{Policy: policy, Target: &compactordv1.CompactRequest_History{
		History: &compactordv1.InlineHistory{Messages: working(6, 3000)},
	}})
	requireBug(t, log, failure)
}

// requireBug asserts that an error reports a bug of the summarizer, and that the log has it under the same id.
func requireBug(t *testing.T, log *kept, failure error) (id string) {
	t.Helper()
	info := requireReason(t, failure, codes.Internal, "INTERNAL")
	id = info.GetMetadata()["operation_id"]
	require.NotEmpty(t, id)
	require.Equal(t, "buggy", info.GetMetadata()["summarizer"])
	st := status.Convert(failure)
	require.Equal(t,
		"summarizer buggy failed: internal error "+id+": this is a bug, please report it with this id; the log tells more under it", st.Message())
	for _, detail := range st.Details() {
		_, later := detail.(*errdetails.RetryInfo)
		require.False(t, later)
	}
	for _, message := range []string{"panicked", "call failed by a bug or a broken store"} {
		lines := log.lines(t, message)
		require.NotEmpty(t, lines, message)
		require.Equal(t, id, lines[len(lines)-1]["id"], message)
	}
	return id
}

// A session whose summarizer always fails by a bug is still compacted: the fallback writes, and the breaker stays
// closed.
func TestBugOfASummarizerOpensNoBreakerWithAFallback(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	d := start(t, withSummarizer(buggy()), func(o *service.ServerOptions) { o.Metrics = registry })
	d.create("s", by("buggy", fallingBack, small(1000)))
	for range 4 {
		d.append("s", working(30, 2000)[1:]...)
		require.True(t, d.report("s").GetShouldCompact())
		events, err := d.compactFor(threshold, nil)
		require.NoError(t, err)
		entry := last(t, events).GetCompleted().GetCompaction()
		provenance := entry.GetProvenance()
		require.Equal(t, fallingBack, provenance.GetFallback())
		require.Equal(t, "extractive", provenance.GetSummarizer())
		require.Contains(t, provenance.GetFallbackCause(), "summarizer buggy failed: internal error "+events[0].GetOperationId())
	}
	requireClosed(t, d)
	require.Equal(t, map[string]float64{"compactord_fallbacks_total bug": 4}, figuresOf(t, registry, "compactord_fallbacks_total"))
}

// Operators learn what a summarizer left out because of a bug: the log has index and stack, and the metrics count all.
func TestWhatASummarizerLeftOutIsLoggedAndCounted(t *testing.T) {
	t.Parallel()
	log, registry := &kept{}, prometheus.NewRegistry()
	lame := &scripted{name: "lame", do: func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		s, err := extractive.New().Summarize(ctx, req, p)
		if req.Kind != summarizers.History {
			return s, err
		}
		s.Faults = []summarizers.Fault{
			{Stage: summarizers.StageMessage, Index: 7, Cause: "runtime.boundsError", Stack: "at prose.go:110"},
			{Stage: summarizers.StageMessage, Index: 8, Cause: "runtime.boundsError"},
			{Stage: summarizers.StagePlan, Cause: "string", Stack: "at plan.go:1"},
		}
		return s, err
	}}
	d := start(t, log.option(), withSummarizer(lame), func(o *service.ServerOptions) { o.Metrics = registry })
	d.create("s", by("lame", noFallback, small(1000)))
	d.append("s", working(6, 3000)...)
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	require.NotNil(t, last(t, events).GetCompleted().GetCompaction())
	lines := log.lines(t, "summarizer left something out by a bug")
	require.Len(t, lines, 2)
	for i, want := range []map[string]any{
		{"what": "message", "index": 7.0, "panic": "runtime.boundsError", "stack": "at prose.go:110"},
		{"what": "plan", "index": 0.0, "panic": "string", "stack": "at plan.go:1"},
	} {
		for key, value := range want {
			require.Equal(t, value, lines[i][key], key)
		}
		require.Equal(t, "WARN", lines[i]["level"])
		require.Equal(t, "lame", lines[i]["summarizer"])
		require.Equal(t, events[0].GetOperationId(), lines[i]["id"])
		require.InDelta(t, 3, lines[i]["of"], 0)
	}
	require.Equal(t, map[string]float64{
		"compactord_summarizer_faults_total lame message": 2, "compactord_summarizer_faults_total lame plan": 1,
	}, figuresOf(t, registry, "compactord_summarizer_faults_total"))
}
