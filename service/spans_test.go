package service_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	otelcodes "go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	oteltrace "go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/llm"
)

// traced records the spans of a daemon.
func traced() (*tracetest.InMemoryExporter, option) {
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	return spans, func(o *service.ServerOptions) { o.Traces = provider }
}

// tree returns the spans below one, a line each, indented by their depth, in the order of their beginnings.
func tree(spans tracetest.SpanStubs, root tracetest.SpanStub) []string {
	line := root.Name
	for _, a := range root.Attributes {
		if slices.Contains([]string{"compactord.outcome", "rpc.response.status_code", "error.type", "compactord.summarizer"}, string(a.Key)) {
			line += " " + a.Value.AsString()
		}
	}
	lines := []string{line}
	var below []tracetest.SpanStub
	for _, s := range spans {
		if s.Parent.SpanID() == root.SpanContext.SpanID() {
			below = append(below, s)
		}
	}
	slices.SortStableFunc(below, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
	for _, s := range below {
		for _, deeper := range tree(spans, s) {
			lines = append(lines, "  "+deeper)
		}
	}
	return lines
}

// treesOf returns the tree of each call of an RPC.
func treesOf(exported *tracetest.InMemoryExporter, rpc string) (all []string) {
	spans := exported.GetSpans()
	for _, s := range spans {
		if strings.HasSuffix(s.Name, "/"+rpc) {
			all = append(all, "\n"+strings.Join(tree(spans, s), "\n")+"\n")
		}
	}
	return all
}

// scriptedModel is a provider of a model that fails once, and then writes what a test says.
type scriptedModel struct {
	failures atomic.Int32
	begun    chan struct{}
	hold     bool
}

func (*scriptedModel) Dialect() compactordv1.Dialect { return compactordv1.Dialect_DIALECT_OPENAI_CHAT }

func (m *scriptedModel) Complete(ctx context.Context, _ *llm.Completion, _ func(string)) (*llm.Answer, error) {
	if m.failures.Add(-1) >= 0 {
		return nil, &summarizers.ProviderError{Status: 503, Code: "overloaded", Retryable: true}
	}
	if m.hold {
		close(m.begun)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return &llm.Answer{
		Text: modelsText, Model: "m-1", Usage: &compactordv1.Usage{InputTokens: 10, CacheReadTokens: 5, OutputTokens: 7},
	}, nil
}

const modelsText = "They went through the modules one by one, and kept the tests green."

// compactedBy starts a daemon that is traced, with a session that a model summarizes.
func compactedBy(t *testing.T, model *scriptedModel) (*daemon, *tracetest.InMemoryExporter) {
	t.Helper()
	spans, tracing := traced()
	now := make(chan time.Time)
	close(now)
	d := start(t, tracing, withSummarizer(llm.New(llm.Profile{Name: "model", Kind: "openai", Model: "m", Window: 128_000},
		model, llm.WithTimer(func(time.Duration) <-chan time.Time { return now }))))
	policy := by("model", noFallback, small(1000))
	policy.Summary.PromptOverride = proto.String("Say what happened.")
	d.create("s", policy)
	d.append("s", working(6, 3000)...)
	return d, spans
}

func TestSpansOfACompaction(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		detach bool
	}{{"with its call", false}, {"in the background", true}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			model := &scriptedModel{}
			model.failures.Store(1)
			d, spans := compactedBy(t, model)
			req := compactRequest("s", nil)
			req.Detach = test.detach
			events, err := d.compact(req)
			require.NoError(t, err)
			require.NotNil(t, last(t, events).GetCompleted())
			d.stop()
			require.Equal(t, []string{`
compactord.v1.CompactionService/Compact OK
  compaction completed
    wait for the pool
    plan
    update session
      commit
    write texts
      summarize model
        chat m overloaded
        chat m
    update session
      commit
`}, treesOf(spans, "Compact"))
			var asked tracetest.SpanStub
			for _, s := range spans.GetSpans() {
				if s.Name == "chat m" {
					asked = s
				}
			}
			attributes := fmt.Sprint(asked.Attributes)
			for _, want := range []string{
				`{"gen_ai.provider.name":"openai"}`, `{"gen_ai.request.model":"m"}`, `{"gen_ai.response.model":"m-1"}`,
				`{"gen_ai.usage.input_tokens":15}`, `{"gen_ai.usage.output_tokens":7}`,
			} {
				require.Contains(t, attributes, want)
			}
			require.Equal(t, oteltrace.SpanKindClient, asked.SpanKind)
		})
	}
}

func TestSpansOfACancelledCompaction(t *testing.T) {
	t.Parallel()
	model := &scriptedModel{begun: make(chan struct{}), hold: true}
	d, spans := compactedBy(t, model)
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := d.compactions.Compact(ctx, compactRequest("s", nil))
	require.NoError(t, err)
	<-model.begun
	_, err = d.compactions.CancelCompaction(t.Context(), &compactordv1.CancelCompactionRequest{SessionId: "s"})
	require.NoError(t, err)
	_, err = eventsOf(stream)
	cancel()
	require.Equal(t, codes.Canceled, status.Code(err))
	d.stop()
	require.Equal(t, []string{`
compactord.v1.CompactionService/Compact CANCELLED
  compaction cancelled CANCELLED
    wait for the pool
    plan
    update session
      commit
    write texts cancelled
      summarize model cancelled
        chat m cancelled
    update session
      commit
`}, treesOf(spans, "Compact"))
}

// A call that reads or prunes shows what it waited for, and what it did. One that had nothing to do has not failed.
func TestSpansOfReadingAndPruning(t *testing.T) {
	t.Parallel()
	spans, tracing := traced()
	d := start(t, tracing)
	d.create("s", hideAllBut(1))
	d.append("s", working(6, 3000)...)
	for range 2 {
		_, err := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}})
		require.NoError(t, err)
	}
	for _, words := range []string{"module", "nowhere"} {
		_, err := d.sessions.SearchMessages(t.Context(), &compactordv1.SearchMessagesRequest{
			SessionId: "s", Query: &compactordv1.SearchMessagesRequest_Words{Words: words}, PageSize: 3,
		})
		require.NoError(t, err)
	}
	read := &compactordv1.RecallContentRequest{SessionId: "s", What: &compactordv1.RecallContentRequest_Index{Index: 3}}
	_, err := d.sessions.RecallContent(t.Context(), read)
	require.NoError(t, err)
	read.Range = &compactordv1.RecallContentRequest_Match{Match: &compactordv1.LineMatch{Pattern: "line"}}
	_, err = d.sessions.RecallContent(t.Context(), read)
	require.NoError(t, err)
	_, err = d.sessions.RecallContent(t.Context(), &compactordv1.RecallContentRequest{
		SessionId: "s", What: &compactordv1.RecallContentRequest_Reference{Reference: "block none"},
	})
	require.Equal(t, codes.NotFound, status.Code(err))
	d.stop()
	require.Equal(t, []string{`
compactord.v1.CompactionService/Prune OK
  wait for the pool
  update session
    commit
  plan
`, `
compactord.v1.CompactionService/Prune OK
  wait for the pool
  update session
  plan
`}, treesOf(spans, "Prune"))
	require.Equal(t, slices.Repeat([]string{`
compactord.v1.SessionService/SearchMessages OK
  wait for the pool
  search
`}, 2), treesOf(spans, "SearchMessages"))
	require.Equal(t, []string{`
compactord.v1.SessionService/RecallContent OK
  read content
`, `
compactord.v1.SessionService/RecallContent OK
  wait for the pool
  read content
`, `
compactord.v1.SessionService/RecallContent NOT_FOUND
  read content CONTENT_NOT_FOUND
`}, treesOf(spans, "RecallContent"))
	var hits []string
	for _, s := range spans.GetSpans() {
		if s.Name == "search" {
			hits = append(hits, fmt.Sprint(s.Attributes))
		}
	}
	require.Equal(t, []string{`[{"compactord.hits":3}]`, `[{"compactord.hits":0}]`}, hits)
}

func TestSpansOfOtherCalls(t *testing.T) {
	t.Parallel()
	spans, tracing := traced()
	d := start(t, tracing)
	d.create("s", nil)
	d.append("s", user("Hello."))
	d.view("s")
	ctx, cancel := context.WithCancel(t.Context())
	watch, err := d.sessions.WatchSession(ctx, &compactordv1.WatchSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	_, err = watch.Recv()
	require.NoError(t, err)
	cancel()
	_, err = d.sessions.GetSession(t.Context(), &compactordv1.GetSessionRequest{SessionId: "absent"})
	require.Equal(t, codes.NotFound, status.Code(err))
	d.stop()
	for rpc, want := range map[string]string{
		"CreateSession": `
compactord.v1.SessionService/CreateSession OK
  commit
`, "AppendMessages": `
compactord.v1.SessionService/AppendMessages OK
  update session
    commit
`, "GetLLMView": `
compactord.v1.CompactionService/GetLLMView OK
  wait for the pool
  draw view
`, "WatchSession": `
compactord.v1.SessionService/WatchSession CANCELLED
`, "GetSession": `
compactord.v1.SessionService/GetSession NOT_FOUND
`,
	} {
		require.Equal(t, []string{want}, treesOf(spans, rpc))
	}
	for _, s := range spans.GetSpans() {
		if strings.HasSuffix(s.Name, "/GetSession") {
			require.Equal(t, otelcodes.Unset, s.Status.Code, "an error of the client is none of the server")
		}
	}
}

// A span goes on with the trace of the client, whose free texts stay out, and the lines of the log have its id.
func TestSpansFollowTheClient(t *testing.T) {
	t.Parallel()
	const id, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	spans, tracing := traced()
	log := &kept{}
	d := start(t, tracing, log.option())
	call := func(pairs ...string) {
		_, err := d.sessions.ListSessions(metadata.AppendToOutgoingContext(t.Context(), pairs...), &compactordv1.ListSessionsRequest{})
		require.NoError(t, err)
	}
	call("traceparent", "00-"+id+"-"+parent+"-01", "tracestate", "vendor=free", "baggage", "a=free")
	call("traceparent", "00-"+id+"-"+parent+"-00")
	call("traceparent", "00-"+id)
	d.stop()
	found := spans.GetSpans()
	require.Len(t, found, 2, "a client that records nothing is followed too")
	require.Equal(t, id, found[0].SpanContext.TraceID().String())
	require.Equal(t, parent, found[0].Parent.SpanID().String())
	require.True(t, found[0].Parent.IsRemote())
	require.NotContains(t, fmt.Sprintf("%+v", found), "free")
	require.False(t, found[1].Parent.IsValid())
	var ids []any
	for _, line := range log.lines(t, "call") {
		ids = append(ids, line["trace_id"])
	}
	require.Equal(t, []any{id, id, found[1].SpanContext.TraceID().String()}, ids)
}

// recordedIn returns all that spans say: names, attributes, events, links, statuses.
func recordedIn(exported *tracetest.InMemoryExporter) string {
	var all strings.Builder
	for _, s := range exported.GetSpans() {
		fmt.Fprintf(&all, "%s %v %v %v %v %v\n", s.Name, s.Attributes, s.Events, s.Links, s.Status, s.SpanContext.TraceState())
	}
	return all.String()
}
