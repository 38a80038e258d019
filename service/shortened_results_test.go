package service_test

import (
	"context"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/redaction/redactiontest"
)

// shortener is a strategy that has results shortened by the summarizer, each to a quarter, and cuts if a message is
// set.
type shortener struct {
	results []uint32
	cut     *uint32
}

func (*shortener) Name() string { return "shortener" }

func (s *shortener) Plan(
	_ context.Context, in *strategies.Input, _ *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	plan := &compactordv1.CompactionPlan{TokensBefore: in.State.Head.GetViewTokens()}
	for _, l := range in.State.Kept {
		for _, index := range s.results {
			if l.GetIndex() == index {
				plan.Edits = append(plan.Edits, &compactordv1.Edit{
					Index: index, Kind: compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT,
					TokensFreed: l.GetTokens() * 3 / 4, BySummarizer: true,
				})
			}
		}
	}
	if s.cut != nil && !in.EditsOnly {
		plan.Cut = &compactordv1.Cut{
			FirstKeptIndex: *s.cut, MaxSummaryTokens: 1000,
			Summarized: &compactordv1.IndexRange{Start: in.State.Kept[0].GetIndex(), End: *s.cut},
		}
	}
	return plan, nil
}

func withStrategy(s strategies.Strategy) option {
	return func(o *service.ServerOptions) {
		registry, err := strategies.NewRegistry(append(strategies.Builtin(), s)...)
		if err != nil {
			panic(err)
		}
		o.Strategies = registry
	}
}

// shortening returns a policy with the strategy and the summarizer.
func shortening(fallback compactordv1.SummaryFallback) *compactordv1.Policy {
	return by("writer", fallback, &compactordv1.Policy{Strategy: &compactordv1.Strategy{
		Kind: &compactordv1.Strategy_Custom{Custom: &compactordv1.CustomStrategy{Name: "shortener"}},
	}})
}

// observing writes a fixed text for results, and faithful summaries.
func observing(text string) *scripted {
	return &scripted{name: "writer", do: func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		if req.Kind != summarizers.Observation {
			return faithful(ctx, req, p)
		}
		p.Text(text)
		return &summarizers.Summary{
			Text: text, Model: "small", Calls: 1, Usage: &compactordv1.Usage{InputTokens: 100, OutputTokens: 10},
			CostUSD: proto.Float64(0.25),
		}, nil
	}}
}

// shortened returns what views show of a result at an index, with the shorter text.
func shortened(t *testing.T, d *daemon, index uint32) string {
	t.Helper()
	for _, vm := range d.view("s") {
		if vm.GetIndex() == index && vm.GetSummaryOf() == "" {
			return vm.GetMessage().GetParts()[0].GetToolResult().GetParts()[0].GetText().GetText()
		}
	}
	require.Fail(t, "not in the view")
	return ""
}

func TestResultsAreWrittenShorterByTheSummarizer(t *testing.T) {
	t.Parallel()
	writer, registry := observing("module 0 has 160 lines, all alike"), prometheus.NewRegistry()
	d := start(t, withSummarizer(writer), withStrategy(&shortener{results: []uint32{3, 7}}),
		func(o *service.ServerOptions) { o.Metrics = registry })
	d.create("s", shortening(noFallback))
	d.append("s", working(3, 3000)...)
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	requireGrammar(t, events)
	require.Equal(t, uint32(2), events[0].GetStarted().GetPlan().GetChunks())
	require.Empty(t, lastAttemptText(events), "it is no text of a summary")
	done := last(t, events).GetCompleted()
	require.Nil(t, done.GetCompaction())
	require.Len(t, done.GetPrune().GetEdits(), 2)
	for _, e := range done.GetPrune().GetEdits() {
		require.False(t, e.GetBySummarizer())
		require.Equal(t, shortened(t, d, e.GetIndex()), e.GetReplacement())
		require.Greater(t, e.GetTokensFreed(), uint32(600))
	}
	require.True(t, strings.HasPrefix(shortened(t, d, 3), "module 0 has 160 lines, all alike\n[A shortened result."))
	require.Contains(t, shortened(t, d, 7), "recall index 7, part 0")
	require.Equal(t, tokensOf(d.view("s")), done.GetPrune().GetTokensAfter())

	// Without a cut, the provenance of the edits has the writer and the costs.
	requireWriter(t, done.GetPrune(), "writer", "small")
	requireSpent(t, done.GetPrune(), 2, 200, 0.5)
	require.True(t, proto.Equal(done.GetPrune(), d.lastPrune("s")), "the log says the same")
	require.Equal(t, map[string]float64{
		"compactord_summarizer_calls_total writer": 2, "compactord_summarizer_cost_usd_total writer": 0.5,
		"compactord_summarizer_tokens_total input writer": 200, "compactord_summarizer_tokens_total output writer": 20,
	}, spent(t, registry))

	// The summarizer gets the result, its call and the user's last request, and nothing else of the conversation.
	require.Len(t, writer.seen(), 2)
	req := writer.seen()[0]
	require.Equal(t, "read", req.Result.Tool)
	require.Equal(t, "pkg/module0/file.go", req.Result.Argument)
	require.Equal(t, d.messages("s")[3].GetMessage().GetParts()[0].GetToolResult().GetParts()[0].GetText().GetText(),
		req.Result.Text)
	require.Equal(t, "Request 2: please look into module 2 and always keep the tests green.", req.Result.Task)
	require.Empty(t, req.Messages)
	require.Empty(t, req.Lead)
	require.Less(t, req.MaxTokens, uint32(260))

	// A shortened result is not planned again.
	events, err = d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	require.Equal(t, compactordv1.SkipReason_SKIP_REASON_NO_GAIN, last(t, events).GetSkipped().GetReason())
	d.requireChecked()
}

// A text that is no shorter is asked for once more, with the reason. Then its edit is left out.
func TestResultThatDoesNotGetShorter(t *testing.T) {
	t.Parallel()
	writer := observing(long(2000))
	d := start(t, withSummarizer(writer), withStrategy(&shortener{results: []uint32{3}}))
	d.create("s", shortening(noFallback))
	d.append("s", working(2, 3000)...)
	before := d.view("s")
	_, err := d.compact(compactRequest("s", nil))
	info := requireReason(t, err, codes.FailedPrecondition, "SUMMARY_REJECTED")
	require.Equal(t, summarizers.CheckBudget, info.GetMetadata()["check"])
	require.Len(t, writer.seen(), 2)
	require.Empty(t, writer.seen()[0].Refusal)
	require.NotEmpty(t, writer.seen()[1].Refusal)
	requireSameView(t, before, d.view("s"))

	// The fallback writes it.
	events, err := d.compact(compactRequest("s", shortening(fallingBack)))
	require.NoError(t, err)
	require.Len(t, last(t, events).GetCompleted().GetPrune().GetEdits(), 1)
	require.Contains(t, shortened(t, d, 3), "line of module 0")
	prune := last(t, events).GetCompleted().GetPrune()
	requireWriter(t, prune, "extractive", "")
	require.Equal(t, compactordv1.SummaryFallback_SUMMARY_FALLBACK_EXTRACTIVE, prune.GetProvenance().GetFallback())
	require.NotEmpty(t, prune.GetProvenance().GetFallbackCause())
	requireSpent(t, prune, 2, 200, 0.5) // a refused text costs, too
}

// Results that are short already: nobody can shorten them, so nothing is gained.
func TestNoResultGetsShorter(t *testing.T) {
	t.Parallel()
	d := start(t, withSummarizer(observing("short")), withStrategy(&shortener{results: []uint32{3}}))
	d.create("s", shortening(fallingBack))
	d.append("s", working(2, 30)...)
	before := d.view("s")
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	requireGrammar(t, events)
	require.Equal(t, compactordv1.SkipReason_SKIP_REASON_NO_GAIN, last(t, events).GetSkipped().GetReason())
	require.Contains(t, last(t, events).GetSkipped().GetMessage(), "shorter")
	require.Len(t, d.attempts(), 1)
	requireSameView(t, before, d.view("s"))
}

// With a cut, its entry has the costs of both.
func TestResultsWrittenShorterBesideACut(t *testing.T) {
	t.Parallel()
	writer := observing("nothing new")
	d := start(t, withSummarizer(writer), withStrategy(&shortener{results: []uint32{11, 15}, cut: proto.Uint32(9)}))
	d.create("s", shortening(noFallback))
	d.append("s", working(4, 3000)...)
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	requireGrammar(t, events)
	require.Equal(t, uint32(3), events[0].GetStarted().GetPlan().GetChunks())
	done := last(t, events).GetCompleted()
	require.Len(t, done.GetPrune().GetEdits(), 2)
	require.True(t, done.GetPrune().GetWithCut())
	ofCut := done.GetCompaction().GetProvenance()
	require.Equal(t, uint32(2), ofCut.GetSummarizerCalls())
	require.Equal(t, uint32(200), ofCut.GetUsage().GetInputTokens())
	require.InDelta(t, 0.5, ofCut.GetCostUsd(), 1e-9)
	requireWriter(t, done.GetPrune(), "writer", "small")
	ofEdits := done.GetPrune().GetProvenance()
	require.Nil(t, ofEdits.GetUsage(), "no figure is told twice")
	require.Nil(t, ofEdits.CostUsd)
	require.Zero(t, ofEdits.GetSummarizerCalls())
	require.Equal(t, done.GetCompaction().GetSummary(), lastAttemptText(events))
	var totals []uint32
	for _, e := range events {
		if p := e.GetProgress(); p.GetStage() == compactordv1.CompactionStage_COMPACTION_STAGE_SUMMARIZE {
			totals = append(totals, p.GetTotal())
		}
	}
	for _, total := range totals {
		require.Equal(t, totals[0], total, "one total for all that is read")
	}
}

// A cancel ends the summarizer, and only the attempt is written. A failure of the summarizer fails everything.
func TestResultsWrittenShorterAreCancelled(t *testing.T) {
	t.Parallel()
	began := make(chan struct{})
	writer := &scripted{name: "writer", do: func(
		ctx context.Context, _ *summarizers.Request, _ summarizers.Progress,
	) (*summarizers.Summary, error) {
		close(began)
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	d := start(t, withSummarizer(writer), withStrategy(&shortener{results: []uint32{3}}))
	d.create("s", shortening(fallingBack))
	d.append("s", working(2, 3000)...)
	before := d.view("s")
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-began; cancel() }()
	_, err := d.compactCtx(ctx, compactRequest("s", nil))
	require.Equal(t, codes.Canceled, statusCode(err))
	d.waitForCompactions()
	requireSameView(t, before, d.view("s"))
	require.Len(t, d.attempts(), 1)
	require.Equal(t, compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_CANCELLED, d.attempts()[0].GetOutcome())
}

// Prune has no summarizer, so it refuses any plan that needs one.
func TestPruneRefusesWhatNeedsASummarizer(t *testing.T) {
	t.Parallel()
	writer := observing("short")
	d := start(t, withSummarizer(writer), withStrategy(&shortener{results: []uint32{3}}))
	d.create("s", nil)
	d.append("s", working(2, 3000)...)
	policy := shortening(noFallback)
	policy.PruneStrategy = policy.GetStrategy()
	_, err := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, Policy: policy,
	})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	require.ErrorContains(t, err, "policy.prune_strategy")
	require.Empty(t, writer.seen())
}

// The entry names the fallback if it wrote one of several texts.
func TestOneOfTwoResultsIsWrittenByTheFallback(t *testing.T) {
	t.Parallel()
	good, bad := observing("module 0 is all alike"), observing(long(2000))
	writer := &scripted{name: "writer", do: func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		if req.Result.Index == 3 {
			return good.do(ctx, req, p)
		}
		return bad.do(ctx, req, p)
	}}
	d := start(t, withSummarizer(writer), withStrategy(&shortener{results: []uint32{3, 7}}))
	d.create("s", shortening(fallingBack))
	d.append("s", working(3, 3000)...)
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	prune := last(t, events).GetCompleted().GetPrune()
	require.Len(t, prune.GetEdits(), 2)
	requireWriter(t, prune, "extractive", "small")
	require.Equal(t, compactordv1.SummaryFallback_SUMMARY_FALLBACK_EXTRACTIVE, prune.GetProvenance().GetFallback())
	requireSpent(t, prune, 3, 300, 0.75)
}

// Edits without a summarizer's text name no summarizer, but have the costs of a refused summary.
func TestEditsAloneHaveTheCostsOfARefusedSummary(t *testing.T) {
	t.Parallel()
	const tooMuch = 5000
	writer := &scripted{name: "writer", do: func(
		context.Context, *summarizers.Request, summarizers.Progress,
	) (*summarizers.Summary, error) {
		return &summarizers.Summary{
			Text: "## Goal\n" + long(tooMuch), Calls: 1, Usage: &compactordv1.Usage{InputTokens: 100}, CostUSD: proto.Float64(0.25),
		}, nil
	}}
	registry, err := summarizers.NewRegistry(writer, &scripted{name: "extractive", do: func(
		context.Context, *summarizers.Request, summarizers.Progress,
	) (*summarizers.Summary, error) {
		return &summarizers.Summary{Text: "## Goal\n" + long(tooMuch)}, nil
	}})
	require.NoError(t, err)
	d := start(t, func(o *service.ServerOptions) { o.Summarizers = registry })
	policy := by("writer", fallingBack, hideAndCut(2))
	policy.GetStrategy().GetLadder().GetRungs()[1].GetStrategy().GetSummarize().MaxSummaryTokens = proto.Uint32(64)
	d.create("s", policy)
	messages := []*compactordv1.Message{user("u1"), assistant("", call("a", "read", "{}")), toolResult("a", long(66))}
	d.append("s", append(messages, working(2, 2000)[1:]...)...)
	req := compactRequest("s", nil)
	req.Focus = redactiontest.Credentials(1, 1)[0].Text
	events, err := d.compact(req)
	require.NoError(t, err)
	done := last(t, events).GetCompleted()
	require.Nil(t, done.GetCompaction())
	requireWriter(t, done.GetPrune(), "", "")
	requireSpent(t, done.GetPrune(), 2, 200, 0.5)
	require.Zero(t, done.GetPrune().GetProvenance().GetFallback())
	require.Positive(t, done.GetPrune().GetProvenance().GetRedactions(), "what was sent was redacted")
}

func requireWriter(t *testing.T, e *compactordv1.PruneEntry, summarizer, model string) {
	t.Helper()
	provenance := e.GetProvenance()
	require.Equal(t, summarizer, provenance.GetSummarizer())
	require.Equal(t, model, provenance.GetModel())
}

func requireSpent(t *testing.T, e *compactordv1.PruneEntry, calls, input uint32, cost float64) {
	t.Helper()
	provenance := e.GetProvenance()
	require.Equal(t, calls, provenance.GetSummarizerCalls())
	require.Equal(t, input, provenance.GetUsage().GetInputTokens())
	require.InDelta(t, cost, provenance.GetCostUsd(), 1e-9)
}

// lastPrune returns the newest PruneEntry of the log.
func (d *daemon) lastPrune(id string) *compactordv1.PruneEntry {
	d.t.Helper()
	var prune *compactordv1.PruneEntry
	for _, r := range d.records(id) {
		if r.GetPrune() != nil {
			prune = r.GetPrune()
		}
	}
	return prune
}

// spent returns the metrics of summarizers that are not 0, with their labels.
func spent(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	return figuresOf(t, registry, "compactord_summarizer_")
}

// figuresOf returns the counters with this prefix that are not 0, with their labels.
func figuresOf(t *testing.T, registry *prometheus.Registry, prefix string) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	figures := make(map[string]float64)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			if value := m.GetCounter().GetValue(); strings.HasPrefix(name, prefix) && value > 0 {
				figures[name] = value
			}
		}
	}
	return figures
}
