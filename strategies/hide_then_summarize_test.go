package strategies_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// hidingThenSummary is KLIP-13's strategy: hide the results of all but the newest five groups, and summarize if that is
// not enough.
func hidingThenSummary() *compactordv1.Strategy {
	hide := keepGroups(5)
	hide.Placeholder = proto.String("<system>历史 tool_call已隐藏</system>")
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_FirstEffective{
		FirstEffective: &compactordv1.FirstEffectiveStrategy{Strategies: []*compactordv1.Strategy{
			hideTools(hide), summarizing(&compactordv1.SummarizeStrategy{RecentMessages: proto.Uint32(2)}),
		}},
	}}
}

// triggeredAt returns a log whose compaction is due at this many tokens.
func triggeredAt(tokens uint32) *testLog {
	l := newLog()
	l.policy = &compactordv1.Policy{Trigger: &compactordv1.Trigger{TriggerTokens: &tokens}}
	return l
}

// One session from its first trigger to its summary.
func TestHidingThenSummary(t *testing.T) {
	t.Parallel()
	l := triggeredAt(6000)
	// Seven groups, the first two of parallel calls.
	l.script("S U T2:a,b,c R300:b R300:a R300:c T2:a,b R450:a R450:b T2 R900 T2 R900 T2 R900 T2 R900 T2 R900")
	require.Equal(t, uint32(6338), l.head().GetViewTokens())
	ids := callIDs(l)

	// First, hiding is enough: the two oldest groups, each as a whole, and no summary.
	made := plannedBecause(t, l, due, hidingThenSummary())
	require.Nil(t, made.GetCut())
	require.Equal(t, []uint32{3, 4, 5, 7, 8}, hiddenIn(made))
	l.commit(made, "")
	require.Less(t, l.head().GetViewTokens(), uint32(6000))
	require.Equal(t, ids, callIDs(l), "the same messages, roles and call ids")
	require.Equal(t, "<system>历史 tool_call已隐藏</system>", shownAt(l, 3))

	// Then user and model talk until compaction is due again. Nothing is left to hide, so a summary is written.
	l.script("U800 A800")
	require.GreaterOrEqual(t, l.head().GetViewTokens(), uint32(6000))
	require.Equal(t, nothing, plannedBecause(t, l, due, hideTools(keepGroups(5))).GetSkipReason())
	made = plannedBecause(t, l, due, hidingThenSummary())
	require.Empty(t, made.GetEdits())
	require.Equal(t, uint32(19), made.GetCut().GetFirstKeptIndex())
	require.Equal(t, uint32(1), made.GetCut().GetSummarized().GetStart(), "with what was hidden")
	l.commit(made, "what was done")
	require.Less(t, l.head().GetViewTokens(), uint32(6000))
}

func callIDs(l *testLog) []string {
	var ids []string
	for _, vm := range l.state().View(session.ViewOptions{}).Messages {
		id := vm.GetMessage().GetRole().String()
		for _, p := range vm.GetMessage().GetParts() {
			id += " " + p.GetToolCall().GetId() + p.GetToolResult().GetCallId()
		}
		ids = append(ids, id)
	}
	return ids
}

func TestCase198HiddenAlreadyAndNothingNewIsSummarized(t *testing.T) {
	t.Parallel()
	l := triggeredAt(5000)
	l.script("U T2 R1000 T2 R1000 T2 R1000 T2 R1000 T2 R1000 T2 R1000")
	// Only hiding is used, so compaction is still due.
	l.commit(planned(t, l, hideTools(keepGroups(5))), "")
	require.GreaterOrEqual(t, l.head().GetViewTokens(), uint32(5000))
	require.Equal(t, nothing, planned(t, l, hideTools(keepGroups(5))).GetSkipReason())
	made := plannedBecause(t, l, due, hidingThenSummary())
	require.Empty(t, made.GetEdits())
	require.NotNil(t, made.GetCut())
}

// Between two triggers one more group becomes old each time, so hiding always does something, and never enough.
func TestCase199HidingThatIsNotEnoughFallsThroughToTheSummary(t *testing.T) {
	t.Parallel()
	l := triggeredAt(6000)
	l.script("U T2 R100 T2 R1000 T2 R1000 T2 R1000 T2 R1000 T2 R1000 A1000")
	for range 2 {
		require.GreaterOrEqual(t, l.head().GetViewTokens(), uint32(6000))
		alone := plannedBecause(t, l, due, hideTools(keepGroups(5)))
		require.Len(t, hiddenIn(alone), 1, "hiding does something")

		made := plannedBecause(t, l, due, hidingThenSummary())
		require.Empty(t, made.GetEdits())
		require.NotNil(t, made.GetCut(), "and the summary runs all the same")

		// KLIP-13 would repeat this for ever: one group is hidden, and one more becomes old.
		l.commit(alone, "")
		l.script("T2 R1000")
	}
	// If hiding is enough, it is chosen.
	l = triggeredAt(6000)
	l.script("U T2 R1000 T2 R1000 T2 R1000 T2 R1000 T2 R1000 T2 R1000")
	made := plannedBecause(t, l, due, hidingThenSummary())
	require.Nil(t, made.GetCut())
	require.Equal(t, []uint32{2}, hiddenIn(made))
}
