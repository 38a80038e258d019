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
	require.Equal(t, uint32(2), prune.GetPruneToolOutputs().GetKeepTurns())
	require.Equal(t, uint32(40_000), prune.GetPruneToolOutputs().GetKeepTokens())
}

func TestResolvedFillsInWhatHidingLeavesOut(t *testing.T) {
	policy := &compactordv1.Policy{}
	ours := proto.String("[The result of {tool} ({tokens} tokens) was hidden to free context. " +
		"To read it again, recall index {index}, part {part}.]")
	zero, no := proto.Uint32(0), proto.Bool(false)
	for _, c := range []struct{ given, want *compactordv1.Strategy }{
		{hideTools(nil), hideTools(&compactordv1.HideToolResultsStrategy{
			KeepGroups: proto.Uint32(5), Placeholder: ours, KeepMessages: zero, MinChars: zero, MinimumTokens: zero,
			ClearArguments: no,
		})},
		{
			hideTools(&compactordv1.HideToolResultsStrategy{
				KeepGroups: zero, Placeholder: proto.String("[gone]"), KeepMessages: proto.Uint32(1), MinChars: proto.Uint32(2),
				MinimumTokens: proto.Uint32(3), ProtectedTools: []string{"skill"}, ClearArguments: proto.Bool(true),
			}),
			hideTools(&compactordv1.HideToolResultsStrategy{
				KeepGroups: zero, Placeholder: proto.String("[gone]"), KeepMessages: proto.Uint32(1), MinChars: proto.Uint32(2),
				MinimumTokens: proto.Uint32(3), ProtectedTools: []string{"skill"}, ClearArguments: proto.Bool(true),
			}),
		},
		{mask(nil), mask(&compactordv1.MaskObservationsStrategy{
			KeepGroups: proto.Uint32(10), Placeholder: ours, MinChars: zero,
			ActiveFileGroups: zero, MinimumTokens: zero, ClearArguments: no,
		})},
		{
			mask(&compactordv1.MaskObservationsStrategy{
				KeepTurns: proto.Uint32(1), ActiveFileGroups: proto.Uint32(3),
			}),
			mask(&compactordv1.MaskObservationsStrategy{
				KeepTurns: proto.Uint32(1), ActiveFileGroups: proto.Uint32(3),
				Placeholder: ours, MinChars: zero, MinimumTokens: zero, ClearArguments: no,
			}),
		},
		{clearUses(nil), clearUses(&compactordv1.ClearToolUsesStrategy{
			KeepCalls: proto.Uint32(3), TriggerTokens: proto.Uint32(100_000), MinimumTokens: zero, ClearArguments: no,
			Placeholder: ours, MinChars: zero,
		})},
		{
			clearUses(&compactordv1.ClearToolUsesStrategy{
				KeepCalls: zero, TriggerTokens: zero, MinimumTokens: proto.Uint32(1), ClearArguments: proto.Bool(true),
			}),
			clearUses(&compactordv1.ClearToolUsesStrategy{
				KeepCalls: zero, TriggerTokens: zero, MinimumTokens: proto.Uint32(1), ClearArguments: proto.Bool(true), Placeholder: ours,
				MinChars: zero,
			}),
		},
		{pruneTools(nil), pruneTools(&compactordv1.PruneToolOutputsStrategy{
			KeepTurns: proto.Uint32(2), KeepTokens: proto.Uint32(40_000), MinimumTokens: proto.Uint32(20_000), ClearArguments: no,
			Placeholder: ours, MinChars: zero,
		})},
		{
			pruneTools(&compactordv1.PruneToolOutputsStrategy{KeepGroups: zero, KeepTokens: zero, MinimumTokens: zero}),
			pruneTools(&compactordv1.PruneToolOutputsStrategy{
				KeepGroups: zero, KeepTokens: zero, MinimumTokens: zero, ClearArguments: no, Placeholder: ours, MinChars: zero,
			}),
		},
	} {
		before := proto.CloneOf(c.given)
		requireEqual(t, c.want, registry().Resolved(policy, c.given))
		requireEqual(t, before, c.given)
	}
}
