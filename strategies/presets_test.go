package strategies_test

import (
	"fmt"
	"slices"
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

func TestPresetsAreAsGolden(t *testing.T) {
	t.Parallel()
	for _, name := range strategies.PresetNames() {
		for _, window := range []uint32{0, 8_000, 200_000} {
			t.Run(fmt.Sprintf("%s_%d", name, window), func(t *testing.T) {
				t.Parallel()
				p, err := strategies.Preset(name, strategies.Limits{Window: window, MaxOutput: 4_000})
				require.NoError(t, err)
				requireGolden(t, "presets", map[string]proto.Message{"policy": p})
			})
		}
	}
}

func TestPresetOfPi(t *testing.T) {
	t.Parallel()
	p, err := strategies.Preset("pi", strategies.Limits{Window: 200_000})
	require.NoError(t, err)
	require.Nil(t, p.GetTrigger().TriggerRatio)
	require.Equal(t, uint32(16_384), p.GetTrigger().GetReserveTokens())
	keep := p.GetStrategy().GetSummarize()
	require.Equal(t, uint32(20_000), keep.GetRecentTokens())
	require.Equal(t, uint32(13_107), keep.GetMaxSummaryTokens())
	require.Equal(t, compactordv1.BudgetRule_BUDGET_RULE_AT_LEAST, keep.GetBudget())
	require.Equal(t, compactordv1.SplitTurn_SPLIT_TURN_SUMMARY, keep.GetSplitTurn())
	trigger, due := session.TriggerTokens(p)
	require.True(t, due)
	require.Equal(t, uint32(183_616), trigger)
	files := func(tool, arguments string) []string {
		l := newLog()
		l.add(&compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT, Parts: []*compactordv1.Part{{
			Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{Id: "a", Name: tool, Arguments: arguments}},
		}}})
		lists := strategies.TouchedFiles(nil, strategies.FileTools(p), l.messages)
		return append(lists.GetRead(), lists.GetModified()...)
	}
	require.Equal(t, []string{"a.go"}, files("read", `{"path":"a.go"}`))
	require.Equal(t, []string{"a.go"}, files("edit", `{"path":"a.go"}`))
	require.Equal(t, []string{"a.go"}, files("write", `{"path":"a.go"}`))
	require.Empty(t, files("Read", `{"path":"a.go"}`))
	require.Empty(t, files("read", `{"file_path":"a.go"}`))
}

func TestPresetOfASmallWindow(t *testing.T) {
	t.Parallel()
	p, err := strategies.Preset("pi", strategies.Limits{Window: 32_000})
	require.NoError(t, err)
	require.Equal(t, uint32(8_000), p.GetTrigger().GetReserveTokens())
	require.Equal(t, uint32(6_400), p.GetStrategy().GetSummarize().GetMaxSummaryTokens())
}

// Every preset is valid for every model, and sets every field.
func TestPresetsAreWholeAndValid(t *testing.T) {
	t.Parallel()
	open := map[protoreflect.FullName]string{
		"compactord.v1.Policy.overhead_tokens":              "learnt",
		"compactord.v1.Policy.file_tools":                   "the common ones",
		"compactord.v1.Policy.on_append":                    "none",
		"compactord.v1.Policy.on_user_message":              "none",
		"compactord.v1.Policy.max_input_tokens":             "a limit",
		"compactord.v1.Policy.max_output_tokens":            "a limit",
		"compactord.v1.Trigger.trigger_tokens":              "ratio and reserve say it",
		"compactord.v1.Trigger.trigger_ratio":               "pi has none",
		"compactord.v1.Trigger.reserve_tokens":              "trigger_tokens say it",
		"compactord.v1.Trigger.trigger_tool_groups":         "none",
		"compactord.v1.Trigger.max_view_bytes":              "none",
		"compactord.v1.Trigger.trigger_conversation_tokens": "only default has one",
		"compactord.v1.SummaryPolicy.prompt_override":       "none",
		"compactord.v1.SummaryPolicy.extra_context":         "none",
		"compactord.v1.SummaryPolicy.try_timeout":           "the profile's, else the daemon's",
		"compactord.v1.SummaryPolicy.total_timeout":         "the profile's, else the daemon's",
		"compactord.v1.SummaryPolicy.tools_json":            "the agent's",
		"compactord.v1.Section.role":                        "where there are subsections",
		"compactord.v1.Section.subsections":                 "few have some",
		"compactord.v1.FileTool.modifies":                   "no optional field",
		"compactord.v1.LadderStrategy.Rung.at_ratio":        "always",
		"compactord.v1.HideToolResultsStrategy":             "its defaults",
		"compactord.v1.MaskObservationsStrategy":            "its defaults",
		"compactord.v1.OffloadStrategy":                     "its defaults",
		"compactord.v1.DialogueOnlyStrategy":                "its defaults",
		"compactord.v1.TruncateToolOutputsStrategy":         "its defaults",
		"compactord.v1.StripMediaStrategy":                  "its defaults",
		"compactord.v1.DropThinkingStrategy":                "its defaults",
		"compactord.v1.SummarizeStrategy.recent_tokens":     "another rule holds", "compactord.v1.SummarizeStrategy.recent_turns": "another rule holds",
		"compactord.v1.SummarizeStrategy.recent_messages":        "another rule holds",
		"compactord.v1.SummarizeStrategy.recent_tool_groups":     "another rule holds",
		"compactord.v1.SummarizeStrategy.manual_recent_tokens":   "recent_tokens",
		"compactord.v1.PruneToolOutputsStrategy.keep_turns":      "one of two",
		"compactord.v1.PruneToolOutputsStrategy.keep_groups":     "one of two",
		"compactord.v1.PruneToolOutputsStrategy.protected_tools": "none",
		"compactord.v1.PruneToolOutputsStrategy.min_chars":       "0",
		"compactord.v1.PruneToolOutputsStrategy.placeholder":     "the strategy's own",
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(strategies.PresetNames()).Draw(t, "name")
		limits := strategies.Limits{
			Window:    limit(t, "window", 1),
			MaxOutput: limit(t, "output", 0),
			MaxInput:  limit(t, "input", 0),
		}
		p, err := strategies.Preset(name, limits)
		require.NoError(t, err)
		require.NoError(t, protovalidate.Validate(p))
		require.NoError(t, strategies.CheckPolicy(p))
		for _, used := range slices.Concat([]*compactordv1.Strategy{p.GetStrategy(), p.GetPruneStrategy()},
			p.GetOnAppend().GetStrategies(), p.GetOnUserMessage().GetStrategies()) {
			require.NoError(t, registry().Supports(used))
		}
		requireRest(t, name, limits)
		requireSet(t, p.ProtoReflect(), open)
		again, err := strategies.Preset(name, limits)
		require.NoError(t, err)
		require.True(t, proto.Equal(p, again))
		// Changing one policy does not change the next.
		strategies.FileTools(p).Tools[0].PathArguments[0] = "changed"
		p.Trigger.Enabled = proto.Bool(!p.GetTrigger().GetEnabled())
		untouched, err := strategies.Preset(name, limits)
		require.NoError(t, err)
		require.True(t, proto.Equal(again, untouched))
	})
}

// limit draws a limit of a real model, or any number.
func limit(t *rapid.T, label string, least uint32) uint32 {
	switch dice(t, 3) {
	case 0:
		return rapid.SampledFrom([]uint32{
			least, 4_000, 8_000, 8_192, 32_000, 50_000, 100_000, 128_000, 200_000, 524_288, 524_289, 1_000_000,
		}).Draw(t, label)
	case 1:
		return rapid.Uint32Range(least, 200).Draw(t, label)
	default:
		return rapid.Uint32Range(least, 100_000_000).Draw(t, label)
	}
}

func atLeastOne(n uint32) *uint32 {
	if n == 0 {
		return nil
	}
	return &n
}

// requireRest checks that a ladder does nothing after it has reached its target, in every window.
func requireRest(t *rapid.T, name string, l strategies.Limits) {
	resolved, err := strategies.Resolve(&compactordv1.Policy{
		Preset: &name, ContextWindow: &l.Window,
		MaxOutputTokens: atLeastOne(l.MaxOutput), MaxInputTokens: atLeastOne(l.MaxInput),
	})
	if preset, _ := strategies.Preset(name, l); name == "opencode" && !preset.GetTrigger().GetEnabled() {
		require.ErrorIs(t, err, strategies.ErrPolicy, "nothing is left to fill")
		return
	}
	require.NoError(t, err)
	trigger, due := session.TriggerTokens(resolved)
	if due && trigger > 1 {
		require.Less(t, resolved.GetTrigger().GetTargetTokens(), trigger)
		require.LessOrEqual(t, trigger, session.ContextLimit(resolved), "a model is never sent more than it can read")
	}
}

func requireSet(t *rapid.T, m protoreflect.Message, open map[protoreflect.FullName]string) {
	if _, ok := open[m.Descriptor().FullName()]; ok {
		return
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		choice := f.ContainingOneof() != nil && !f.ContainingOneof().IsSynthetic()
		if !m.Has(f) {
			if _, ok := open[f.FullName()]; !ok && !choice {
				t.Fatalf("%s is not set", f.FullName())
			}
			continue
		}
		if f.Message() == nil || f.Message().ParentFile().Package() != "compactord.v1" {
			continue
		}
		if !f.IsList() {
			requireSet(t, m.Get(f).Message(), open)
			continue
		}
		for j := range m.Get(f).List().Len() {
			requireSet(t, m.Get(f).List().Get(j).Message(), open)
		}
	}
}

func TestUnknownPreset(t *testing.T) {
	t.Parallel()
	_, err := strategies.Preset("fast", strategies.Limits{})
	require.ErrorIs(t, err, strategies.ErrUnknown)
	require.ErrorContains(t, err, `"fast"; there are default, pi, klaude, kimi, klip13, opencode, xbot, xbot_current, claude_code, masking, hybrid, acon`)
	_, err = strategies.Resolve(&compactordv1.Policy{Preset: proto.String("fast")})
	require.ErrorIs(t, err, strategies.ErrUnknown)
}

// One task is one turn, however long. `default` prunes what no other rule keeps.
func TestDefaultPrunesWithinOneTurn(t *testing.T) {
	t.Parallel()
	for _, window := range []uint32{16_000, 200_000} {
		p, err := strategies.Resolve(&compactordv1.Policy{ContextWindow: &window})
		require.NoError(t, err)
		l := newLog().script("S U")
		l.policy = p
		for !strategies.Report(l.head(), p).GetShouldCompact() {
			l.script(fmt.Sprintf("T20 R%d", window/50))
		}
		require.NotEmpty(t, hiddenIn(planned(t, l, p.GetPruneStrategy())), "window of %d", window)
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	resolve := func(t *testing.T, given ...*compactordv1.Policy) *compactordv1.Policy {
		t.Helper()
		p, err := strategies.Resolve(given...)
		require.NoError(t, err)
		return p
	}
	preset := func(t *testing.T, name string, window uint32) *compactordv1.Policy {
		t.Helper()
		p, err := strategies.Preset(name, strategies.Limits{Window: window})
		require.NoError(t, err)
		return p
	}
	t.Run("nothing given", func(t *testing.T) {
		t.Parallel()
		requireEqual(t, preset(t, "default", 0), resolve(t))
		requireEqual(t, preset(t, "default", 0), resolve(t, nil, nil))
	})
	t.Run("the last preset, with limits given beside another", func(t *testing.T) {
		t.Parallel()
		got := resolve(t,
			&compactordv1.Policy{Preset: proto.String("default"), ContextWindow: proto.Uint32(10_000)},
			&compactordv1.Policy{Preset: proto.String("pi")},
			&compactordv1.Policy{ContextWindow: proto.Uint32(20_000)})
		requireEqual(t, preset(t, "pi", 20_000), got)
	})
	t.Run("all limits reach the preset", func(t *testing.T) {
		t.Parallel()
		want, err := strategies.Preset("pi", strategies.Limits{Window: 3_000, MaxOutput: 2_000, MaxInput: 1_000})
		require.NoError(t, err)
		requireEqual(t, want, resolve(t, &compactordv1.Policy{
			Preset: proto.String("pi"), ContextWindow: proto.Uint32(3_000),
			MaxOutputTokens: proto.Uint32(2_000), MaxInputTokens: proto.Uint32(1_000),
		}))
	})
	t.Run("numbers over the preset's, the later over the earlier", func(t *testing.T) {
		t.Parallel()
		session := &compactordv1.Policy{
			ContextWindow: proto.Uint32(100_000),
			Trigger:       &compactordv1.Trigger{ReserveTokens: proto.Uint32(1), TriggerRatio: proto.Float64(0.5)},
			Strategy:      summarizing(&compactordv1.SummarizeStrategy{RecentTurns: proto.Uint32(3)}),
		}
		asked := proto.CloneOf(session)
		got := resolve(t, session, &compactordv1.Policy{Trigger: &compactordv1.Trigger{ReserveTokens: proto.Uint32(0)}})
		require.Equal(t, uint32(0), got.GetTrigger().GetReserveTokens())
		require.NotNil(t, got.GetTrigger().ReserveTokens)
		require.InDelta(t, 0.5, got.GetTrigger().GetTriggerRatio(), 0)
		require.Equal(t, uint32(27_000), got.GetTrigger().GetTargetTokens())
		// A strategy replaces the preset's as a whole.
		requireEqual(t, session.GetStrategy(), got.GetStrategy())
		requireEqual(t, asked, session)
	})
	t.Run("a policy that contradicts itself", func(t *testing.T) {
		t.Parallel()
		_, err := strategies.Resolve(&compactordv1.Policy{
			ContextWindow: proto.Uint32(1_000), Trigger: &compactordv1.Trigger{ReserveTokens: proto.Uint32(1_000)},
		})
		require.ErrorIs(t, err, strategies.ErrPolicy)
	})
}
