package strategies_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// hidingOver returns the strategies that have a minimum. Each keeps the newest group.
func hidingOver(minimum uint32) map[string]*compactordv1.Strategy {
	return map[string]*compactordv1.Strategy{
		"hide_tool_results": hideTools(&compactordv1.HideToolResultsStrategy{
			KeepGroups: proto.Uint32(1), MinimumTokens: &minimum,
		}),
		"mask_observations": mask(&compactordv1.MaskObservationsStrategy{
			KeepGroups: proto.Uint32(1), MinimumTokens: &minimum,
		}),
		"clear_tool_uses": clearUses(&compactordv1.ClearToolUsesStrategy{
			KeepCalls: proto.Uint32(1), TriggerTokens: proto.Uint32(0), MinimumTokens: &minimum,
		}),
		"prune_tool_outputs": pruneTools(&compactordv1.PruneToolOutputsStrategy{
			KeepGroups: proto.Uint32(1), KeepTokens: proto.Uint32(0), MinimumTokens: &minimum,
		}),
	}
}

// With reason THRESHOLD the view is rewritten once for a number of new tokens, and not whenever something is old
// enough.
func TestNoRewriteTooSoonAfterAnother(t *testing.T) {
	t.Parallel()
	for name, parameters := range hidingOver(500) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLog().script("U T10 R600 T10 R600")
			require.Equal(t, []uint32{2}, hiddenIn(plannedBecause(t, l, due, parameters)), "the first need not wait")
			l.commit(plannedBecause(t, l, due, parameters), "")

			l.script("T10 R489")
			require.Equal(t, tooFew, plannedBecause(t, l, due, parameters).GetSkipReason(), "499 of 500 tokens")
			for _, reason := range []compactordv1.CompactionReason{
				compactordv1.CompactionReason_COMPACTION_REASON_MANUAL,
				compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW,
				compactordv1.CompactionReason_COMPACTION_REASON_USER_MESSAGE,
			} {
				require.Equal(t, []uint32{4}, hiddenIn(plannedBecause(t, l, reason, parameters)))
			}
			l.script("A1")
			require.Equal(t, []uint32{4}, hiddenIn(plannedBecause(t, l, due, parameters)), "500")
		})
	}
}

// A compaction counts as a rewrite. Edits for a USER message do not, and neither does what a revert put aside.
func TestRewritesThatCount(t *testing.T) {
	t.Parallel()
	parameters := hidingOver(500)["hide_tool_results"]
	log := func() *testLog { return newLog().script("U A U T10 R600 T10 R600") }
	waits := func(l *testLog) bool {
		made := plannedBecause(t, l, due, parameters)
		if made.GetSkipReason() == tooFew {
			return true
		}
		require.Equal(t, []uint32{4}, hiddenIn(made))
		return false
	}
	require.False(t, waits(log()))

	l := log()
	point := session.Point(l.head())
	l.commit(&plan{Cut: &compactordv1.Cut{FirstKeptIndex: 2}}, "s")
	require.True(t, waits(l))
	l.revert(point)
	require.False(t, waits(l))

	l = log()
	l.record(&compactordv1.Record{Kind: &compactordv1.Record_Prune{Prune: &compactordv1.PruneEntry{
		Provenance: &compactordv1.Provenance{Reason: compactordv1.CompactionReason_COMPACTION_REASON_USER_MESSAGE},
	}}}, 0)
	require.False(t, waits(l))
}

// A rung does not wait because of the rungs before it in the same plan, since all are committed together.
func TestRungsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	l := newLog().script("U T10 R600 T10 R600 T10 R600")
	over := hidingOver(500)
	ladder := &compactordv1.Strategy{Kind: &compactordv1.Strategy_Ladder{Ladder: &compactordv1.LadderStrategy{
		Rungs: []*compactordv1.LadderStrategy_Rung{
			{Strategy: hideTools(&compactordv1.HideToolResultsStrategy{KeepGroups: proto.Uint32(2)})},
			{Strategy: over["prune_tool_outputs"]},
		},
	}}}
	require.Equal(t, []uint32{2, 4}, hiddenIn(plannedBecause(t, l, due, ladder)))
	// But all of them wait after a committed one.
	l.commit(planned(t, l, hideTools(keepGroups(2))), "")
	require.Equal(t, tooFew, plannedBecause(t, l, due, ladder).GetSkipReason())
}

// The minimum is in tokens of the model.
func TestTooSoonByTheModelsTokens(t *testing.T) {
	t.Parallel()
	s := reads()
	// 2,000 stored tokens since the last rewrite are 4,000 of the model.
	s.Head.RewrittenAtTokens = proto.Uint32(s.Head.GetAppendedTokens() - 2000)
	for minimum, want := range map[uint32]compactordv1.SkipReason{4000: 0, 4001: tooFew} {
		in := &strategies.Input{State: s, Policy: &compactordv1.Policy{}, Reason: due}
		made, err := registry().Plan(t.Context(), in, hidingOver(minimum)["hide_tool_results"])
		require.NoError(t, err)
		require.Equal(t, want, made.GetSkipReason(), "%d", minimum)
	}
}
