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
	require.Equal(t, uint32(14_000), resolved.GetRecentTokens(), "35 % of the window")
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
