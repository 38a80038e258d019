package service_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// What is listed can be asked for: each preset, for the limits that were asked about, is what a session gets.
func TestListStrategies(t *testing.T) {
	t.Parallel()
	d := start(t)
	there, err := d.compactions.ListStrategies(t.Context(), &compactordv1.ListStrategiesRequest{
		ContextWindow: proto.Uint32(100_000), MaxOutputTokens: proto.Uint32(8_192),
	})
	require.NoError(t, err)
	var names []string
	for _, s := range there.GetStrategies() {
		names = append(names, s.GetName())
	}
	registry, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(t, err)
	require.ElementsMatch(t, registry.Names(), names)
	require.Len(t, there.GetPresets(), len(strategies.PresetNames()))
	for _, p := range there.GetPresets() {
		require.Equal(t, uint32(100_000), p.GetPolicy().GetContextWindow())
		created, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{
			Policy: &compactordv1.Policy{
				Preset: proto.String(p.GetName()), ContextWindow: proto.Uint32(100_000), MaxOutputTokens: proto.Uint32(8_192),
			},
		})
		require.NoError(t, err, p.GetName())
		require.True(t, proto.Equal(p.GetPolicy(), created.GetSession().GetResolvedPolicy()), p.GetName())
	}

	there, err = d.compactions.ListStrategies(t.Context(), &compactordv1.ListStrategiesRequest{})
	require.NoError(t, err)
	require.Nil(t, there.GetPresets()[0].GetPolicy().ContextWindow)

	_, err = d.compactions.ListStrategies(t.Context(), &compactordv1.ListStrategiesRequest{ContextWindow: proto.Uint32(0)})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
}

// What Prune cannot do is refused wherever it stands, and so is what nobody registered.
func TestPoliciesThatNestAreChecked(t *testing.T) {
	t.Parallel()
	d := start(t)
	ladder := func(s *compactordv1.Strategy) *compactordv1.Strategy {
		return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Ladder{Ladder: &compactordv1.LadderStrategy{
			Rungs: []*compactordv1.LadderStrategy_Rung{{Strategy: s}},
		}}}
	}
	cut := &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{Summarize: &compactordv1.SummarizeStrategy{}}}
	unknown := &compactordv1.Strategy{Kind: &compactordv1.Strategy_Custom{Custom: &compactordv1.CustomStrategy{Name: "yours"}}}
	for _, c := range []struct {
		name   string
		policy *compactordv1.Policy
		reason string
		field  string
	}{
		{
			"a cut in prune_strategy", &compactordv1.Policy{PruneStrategy: ladder(cut)}, "INVALID_FIELD",
			"policy.prune_strategy.ladder.rungs[0].strategy",
		},
		{
			"an unknown name", &compactordv1.Policy{Strategy: ladder(ladder(unknown))}, "UNKNOWN_NAME",
			"policy.strategy.ladder.rungs[0].strategy.ladder.rungs[0].strategy",
		},
		{
			"five deep", &compactordv1.Policy{Strategy: ladder(ladder(ladder(ladder(cut))))}, "INVALID_POLICY",
			"policy.strategy.ladder.rungs[0].strategy.ladder.rungs[0].strategy.ladder.rungs[0].strategy.ladder.rungs[0].strategy",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{Policy: c.policy})
			requireReason(t, err, codes.InvalidArgument, c.reason)
			require.ErrorContains(t, err, c.field+":")
		})
	}
	_, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{
		Policy: &compactordv1.Policy{Strategy: ladder(ladder(ladder(cut)))},
	})
	require.NoError(t, err)
}
