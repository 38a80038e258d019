package strategies_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// talking is a custom strategy that describes itself.
type talking struct{ fake }

func (talking) Description() string { return "Forgets all." }

func catalogue(t *testing.T, l strategies.Limits, more ...strategies.Strategy) *compactordv1.ListStrategiesResponse {
	t.Helper()
	r, err := strategies.NewRegistry(append(strategies.Builtin(), more...)...)
	require.NoError(t, err)
	all, err := strategies.Catalogue(r, l, nil)
	require.NoError(t, err)
	return all
}

func strategyInfo(t *testing.T, all *compactordv1.ListStrategiesResponse, name string) *compactordv1.StrategyInfo {
	t.Helper()
	i := slices.IndexFunc(all.GetStrategies(), func(s *compactordv1.StrategyInfo) bool { return s.GetName() == name })
	require.GreaterOrEqual(t, i, 0, name)
	return all.GetStrategies()[i]
}

func parameterInfo(t *testing.T, s *compactordv1.StrategyInfo, name string) *compactordv1.ParameterInfo {
	t.Helper()
	i := slices.IndexFunc(s.GetParameters(), func(p *compactordv1.ParameterInfo) bool { return p.GetName() == name })
	require.GreaterOrEqual(t, i, 0, name)
	return s.GetParameters()[i]
}

func TestCatalogueOrder(t *testing.T) {
	t.Parallel()
	all := catalogue(t, strategies.Limits{}, fake{name: "zzz"}, talking{fake{name: "abc"}})
	var names []string
	for _, s := range all.GetStrategies() {
		names = append(names, s.GetName())
	}
	kinds := (*compactordv1.Strategy)(nil).ProtoReflect().Descriptor().Oneofs().ByName("kind").Fields()
	var want []string
	for i := range kinds.Len() {
		if name := string(kinds.Get(i).Name()); slices.Contains(registry().Names(), name) {
			want = append(want, name)
		}
	}
	require.Equal(t, append(want, "abc", "zzz"), names)
	require.Equal(t, "summarize", names[0])
	requireEqual(t, &compactordv1.StrategyInfo{Name: "abc", Description: "Forgets all.", Custom: true}, strategyInfo(t, all, "abc"))
	requireEqual(t, &compactordv1.StrategyInfo{Name: "zzz", Custom: true}, strategyInfo(t, all, "zzz"))
}

// Everything in the contract has a description, and every number has a range.
func TestCatalogueIsWhole(t *testing.T) {
	t.Parallel()
	for _, s := range catalogue(t, strategies.Limits{}).GetStrategies() {
		require.NotEmpty(t, s.GetDescription(), s.GetName())
		require.NotEmpty(t, s.GetParameters(), s.GetName())
		for _, p := range s.GetParameters() {
			require.NotEmpty(t, p.GetDescription(), "%s.%s", s.GetName(), p.GetName())
			require.Contains(t, []string{"uint32", "double", "bool", "string", "enum", "strings", "strategies"}, p.GetType())
			switch p.GetType() {
			case "uint32", "double", "strings", "strategies":
				require.NotNil(t, p.Minimum, "%s.%s", s.GetName(), p.GetName())
				require.Greater(t, p.GetMaximum(), p.GetMinimum(), "%s.%s", s.GetName(), p.GetName())
			case "string":
				require.Positive(t, p.GetMaximum(), "%s.%s", s.GetName(), p.GetName())
			case "enum":
				require.NotEmpty(t, p.GetValues())
				require.Contains(t, p.GetValues(), p.GetDefaultValue(), "%s.%s", s.GetName(), p.GetName())
			}
		}
	}
}

func TestCatalogueOfSummarize(t *testing.T) {
	t.Parallel()
	s := strategyInfo(t, catalogue(t, strategies.Limits{}), "summarize")
	require.Equal(t, "Replaces the older part by a summary.", s.GetDescription())
	require.True(t, s.GetNeedsSummarizer())
	require.True(t, s.GetCuts())
	require.False(t, s.GetNests() || s.GetOnAppend() || s.GetCustom())
	require.Subset(t, s.GetPresets(), []string{"default", "pi", "klaude", "kimi", "klip13", "opencode", "xbot", "hybrid"})
	requireEqual(t, &compactordv1.ParameterInfo{
		Name: "split_turn", Type: "enum", Description: "What happens where the cut is within a turn. Default SUMMARY.",
		DefaultValue: "SUMMARY", Values: []string{"SUMMARY", "JOIN_HEAD", "OFF"},
	}, parameterInfo(t, s, "split_turn"))
	requireEqual(t, &compactordv1.ParameterInfo{
		Name: "recent_turns", Type: "uint32", Description: "Newest turns to keep. 1 to 10,000.",
		Minimum: proto.Float64(1), Maximum: proto.Float64(10_000),
	}, parameterInfo(t, s, "recent_turns"))
	tokens := parameterInfo(t, s, "recent_tokens")
	require.Equal(t, "20000", tokens.GetDefaultValue())
	require.Equal(t, proto.Float64(0), tokens.Minimum)
	require.InDelta(t, 10_000_000, tokens.GetMaximum(), 0)
	require.Equal(t, "13107", parameterInfo(t, s, "max_summary_tokens").GetDefaultValue())
	require.Equal(t, "FORWARD", parameterInfo(t, s, "cut_direction").GetDefaultValue())
}

func TestCatalogueOfOthers(t *testing.T) {
	t.Parallel()
	all := catalogue(t, strategies.Limits{})
	prune := strategyInfo(t, all, "prune_tool_outputs")
	require.False(t, prune.GetNeedsSummarizer() || prune.GetCuts() || prune.GetOnAppend())
	require.Equal(t, "false", parameterInfo(t, prune, "clear_arguments").GetDefaultValue())
	require.Equal(t, "2", parameterInfo(t, prune, "keep_turns").GetDefaultValue())
	require.Empty(t, parameterInfo(t, prune, "keep_groups").GetDefaultValue())
	require.Equal(t, "strings", parameterInfo(t, prune, "protected_tools").GetType())
	require.InDelta(t, 1_000, parameterInfo(t, prune, "protected_tools").GetMaximum(), 0)
	require.InDelta(t, 2_000, parameterInfo(t, prune, "placeholder").GetMaximum(), 0)

	ladder := strategyInfo(t, all, "ladder")
	require.True(t, ladder.GetNests())
	require.Subset(t, ladder.GetPresets(), []string{"xbot", "xbot_current", "claude_code"})
	require.Equal(t, "strategies", parameterInfo(t, ladder, "rungs").GetType())
	require.InDelta(t, 1, parameterInfo(t, ladder, "rungs").GetMinimum(), 0)
	require.InDelta(t, 16, parameterInfo(t, ladder, "rungs").GetMaximum(), 0)
	require.Equal(t, []string{"klip13", "xbot_current"}, strategyInfo(t, all, "hide_tool_results").GetPresets())
	require.Equal(t, []string{"klip13"}, strategyInfo(t, all, "first_effective").GetPresets())

	truncate := strategyInfo(t, all, "truncate_tool_outputs")
	require.True(t, truncate.GetOnAppend())
	require.Equal(t, []string{"default", "opencode", "prose"}, truncate.GetPresets())
	require.Equal(t, []string{"xbot", "xbot_current"}, strategyInfo(t, all, "offload").GetPresets())
}

func TestCatalogueOfPresets(t *testing.T) {
	t.Parallel()
	limits := strategies.Limits{Window: 100_000, MaxOutput: 8_192, MaxInput: 90_000}
	all := catalogue(t, limits)
	var names []string
	for _, p := range all.GetPresets() {
		names = append(names, p.GetName())
		want, err := strategies.Resolve(&compactordv1.Policy{
			Preset: proto.String(p.GetName()), ContextWindow: &limits.Window,
			MaxOutputTokens: &limits.MaxOutput, MaxInputTokens: &limits.MaxInput,
		})
		require.NoError(t, err)
		requireEqual(t, want, p.GetPolicy())
		require.NotEmpty(t, p.GetDescription())
		ours := p.GetName() == "default" || p.GetName() == "prose"
		require.Equal(t, ours, p.GetReproduces() == "", p.GetName())
		for _, sentence := range append(p.GetDeviations(), p.GetDescription()) {
			require.True(t, strings.HasSuffix(sentence, "."), sentence)
		}
	}
	require.Equal(t, strategies.PresetNames(), names)
	require.Nil(t, catalogue(t, strategies.Limits{}).GetPresets()[0].GetPolicy().ContextWindow)
}
