package policies_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/policies"
	"github.com/compactord/compactord/service/tenant"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

func resolver(t *testing.T) *policies.Resolver {
	t.Helper()
	planners, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(t, err)
	by, err := summarizers.NewRegistry(extractive.New())
	require.NoError(t, err)
	return policies.NewResolver(planners, by)
}

func based(preset string, due uint32) *compactordv1.Policy {
	return &compactordv1.Policy{Preset: &preset, Trigger: &compactordv1.Trigger{TriggerTokens: &due}}
}

// Every problem with a set is found at once, under the path of its key.
func TestEveryProblemWithASet(t *testing.T) {
	t.Parallel()
	set := &policies.Set{
		Named: map[string]*compactordv1.Policy{
			"Ours": based("pi", 1), "pi": based("default", 1), "baseless": {}, "other": based("fast", 1),
			"range":      based("pi", 0),
			"writer":     {Preset: proto.String("pi"), Summary: &compactordv1.SummaryPolicy{Summarizer: proto.String("nobody")}},
			"reserve":    {Preset: proto.String("pi"), ContextWindow: proto.Uint32(9_000), Trigger: &compactordv1.Trigger{ReserveTokens: proto.Uint32(9_000)}},
			"large":      manyFileTools(70 << 10),
			"impossible": {Preset: proto.String("pi"), PruneStrategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{Summarize: &compactordv1.SummarizeStrategy{}}}},
			"right":      based("pi", 5_000),
		},
	}
	set.Named["large"].Preset = proto.String("pi")
	err := resolver(t).Check(set)
	for _, problem := range []string{
		`policies: "Ours" is no name`, "policies.pi: a preset has this name", "policies.baseless.preset must name the preset",
		`policies.other.preset: there is no preset "fast"`, "policies.range.trigger.trigger_tokens: must be",
		"policies.writer.summary.summarizer: ", "policies.reserve.trigger.reserve_tokens: a reserve of 9000 tokens",
		"policies.large.file_tools.tools: ", "policies.impossible.prune_strategy: `summarize` cuts",
	} {
		require.ErrorContains(t, err, problem)
	}
	require.NotContains(t, err.Error(), "right")
	require.Len(t, strings.Split(err.Error(), "\n"), len(set.Named)-1)
}

func TestBoundsOfASet(t *testing.T) {
	t.Parallel()
	set := &policies.Set{Named: map[string]*compactordv1.Policy{}, OfTenants: map[string]string{}}
	for i := range policies.MaxNamed {
		set.Named[fmt.Sprint("p", i)] = based("pi", 5_000)
	}
	require.NoError(t, resolver(t).Check(set))
	set.Named["more"] = based("pi", 5_000)
	require.ErrorContains(t, resolver(t).Check(set), "at most 64 policies")
	large := &policies.Set{Named: map[string]*compactordv1.Policy{}}
	for i := range 20 {
		text := based("pi", 5_000)
		text.Summary = &compactordv1.SummaryPolicy{PromptOverride: proto.String(strings.Repeat("x", 60<<10))}
		large.Named[fmt.Sprint("p", i)] = text
	}
	require.ErrorContains(t, resolver(t).Check(large), "at most 1024 KiB together")
	for i := range policies.MaxTenants + 1 {
		set.OfTenants[fmt.Sprint("t", i)] = "pi"
	}
	require.ErrorContains(t, set.CheckNames(), "at most 10000 tenants")
	set.OfTenants = map[string]string{"A": "pi", "b": "nope"}
	set.DefaultName = "nope"
	err := set.CheckNames()
	require.ErrorContains(t, err, `tenant_policies: "A" is no tenant`)
	require.ErrorContains(t, err, `tenant_policies.b: there is no preset or policy "nope"`)
	require.ErrorContains(t, err, `default_policy: there is no preset or policy "nope"`)
}

// What a session keeps does not change with the operator's policies, and a set that does not hold changes nothing.
func TestSessionsKeepTheirPolicies(t *testing.T) {
	t.Parallel()
	r := resolver(t)
	require.NoError(t, r.Use(&policies.Set{
		Named: map[string]*compactordv1.Policy{"ours": based("pi", 5_000)}, OfTenants: map[string]string{"a": "ours"},
	}))
	ctx := tenant.With(t.Context(), "a")
	given, err := r.OfSession(ctx, nil)
	require.NoError(t, err)
	before, err := r.Resolve(t.Context(), given)
	require.NoError(t, err)
	require.Equal(t, uint32(5_000), before.GetTrigger().GetTriggerTokens())

	require.Error(t, r.Use(&policies.Set{DefaultName: "nope"}))
	require.Equal(t, []string{"ours"}, r.Set().Names()[len(strategies.PresetNames()):])
	require.NoError(t, r.Use(&policies.Set{
		Named: map[string]*compactordv1.Policy{"theirs": based("kimi", 7_000)}, DefaultName: "theirs",
	}))
	after, err := r.Resolve(t.Context(), given)
	require.NoError(t, err)
	require.True(t, proto.Equal(before, after))
	given, err = r.OfSession(ctx, &compactordv1.Policy{Preset: proto.String("ours")})
	require.NoError(t, err)
	_, err = r.Resolve(t.Context(), given)
	require.ErrorContains(t, err, `preset "ours"`)
	given, err = r.OfSession(ctx, &compactordv1.Policy{})
	require.NoError(t, err)
	require.Equal(t, "kimi", given.GetPreset())
}

// A policy is bounded with what it names.
func TestPolicyIsBoundedWithWhatItNames(t *testing.T) {
	t.Parallel()
	r := resolver(t)
	texts := based("pi", 5_000)
	texts.Summary = &compactordv1.SummaryPolicy{ToolsJson: proto.String(`[` + strings.Repeat(" ", 900<<10) + `]`)}
	require.NoError(t, r.Use(&policies.Set{Named: map[string]*compactordv1.Policy{"ours": texts}}))
	own := &compactordv1.Policy{Preset: proto.String("ours"), Summary: &compactordv1.SummaryPolicy{ExtraContext: &compactordv1.TextList{}}}
	for range 8 {
		own.Summary.ExtraContext.Texts = append(own.Summary.ExtraContext.Texts, strings.Repeat("x", 60<<10))
	}
	require.NoError(t, policies.CheckSize(&compactordv1.CreateSessionRequest{Policy: own}))
	_, err := r.OfCall(t.Context(), own)
	require.ErrorContains(t, err, "KiB together")
}
