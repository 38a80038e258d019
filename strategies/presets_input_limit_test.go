package strategies_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// A model with a window of 400,000 tokens that can read 272,000 of them, and write the rest.
var readsLess = strategies.Limits{Window: 400_000, MaxOutput: 128_000, MaxInput: 272_000}

// Every preset uses the input limit.
func TestPresetsByTheInputLimit(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ trigger, target uint32 }{
		"default":      {45_000, 27_000},
		"pi":           {255_616, 108_800},
		"klaude":       {204_000, 108_800},
		"kimi":         {222_000, 108_800},
		"klip13":       {222_000, 108_800},
		"opencode":     {252_000, 108_800},
		"xbot":         {161_840, 108_800},
		"xbot_current": {165_920, 1},
		"claude_code":  {190_400, 1},
		"masking":      {204_000, 176_800},
		"hybrid":       {204_000, 108_800},
		"acon":         {204_000, 108_800},
	} {
		p := presetFor(t, name, readsLess, nil)
		requireTrigger(t, p, want.trigger)
		require.Equal(t, want.target, p.GetTrigger().GetTargetTokens(), name)
	}
	require.Equal(t, []uint32{0, 0}, func() []uint32 {
		r := presetFor(t, "claude_code", readsLess, nil).GetTrigger().ReserveTokens
		return []uint32{*r, session.ContextLimit(&compactordv1.Policy{MaxInputTokens: proto.Uint32(5)})}
	}(), "what the input limit leaves is room for the answer; without a window nothing is known")
}

func TestAnInputLimitInASmallWindow(t *testing.T) {
	t.Parallel()
	l := strategies.Limits{Window: 100_000, MaxOutput: 8_000, MaxInput: 20_000}
	p := presetFor(t, "default", l, nil)
	require.Equal(t, uint32(3_750), p.GetStrategy().GetLadder().GetRungs()[2].GetStrategy().GetSummarize().GetRecentTokens())
	require.Equal(t, uint32(5_000), p.GetTrigger().GetReserveTokens())
	prune := p.GetPruneStrategy().GetPruneToolOutputs()
	require.Equal(t, []uint32{3_750, 1_875}, []uint32{prune.GetKeepTokens(), prune.GetMinimumTokens()})
	cut := presetFor(t, "klaude", l, nil).GetStrategy().GetSummarize()
	require.Equal(t, []uint32{5_900, 4_000}, []uint32{cut.GetRecentTokens(), cut.GetMaxSummaryTokens()},
		"80 % of a reserve of 5,000, and what that leaves of two thirds of 15,000")
	// Defaults of a policy use it, too.
	bare := &compactordv1.Policy{ContextWindow: proto.Uint32(100_000), MaxInputTokens: proto.Uint32(20_000)}
	open := registry().Resolved(bare, summarizing(&compactordv1.SummarizeStrategy{})).GetSummarize()
	require.Equal(t, []uint32{4_000, 4_000}, []uint32{open.GetRecentTokens(), open.GetMaxSummaryTokens()})
}

// Figures that override a preset's are checked against the same limit.
func TestGivenTriggersByTheInputLimit(t *testing.T) {
	t.Parallel()
	trigger := func(given *compactordv1.Trigger) *compactordv1.Policy {
		return &compactordv1.Policy{
			ContextWindow: proto.Uint32(400_000), MaxInputTokens: proto.Uint32(272_000), Trigger: given,
		}
	}
	p, err := strategies.Resolve(trigger(&compactordv1.Trigger{TriggerRatio: proto.Float64(1), ReserveTokens: proto.Uint32(72_000)}))
	require.NoError(t, err)
	requireTrigger(t, p, 200_000)
	p, err = strategies.Resolve(trigger(&compactordv1.Trigger{TriggerRatio: proto.Float64(0.5)}))
	require.NoError(t, err)
	requireTrigger(t, p, 136_000)
	requirePolicyError(t, "policy.trigger.reserve_tokens",
		trigger(&compactordv1.Trigger{TriggerRatio: proto.Float64(1), ReserveTokens: proto.Uint32(272_000)}))
	requirePolicyError(t, "policy.trigger.target_tokens", trigger(&compactordv1.Trigger{TargetTokens: proto.Uint32(204_000)}))
}

// A rung's ratio is a share of what can be read. Otherwise a rung would not be reached at its own trigger.
func TestRungsByTheInputLimit(t *testing.T) {
	t.Parallel()
	p := presetFor(t, "xbot_current", strategies.Limits{Window: 1_000_000, MaxOutput: 8_192, MaxInput: 20_000}, nil)
	requireTrigger(t, p, 12_200)
	l, made := byPreset(t, p, "U10 T2 R3000"+strings.Repeat(" T2 R800", 12))
	require.Equal(t, []uint32{2}, hiddenIn(made), "12,636 tokens: all but the last twelve groups are masked")
	require.True(t, strategies.Report(l.head(), p).GetShouldCompact(), "and the report knows that a rung helps")
}

// An input limit that is not below the window changes nothing, except opencode's usable context.
func TestAnInputLimitAboveTheWindow(t *testing.T) {
	t.Parallel()
	for _, name := range strategies.PresetNames() {
		l := strategies.Limits{Window: 100_000, MaxOutput: 8_000, MaxInput: 150_000}
		p := presetFor(t, name, l, nil)
		p.MaxInputTokens = nil
		l.MaxInput = 0
		requireEqual(t, presetFor(t, name, l, nil), p)
	}
	requireTrigger(t, presetFor(t, "opencode", strategies.Limits{Window: 100_000, MaxOutput: 30_000, MaxInput: 150_000}, nil), 80_000)
}
