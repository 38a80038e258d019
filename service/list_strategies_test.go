package service_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
	"github.com/compactord/compactord/summarizers/llm"
)

// What is listed can be used: each preset, for the given limits, is the policy that a session gets.
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

// Summarizers are listed: extractive first, the others by name, with their own descriptions.
func TestListSummarizers(t *testing.T) {
	t.Parallel()
	price := &compactordv1.TokenPrice{Input: 3, Output: 15}
	profile := func(name string) summarizers.Summarizer {
		return llm.New(llm.Profile{Name: name, Kind: "openai", Model: "m-" + name, Window: 128_000, MaxOutput: 8_000, Price: price}, nobody{})
	}
	registry, err := summarizers.NewRegistry(profile("zeta"), profile("Alpha"), &scripted{name: "custom"}, extractive.New())
	require.NoError(t, err)
	d := start(t, func(o *service.ServerOptions) { o.Summarizers = registry })
	there, err := d.compactions.ListStrategies(t.Context(), &compactordv1.ListStrategiesRequest{})
	require.NoError(t, err)
	require.Len(t, there.GetSummarizers(), 4)
	var names []string
	for _, info := range there.GetSummarizers() {
		names = append(names, info.GetName())
	}
	require.Equal(t, []string{"extractive", "Alpha", "custom", "zeta"}, names)
	require.True(t, proto.Equal(&compactordv1.SummarizerInfo{Name: "extractive", Kind: "extractive", IsDefault: true}, there.GetSummarizers()[0]))
	require.True(t, proto.Equal(&compactordv1.SummarizerInfo{
		Name: "Alpha", Kind: "openai", Model: "m-Alpha", ContextWindow: 128_000, MaxOutputTokens: 8_000,
		Dialect: compactordv1.Dialect_DIALECT_OPENAI_CHAT, Price: price,
	}, there.GetSummarizers()[1]))
	require.True(t, proto.Equal(&compactordv1.SummarizerInfo{Name: "custom"}, there.GetSummarizers()[2]))
}

// nobody is a provider that is never asked.
type nobody struct{}

func (nobody) Dialect() compactordv1.Dialect { return compactordv1.Dialect_DIALECT_OPENAI_CHAT }

func (nobody) Complete(context.Context, *llm.Completion, func(string)) (*llm.Answer, error) {
	return nil, errors.New("asked")
}

// Strategies that Prune cannot run are refused also where they are nested, and so are unknown ones.
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
