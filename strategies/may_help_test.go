package strategies_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// A report asks for no compaction if the policy's strategy cannot remove anything. Here nothing can be cut, and the
// view has 6 tool groups, 1,000 prunable tokens and 2 media.
func TestReportAsksOnlyForWhatMayHelp(t *testing.T) {
	t.Parallel()
	hide := func(keep, minimum *uint32) *compactordv1.Strategy {
		return &compactordv1.Strategy{Kind: &compactordv1.Strategy_HideToolResults{
			HideToolResults: &compactordv1.HideToolResultsStrategy{KeepGroups: keep, MinimumTokens: minimum},
		}}
	}
	media := func(keep uint32) *compactordv1.Strategy {
		return &compactordv1.Strategy{Kind: &compactordv1.Strategy_StripMedia{
			StripMedia: &compactordv1.StripMediaStrategy{KeepNewest: &keep},
		}}
	}
	rung := func(s *compactordv1.Strategy, ratio *float64) *compactordv1.Strategy {
		return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Ladder{Ladder: &compactordv1.LadderStrategy{
			Rungs: []*compactordv1.LadderStrategy_Rung{{Strategy: s, AtRatio: ratio}},
		}}}
	}
	thinking := func(keep *uint32) *compactordv1.Strategy {
		return &compactordv1.Strategy{Kind: &compactordv1.Strategy_DropThinking{
			DropThinking: &compactordv1.DropThinkingStrategy{KeepTurns: keep},
		}}
	}
	for _, c := range []struct {
		name  string
		s     *compactordv1.Strategy
		helps bool
	}{
		{"a cut", &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{}}, false},
		{"hides all but five groups", hide(nil, nil), true},
		{"hides all but as many as there are", hide(proto.Uint32(6), nil), false},
		{"hides less than is worth it", hide(nil, proto.Uint32(1000)), false},
		{"hides what is worth it", hide(nil, proto.Uint32(999)), true},
		{"masks all but ten groups", &compactordv1.Strategy{Kind: &compactordv1.Strategy_MaskObservations{}}, false},
		{"prunes less than the default", &compactordv1.Strategy{Kind: &compactordv1.Strategy_PruneToolOutputs{}}, false},
		{"clears uses", clearUses(nil), true},
		{"clears less than is worth it", clearUses(&compactordv1.ClearToolUsesStrategy{MinimumTokens: proto.Uint32(1000)}), false},
		{"clears arguments, which may be enough", &compactordv1.Strategy{Kind: &compactordv1.Strategy_PruneToolOutputs{
			PruneToolOutputs: &compactordv1.PruneToolOutputsStrategy{ClearArguments: proto.Bool(true)},
		}}, true},
		{"leaves as many media as there are", media(2), false},
		{"takes one of the media", media(1), true},
		{"leaves the thinking of the newest turn", thinking(nil), false},
		{"leaves no thinking", thinking(proto.Uint32(0)), true},
		{"folds what the newest to-do call ended", foldingSubtasks(nil), true},
		{"folds between two checkpoints of none", foldingSubtasks(&compactordv1.FoldSubtasksStrategy{
			Bounds: compactordv1.SubtaskBounds_SUBTASK_BOUNDS_CHECKPOINTS.Enum(),
		}), false},
		{"collapses finished turns", &compactordv1.Strategy{Kind: &compactordv1.Strategy_DialogueOnly{}}, false},
		{"cuts results", &compactordv1.Strategy{Kind: &compactordv1.Strategy_TruncateToolOutputs{}}, true},
		{"a rung that is reached", rung(hide(nil, nil), proto.Float64(0.5)), true},
		{"a rung that is not", rung(hide(nil, nil), proto.Float64(0.51)), false},
		{"no strategy of its own", nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := session.NewHead(0)
			h.ViewTokens, h.ViewToolGroups, h.PrunableTokens, h.ViewMedia = 5000, 6, 1000, 2
			p := &compactordv1.Policy{
				Strategy: c.s, ContextWindow: proto.Uint32(10_000), Trigger: &compactordv1.Trigger{TriggerTokens: proto.Uint32(4000)},
			}
			r := strategies.Report(h, p)
			require.Equal(t, c.helps, r.GetShouldCompact())
			require.Equal(t, !c.helps, slices.Contains(r.GetBlockedBy(), compactordv1.BlockedBy_BLOCKED_BY_TARGET_UNREACHABLE))
		})
	}
}
