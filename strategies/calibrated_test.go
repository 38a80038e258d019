package strategies_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/strategies"
)

// reads returns a state of ten tool groups. Each has a result of 1,000 stored tokens, which are 2,000 tokens of the
// model.
func reads() *session.State {
	w := sessiontest.NewWriterBy(compactordv1.Estimator_ESTIMATOR_CALIBRATED, &compactordv1.Policy{})
	for range 10 {
		w.Append(&compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT, Parts: []*compactordv1.Part{{
			Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{Id: "c", Name: "read"}},
		}}}, nil)
		w.Append(&compactordv1.Message{Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{{
			Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
				CallId: "c", Parts: []*compactordv1.ResultPart{{
					Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: strings.Repeat("x", 4000)}},
				}},
			}},
		}}}, nil)
	}
	w.Head.Calibration = &storagev1.Calibration{Permille: 2000, Samples: 1}
	return w.State()
}

// Strategies' parameters are in tokens of the model, not in stored tokens.
func TestBudgetsOfACalibratedState(t *testing.T) {
	t.Parallel()
	in := &strategies.Input{State: reads(), Policy: &compactordv1.Policy{}}
	prune := func(keep, minimum uint32) int {
		plan, err := strategies.PruneToolOutputs{}.Plan(t.Context(), in, &compactordv1.Strategy{
			Kind: &compactordv1.Strategy_PruneToolOutputs{PruneToolOutputs: &compactordv1.PruneToolOutputsStrategy{
				KeepGroups: proto.Uint32(0), KeepTokens: proto.Uint32(keep), MinimumTokens: proto.Uint32(minimum),
			}},
		})
		require.NoError(t, err)
		return len(plan.GetEdits())
	}
	require.Equal(t, 8, prune(4000, 0), "two results are 4,000 tokens")
	require.Equal(t, 8, prune(4000, 15_998), "eight are 16,000")
	require.Zero(t, prune(4000, 16_000), "which is not more than that")

	plan, err := strategies.Summarize{}.Plan(t.Context(), in, &compactordv1.Strategy{
		Kind: &compactordv1.Strategy_Summarize{Summarize: &compactordv1.SummarizeStrategy{RecentTokens: proto.Uint32(4008)}},
	})
	require.NoError(t, err)
	require.Equal(t, uint32(16), plan.GetCut().GetFirstKeptIndex(), "two groups of 2,004 tokens each")
	require.Equal(t, uint32(8*2004), plan.GetSummarizerInputTokens())
}

// The same holds for the other strategies that hide results: a result of 1,000 stored tokens has 2,000 of the model.
func TestMinimumsOfACalibratedState(t *testing.T) {
	t.Parallel()
	in := &strategies.Input{State: reads(), Policy: &compactordv1.Policy{}}
	edits := func(parameters *compactordv1.Strategy) int {
		made, err := registry().Plan(t.Context(), in, parameters)
		require.NoError(t, err)
		return len(made.GetEdits())
	}
	hiding := func(minimum uint32) *compactordv1.Strategy {
		p := keepGroups(2)
		p.MinimumTokens = &minimum
		return hideTools(p)
	}
	require.Equal(t, 8, edits(hiding(15_998)))
	require.Zero(t, edits(hiding(16_000)))
	masked := func(minimum uint32) *compactordv1.Strategy {
		p := masking(2)
		p.MinimumTokens = &minimum
		return mask(p)
	}
	require.Equal(t, 8, edits(masked(15_998)))
	require.Zero(t, edits(masked(16_000)))

	held := in.State.Scaled(in.State.Head.GetViewTokens())
	require.Equal(t, uint32(20_040), held)
	cleared := func(trigger, minimum uint32) *compactordv1.Strategy {
		return clearUses(&compactordv1.ClearToolUsesStrategy{
			KeepCalls: proto.Uint32(2), TriggerTokens: &trigger, MinimumTokens: &minimum, Placeholder: proto.String("gone"),
		})
	}
	require.Equal(t, 8, edits(cleared(20_040, 0)))
	require.Zero(t, edits(cleared(20_041, 0)))
	require.Equal(t, 8, edits(cleared(0, 15_998)))
	require.Zero(t, edits(cleared(0, 16_000)))
}
