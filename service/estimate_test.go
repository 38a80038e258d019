package service_test

import (
	"context"
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/summarizers"
)

// estimating is a model with a window of this many tokens that can estimate a request.
type estimating struct {
	*persistent
	window    uint32
	estimates int
	fails     error
}

func (e *estimating) Estimate(_ context.Context, req *summarizers.Request) (*summarizers.Estimate, error) {
	e.estimates++
	if req.Redact != nil {
		return nil, errors.New("nothing leaves the daemon")
	}
	return &summarizers.Estimate{Calls: 3, InputTokens: 1000, CostUSD: proto.Float64(0.125)}, e.fails
}

func (e *estimating) Describe() *compactordv1.SummarizerInfo {
	return &compactordv1.SummarizerInfo{Name: "model", ContextWindow: e.window}
}

// A dry run returns the estimate for all requests to the summarizer. A run returns it only where it has to look at the
// conversation anyway.
func TestPlanHasTheEstimate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		window    uint32
		dry       bool
		fails     error
		estimates int
		calls     uint32
		tokens    uint32
	}{
		"a dry run":                      {200_000, true, nil, 2, 6, 2000},
		"a run that fits a window":       {200_000, false, nil, 0, 2, 0},
		"a run that does not":            {4_000, false, nil, 2, 6, 2000},
		"a dry run that nobody foresees": {200_000, true, errors.New("none"), 1, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			model := &estimating{persistent: persisting(faithful), window: c.window, fails: c.fails}
			d := start(t, withSummarizer(model))
			d.create("s", by("model", noFallback, small(20)))
			d.append("s", working(4, 2000)...)
			req := compactRequest("s", nil)
			req.DryRun = c.dry
			events, err := d.compact(req)
			require.NoError(t, err)
			plan := events[0].GetStarted().GetPlan()
			if c.dry {
				require.Len(t, events, 1)
				plan = events[0].GetPlanned()
				require.Empty(t, model.seen(), "a dry run asks for nothing")
			}
			require.NotNil(t, plan.GetCut().SplitTurnStart)
			require.Equal(t, c.estimates, model.estimates)
			require.Equal(t, c.calls, plan.GetChunks())
			require.Equal(t, c.tokens, plan.GetSummarizerInputTokens())
			require.InDelta(t, float64(c.tokens)/8000, plan.GetEstimatedCostUsd(), 0)
			require.Equal(t, c.tokens > 0, plan.EstimatedCostUsd != nil)
		})
	}
}

// `extractive` has no model, so there is nothing to estimate.
func TestPlanOfExtractiveSendsNothing(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	req := compactRequest("s", nil)
	req.DryRun = true
	events, err := d.compact(req)
	require.NoError(t, err)
	plan := events[0].GetPlanned()
	require.Equal(t, uint32(1), plan.GetChunks())
	require.Zero(t, plan.GetSummarizerInputTokens())
	require.Nil(t, plan.EstimatedCostUsd)
}

// Fallbacks and refused texts are counted by their causes.
func TestSummariesAreCounted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want map[string]float64
	}{
		"refused text": {
			&summarizers.CheckError{Check: "empty"},
			map[string]float64{"compactord_summaries_rejected_total empty model": 2, "compactord_fallbacks_total rejected": 2},
		},
		"wrong key":    {&summarizers.ProviderError{Status: 401}, map[string]float64{"compactord_fallbacks_total refused": 2}},
		"out of reach": {&summarizers.ProviderError{Status: 503, Retryable: true}, map[string]float64{"compactord_fallbacks_total unavailable": 2}},
		"time limit":   {&summarizers.ProviderError{Code: "timeout", Retryable: true}, map[string]float64{"compactord_fallbacks_total timeout": 2}},
	} {
		t.Run(name, func(t *testing.T) {
			registry := prometheus.NewRegistry()
			d := start(t, withSummarizer(persisting(fails(c.err))), func(o *service.ServerOptions) { o.Metrics = registry })
			d.create("s", by("model", fallingBack, small(20)))
			d.append("s", working(4, 2000)...)
			events, err := d.compact(compactRequest("s", nil))
			require.NoError(t, err)
			require.NotNil(t, last(t, events).GetCompleted())
			got := figuresOf(t, registry, "compactord_")
			for name, value := range c.want {
				require.InDelta(t, value, got[name], 0, name)
			}
			require.Len(t, figuresOf(t, registry, "compactord_fallbacks_total"), 1)
		})
	}
}

// The retries and refused texts inside of a summarizer are counted too.
func TestWhatASummarizerRepeatsIsCounted(t *testing.T) {
	t.Parallel()
	model := persisting(func(context.Context, *summarizers.Request, summarizers.Progress) (*summarizers.Summary, error) {
		return &summarizers.Summary{Calls: 7, Retries: 3, Rejected: []string{"empty", "size"}}, &summarizers.CheckError{Check: "size"}
	})
	registry := prometheus.NewRegistry()
	d := start(t, withSummarizer(model), func(o *service.ServerOptions) { o.Metrics = registry })
	d.create("s", by("model", fallingBack, small(1000)))
	d.append("s", working(10, 2000)...)
	_, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	texts := float64(len(model.seen()))
	got := figuresOf(t, registry, "compactord_summar")
	require.InDelta(t, 3*texts, got["compactord_summarizer_retries_total model"], 0)
	require.InDelta(t, texts, got["compactord_summaries_rejected_total empty model"], 0)
	require.InDelta(t, 2*texts, got["compactord_summaries_rejected_total size model"], 0)
}
