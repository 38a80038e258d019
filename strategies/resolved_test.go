package strategies_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

func TestResolvedFillsInDefaults(t *testing.T) {
	registry, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(t, err)
	policy, err := strategies.Resolve(&compactordv1.Policy{ContextWindow: proto.Uint32(40_000)})
	require.NoError(t, err)
	given := &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{
		Summarize: &compactordv1.SummarizeStrategy{},
	}}
	before := proto.CloneOf(given)
	resolved := registry.Resolved(policy, given).GetSummarize()
	require.Equal(t, uint32(8_000), resolved.GetRecentTokens(), "with the summary 40 % of the window")
	require.Equal(t, uint32(8_000), resolved.GetMaxSummaryTokens(), "0.8 of the reserve of a quarter")
	require.Equal(t, compactordv1.SplitTurn_SPLIT_TURN_SUMMARY, resolved.GetSplitTurn())
	require.True(t, proto.Equal(before, given), "what was given stays")

	turns := &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{
		Summarize: &compactordv1.SummarizeStrategy{RecentTurns: proto.Uint32(2)},
	}}
	require.Nil(t, registry.Resolved(policy, turns).GetSummarize().RecentTokens, "another rule is given")

	prune := registry.Resolved(policy, &compactordv1.Strategy{Kind: &compactordv1.Strategy_PruneToolOutputs{}})
	require.Equal(t, uint32(2), prune.GetPruneToolOutputs().GetProtectTurns())
	require.Equal(t, uint32(40_000), prune.GetPruneToolOutputs().GetProtectTokens())
}

func TestResolvedFillsInWhatHidingLeavesOut(t *testing.T) {
	policy := &compactordv1.Policy{}
	ours := proto.String("[The result of {tool} ({tokens} tokens) was hidden to free context. " +
		"To read it again, recall index {index}, part {part}.]")
	zero := proto.Uint32(0)
	for _, c := range []struct{ given, want *compactordv1.Strategy }{
		{hideTools(nil), hideTools(&compactordv1.HideToolResultsStrategy{
			KeepGroups: proto.Uint32(5), Placeholder: ours, KeepMessages: zero, MinChars: zero, MinimumTokens: zero,
		})},
		{
			hideTools(&compactordv1.HideToolResultsStrategy{
				KeepGroups: zero, Placeholder: proto.String("[gone]"), KeepMessages: proto.Uint32(1), MinChars: proto.Uint32(2),
				MinimumTokens: proto.Uint32(3), ProtectedTools: []string{"skill"},
			}),
			hideTools(&compactordv1.HideToolResultsStrategy{
				KeepGroups: zero, Placeholder: proto.String("[gone]"), KeepMessages: proto.Uint32(1), MinChars: proto.Uint32(2),
				MinimumTokens: proto.Uint32(3), ProtectedTools: []string{"skill"},
			}),
		},
		{mask(nil), mask(&compactordv1.MaskObservationsStrategy{
			Window: proto.Uint32(10), Unit: compactordv1.MaskUnit_MASK_UNIT_GROUP.Enum(), Placeholder: ours, MinChars: zero,
			ActiveFileGroups: zero, MinimumTokens: zero,
		})},
		{
			mask(&compactordv1.MaskObservationsStrategy{
				Window: proto.Uint32(1), Unit: compactordv1.MaskUnit_MASK_UNIT_TURN.Enum(), ActiveFileGroups: proto.Uint32(3),
			}),
			mask(&compactordv1.MaskObservationsStrategy{
				Window: proto.Uint32(1), Unit: compactordv1.MaskUnit_MASK_UNIT_TURN.Enum(), ActiveFileGroups: proto.Uint32(3),
				Placeholder: ours, MinChars: zero, MinimumTokens: zero,
			}),
		},
		{clearUses(nil), clearUses(&compactordv1.ClearToolUsesStrategy{
			Keep: proto.Uint32(3), TriggerTokens: proto.Uint32(100_000), ClearAtLeast: zero, ClearInputs: proto.Bool(false),
			Placeholder: ours,
		})},
		{
			clearUses(&compactordv1.ClearToolUsesStrategy{
				Keep: zero, TriggerTokens: zero, ClearAtLeast: proto.Uint32(1), ClearInputs: proto.Bool(true),
			}),
			clearUses(&compactordv1.ClearToolUsesStrategy{
				Keep: zero, TriggerTokens: zero, ClearAtLeast: proto.Uint32(1), ClearInputs: proto.Bool(true), Placeholder: ours,
			}),
		},
	} {
		before := proto.CloneOf(c.given)
		requireEqual(t, c.want, registry().Resolved(policy, c.given))
		requireEqual(t, before, c.given)
	}
}
