package service_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/strategies/strategiestest"
	"github.com/compactord/compactord/summarizers"
)

// I1 to I8 and I13 for each strategy, each preset and each nesting. Each session has a preset, and is compacted,
// pruned, pinned and reverted by the preset and by drawn strategies, for each reason.
func TestInvariantsForEveryStrategyAndPreset(t *testing.T) {
	t.Parallel()
	counts := make(map[string]int)
	// Another round finds what was too rare by chance.
	for range 4 {
		rapid.Check(t, func(t *rapid.T) { liveUnderPresets(t, counts) })
		if t.Failed() || testing.Short() || rareOfStrategies(counts) == "" {
			break
		}
	}
	t.Log(describe(counts))
	if fullRun() {
		require.Empty(t, rareOfStrategies(counts), "too rare to mean anything")
	}
}

func liveUnderPresets(t *rapid.T, counts map[string]int) {
	w := newCheckedService(t, counts, func(low, high int, label string) int { return between(t, low, high, label) })
	defer w.service.Close()
	w.underPreset()
	for range between(t, 10, 60, "steps") {
		switch n := between(t, 0, 99, "step"); {
		case n < 66:
			w.message(t)
		case n < 82:
			w.compactByAny(func() { w.message(t) })
		case n < 90:
			w.pruneByAny()
		case n < 93:
			w.pin()
		case n < 95:
			w.revert()
		case n < 98:
			w.besideMessages()
		default:
			w.underPreset()
		}
		w.check()
	}
	problems, err := sessionlog.Check(t.Context(), w.store, "")
	require.NoError(t, err)
	require.Empty(t, problems)
}

// rareOfStrategies returns what was too rare; empty where nothing was.
func rareOfStrategies(counts map[string]int) string {
	least := map[string]int{
		"compaction": 5, "edits by a compaction": 5, "edits beside a cut": 5, "prune": 5, "by a drawn strategy": 5,
		"commit of a plan": 5, "provider's item": 5, "plan of a client": 5, "plan of a client refused": 5,
		"the agent's prompt was drawn": 5, "summary that ends in file tags": 5,
		"context block set": 5, "instructions replaced": 5, "extra block": 5,
	}
	for _, preset := range strategies.PresetNames() {
		least["under "+preset] = 1
	}
	for class, n := range least {
		if counts[class] < n {
			return class
		}
	}
	return ""
}

// underPreset sets a preset as the session's policy.
func (w *checkedService) underPreset() {
	names := strategies.PresetNames()
	name := names[w.draw(0, len(names)-1, "preset")]
	w.counts["under "+name]++
	_, err := w.service.UpdateSession(w.t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: checkedSession, UpdateMask: mask("policy"), Policy: &compactordv1.Policy{
			Preset: &name, ContextWindow: proto.Uint32(uint32(w.draw(500, 8000, "window"))),
			MaxOutputTokens: proto.Uint32(uint32(w.draw(1, 200, "output"))),
			Summary:         w.drawSummary(),
			ContextBlocks: &compactordv1.ContextBlockPolicy{
				AllowOperator: proto.Bool(true), MaxTokens: proto.Uint32(uint32(w.draw(0, 2, "tokens of blocks")) * 60),
			},
		},
	})
	require.NoError(w.t, err)
}

// drawSummary draws a summary policy, with a summarizer that gets the agent's own prompt like a model.
func (w *checkedService) drawSummary() *compactordv1.SummaryPolicy {
	s := &compactordv1.SummaryPolicy{
		Summarizer:   proto.String("recorder"),
		FileTags:     proto.Bool(w.draw(0, 1, "file tags") == 1),
		CachedPrefix: proto.Bool(w.draw(0, 1, "cached prefix") == 1),
		Redact:       proto.Bool(w.draw(0, 2, "redact") == 0),
	}
	if n := w.draw(0, 3, "placement"); n > 0 {
		s.Placement = compactordv1.SummaryPlacement(n).Enum()
	}
	lists := sessiontest.SectionLists()
	names := slices.Sorted(maps.Keys(lists))
	if n := w.draw(0, len(names), "sections"); n > 0 {
		s.Sections = &compactordv1.SectionList{Sections: lists[names[n-1]]}
	}
	all := dialects.All()
	d := all[w.draw(0, len(all)-1, "dialect")]
	w.recorder.do = func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		if req.View != nil {
			if _, err := req.View(ctx, d.Kind()); err == nil {
				w.counts["the agent's prompt was drawn"]++
			}
		}
		return faithful(ctx, req, p)
	}
	return s
}

// compactByAny compacts by the session's preset or by a drawn strategy, for a drawn reason.
func (w *checkedService) compactByAny(meanwhile func()) {
	var policy *compactordv1.Policy
	if w.draw(0, 2, "drawn") > 0 {
		w.counts["by a drawn strategy"]++
		drawn := strategiestest.Draw(w.draw)
		policy = &compactordv1.Policy{Strategy: drawn.Strategy(strategiestest.Any)}
		if w.draw(0, 2, "a ladder of two") == 0 {
			policy = rungs(drawn.Nested(strategiestest.EditsOnly, 3), drawn.Nested(strategiestest.Any, 3))
		}
	}
	req := compactRequest(checkedSession, policy)
	req.Reason = []compactordv1.CompactionReason{manual, threshold, tooLong}[w.draw(0, 2, "reason")]
	before := w.view()
	switch w.draw(0, 5, "by the client's model") {
	case 0:
		w.compactByClient(req, before, nil)
		return
	case 1:
		w.compactByClient(req, before, meanwhile)
		return
	case 2:
		w.compactByOwnPlan(before)
		return
	}
	w.recorder.requests, w.fallback.requests = nil, nil
	stream := newMemoryStream(w.t.Context())
	if err := w.service.Compact(req, stream); err != nil {
		require.Equal(w.t, codes.FailedPrecondition, status.Code(err), "%v", err)
		w.counts["compaction held up"]++
		requireSameBytes(w.t, before, w.view())
		return
	}
	end := stream.events[len(stream.events)-1]
	if end.GetCompleted() == nil {
		require.NotNil(w.t, end.GetSkipped())
		w.counts["compaction skipped: "+end.GetSkipped().GetReason().String()]++
		requireSameBytes(w.t, before, w.view())
		return
	}
	w.completed(end.GetCompleted(), before)
}

// pruneByAny prunes by the session's preset or by a drawn strategy.
func (w *checkedService) pruneByAny() {
	var policy *compactordv1.Policy
	if w.draw(0, 2, "drawn") > 0 {
		policy = &compactordv1.Policy{PruneStrategy: strategiestest.Draw(w.draw).Strategy(strategiestest.EditsOnly)}
	}
	before := w.view()
	answer, err := w.service.Prune(w.t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: checkedSession}, Policy: policy,
		Reason: []compactordv1.CompactionReason{manual, tooLong}[w.draw(0, 1, "reason")],
	})
	require.NoError(w.t, err)
	if answer.GetPrune() == nil {
		w.counts["prune skipped"]++
		requireSameBytes(w.t, before, w.view())
		return
	}
	w.counts["prune"]++
	require.Less(w.t, tokensOf(w.view()), tokensOf(before), "the view shrinks")
}
