package corpus_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// Each preset on the same story, in a window that holds less than half of it and in one that holds most of it.
func TestPresetsAsGolden(t *testing.T) {
	t.Parallel()
	for _, preset := range strategies.PresetNames() {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			requireGolden(t, "presets/"+preset+".txt",
				historyOf(t, resolved(t, preset, 16_000), story())+"\n"+historyOf(t, resolved(t, preset, 40_000), story()))
		})
	}
}

// Each strategy on the story, with an otherwise empty policy.
func TestStrategiesAsGolden(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for name, s := range small() {
		seen[name] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy, err := strategies.Resolve(&compactordv1.Policy{
				ContextWindow: proto.Uint32(16_000), MaxOutputTokens: proto.Uint32(2_000), Strategy: s,
			})
			require.NoError(t, err)
			requireGolden(t, "strategies/"+name+".txt", historyOf(t, policy, story()))
		})
	}
	for _, s := range strategies.Builtin() {
		require.True(t, seen[s.Name()], "%s has no golden file", s.Name())
	}
}

// small returns the strategies with numbers that fit the story.
func small() map[string]*compactordv1.Strategy {
	hide := &compactordv1.Strategy{Kind: &compactordv1.Strategy_HideToolResults{
		HideToolResults: &compactordv1.HideToolResultsStrategy{KeepGroups: proto.Uint32(3), MinimumTokens: proto.Uint32(1_000)},
	}}
	cut := &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{
		Summarize: &compactordv1.SummarizeStrategy{RecentTokens: proto.Uint32(3_000)},
	}}
	dialogue := &compactordv1.Strategy{Kind: &compactordv1.Strategy_DialogueOnly{
		DialogueOnly: &compactordv1.DialogueOnlyStrategy{KeepTurns: proto.Uint32(1)},
	}}
	media := &compactordv1.Strategy{Kind: &compactordv1.Strategy_StripMedia{
		StripMedia: &compactordv1.StripMediaStrategy{KeepNewest: proto.Uint32(1)},
	}}
	return map[string]*compactordv1.Strategy{
		"summarize": cut, "hide_tool_results": hide, "dialogue_only": dialogue, "strip_media": media,
		"mask_observations": {Kind: &compactordv1.Strategy_MaskObservations{
			MaskObservations: &compactordv1.MaskObservationsStrategy{
				KeepGroups: proto.Uint32(4), ActiveFileGroups: proto.Uint32(2), MinimumTokens: proto.Uint32(1_000),
			},
		}},
		"prune_tool_outputs": {Kind: &compactordv1.Strategy_PruneToolOutputs{
			PruneToolOutputs: &compactordv1.PruneToolOutputsStrategy{
				KeepGroups: proto.Uint32(2), KeepTokens: proto.Uint32(2_000), MinimumTokens: proto.Uint32(1_000),
				ProtectedTools: []string{"todo_write"},
			},
		}},
		"clear_tool_uses": {Kind: &compactordv1.Strategy_ClearToolUses{
			ClearToolUses: &compactordv1.ClearToolUsesStrategy{
				TriggerTokens: proto.Uint32(12_000), MinimumTokens: proto.Uint32(1_000), ClearArguments: proto.Bool(true),
			},
		}},
		"truncate_tool_outputs": {Kind: &compactordv1.Strategy_TruncateToolOutputs{
			TruncateToolOutputs: &compactordv1.TruncateToolOutputsStrategy{},
		}},
		"drop_thinking": {Kind: &compactordv1.Strategy_DropThinking{
			DropThinking: &compactordv1.DropThinkingStrategy{KeepTurns: proto.Uint32(1)},
		}},
		"compress_observations": {Kind: &compactordv1.Strategy_CompressObservations{
			CompressObservations: &compactordv1.CompressObservationsStrategy{OverTokens: proto.Uint32(600)},
		}},
		"fold_subtasks": {Kind: &compactordv1.Strategy_FoldSubtasks{
			FoldSubtasks: &compactordv1.FoldSubtasksStrategy{KeepSubtasks: proto.Uint32(0)},
		}},
		"offload": {Kind: &compactordv1.Strategy_Offload{
			Offload: &compactordv1.OffloadStrategy{OverTokens: proto.Uint32(800), PreviewChars: proto.Uint32(100)},
		}},
		"first_effective": {Kind: &compactordv1.Strategy_FirstEffective{
			FirstEffective: &compactordv1.FirstEffectiveStrategy{Strategies: []*compactordv1.Strategy{hide, cut}},
		}},
		"ladder": {Kind: &compactordv1.Strategy_Ladder{
			Ladder: &compactordv1.LadderStrategy{Rungs: []*compactordv1.LadderStrategy_Rung{
				{Strategy: media}, {Strategy: dialogue}, {Strategy: hide}, {Strategy: cut, AtRatio: proto.Float64(0.8)},
			}},
		}},
	}
}
