package strategies_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/strategies"
)

// afterOverflow plans for an overflow on the newest state of a log.
func afterOverflow(t *testing.T, l *testLog, parameters *compactordv1.Strategy) *compactordv1.CompactionPlan {
	t.Helper()
	registry, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(t, err)
	in := &strategies.Input{
		State: l.state(), Policy: l.policy, Reason: compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW,
	}
	plan, err := registry.PlanOverflow(t.Context(), in, parameters)
	require.NoError(t, err)
	require.NoError(t, strategies.Check(in, plan))
	return plan
}

// placesOf returns the messages of edits, by kind.
func placesOf(plan *compactordv1.CompactionPlan) map[compactordv1.EditKind][]uint32 {
	found := make(map[compactordv1.EditKind][]uint32)
	for _, e := range plan.GetEdits() {
		found[e.GetKind()] = append(found[e.GetKind()], e.GetIndex())
	}
	return found
}

func hidingAll() *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_HideToolResults{
		HideToolResults: &compactordv1.HideToolResultsStrategy{KeepGroups: proto.Uint32(0)},
	}}
}

func keeping(messages uint32) *compactordv1.Strategy {
	return summarizing(&compactordv1.SummarizeStrategy{RecentMessages: proto.Uint32(messages)})
}

// All media are replaced, those of results too, and the strategy runs after that: hiding a result also hides its media.
// Pinned messages stay.
func TestOverflowReplacesMediaBesideTheStrategy(t *testing.T) {
	l := newLog().script("P T:a R500 P T:b V500 A")
	l.pin(0)
	require.Equal(t, map[compactordv1.EditKind][]uint32{
		compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA: {3}, compactordv1.EditKind_EDIT_KIND_HIDE_RESULT: {2, 5},
	}, placesOf(afterOverflow(t, l, hidingAll())))
}

// Messages that the cut covers need no edit.
func TestOverflowEditsWhatIsKept(t *testing.T) {
	l := newLog().script("U900 A900 P10 A10 P10 A10")
	plan := afterOverflow(t, l, keeping(4))
	require.Equal(t, uint32(2), plan.GetCut().GetFirstKeptIndex())
	require.Equal(t, map[compactordv1.EditKind][]uint32{
		compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA: {2, 4},
	}, placesOf(plan))
	require.Equal(t, l.head().GetViewTokens(), plan.GetTokensBefore())
	plan = afterOverflow(t, l, keeping(2))
	require.Equal(t, uint32(4), plan.GetCut().GetFirstKeptIndex())
	require.Equal(t, map[compactordv1.EditKind][]uint32{
		compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA: {4},
	}, placesOf(plan))
}

// Only the last request says why its media are gone, since the provider may have refused it. A medium that is smaller
// than the note gets no note.
func TestOverflowSaysInTheLastRequestWhyMediaAreGone(t *testing.T) {
	replacements := func(script string) []string {
		var all []string
		for _, e := range afterOverflow(t, newLog().script(script), hidingAll()).GetEdits() {
			all = append(all, e.GetReplacement())
		}
		return all
	}
	const line = "[Attached image/png: plan.png]"
	told := line + "\n" + wording.MediaTooLargeNote
	require.Equal(t, []string{line, told}, replacements("P A P A"))
	require.Equal(t, []string{line}, replacements("P A U A"), "what was refused holds none")
	require.Equal(t, []string{line, told}, replacements("P A P U"), "two messages are one request")

	l := newLog().script("U A")
	note := &compactordv1.MediaPart{
		MimeType: "text/plain", Name: "note.txt", Source: &compactordv1.MediaPart_Data{Data: []byte(strings.Repeat("word ", 30))},
	}
	l.add(&compactordv1.Message{Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{
		{Kind: &compactordv1.Part_Media{Media: note}},
	}})
	edits := afterOverflow(t, l, hidingAll()).GetEdits()
	require.Len(t, edits, 1)
	require.Equal(t, "[Attached text/plain: note.txt]", edits[0].GetReplacement())
}

// If only one of both does something, the plan is that one's. If neither does, it has the strategy's skip reason.
func TestOverflowOfOneKindAlone(t *testing.T) {
	media := afterOverflow(t, newLog().script("P A P A"), hidingAll())
	require.Len(t, media.GetEdits(), 2)
	require.Zero(t, media.GetSkipReason())
	results := afterOverflow(t, newLog().script("U T:a R500 A"), hidingAll())
	require.Len(t, results.GetEdits(), 1)
	require.Equal(t, compactordv1.SkipReason_SKIP_REASON_NOTHING_TO_COMPACT,
		afterOverflow(t, newLog().script("U A"), hidingAll()).GetSkipReason())
}

// An edit fits if it frees something, with what it frees now, and if its message was not edited or pinned meanwhile.
func TestFittingEdits(t *testing.T) {
	l := newLog().script("U T:a R500 T:b R500 T:c R500 A")
	plan := afterOverflow(t, l, hidingAll())
	require.Len(t, plan.GetEdits(), 3)
	require.Empty(t, equalEdits(plan.GetEdits(), strategies.Fitting(l.state(), plan.GetEdits(), nil)))

	l.commit(&compactordv1.CompactionPlan{Edits: []*compactordv1.Edit{{
		Index: 4, Kind: compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT, Replacement: textOf(100),
	}}}, "")
	l.pin(6)
	fitting := strategies.Fitting(l.state(), append(plan.GetEdits(), plan.GetEdits()[0]), nil)
	require.Len(t, fitting, 2, "the pinned one and the second of a kind are left out")
	require.Equal(t, plan.GetEdits()[0].GetTokensFreed(), fitting[0].GetTokensFreed())
	require.Equal(t, plan.GetEdits()[1].GetTokensFreed()-400, fitting[1].GetTokensFreed())
	require.NotEqual(t, plan.GetEdits()[1].GetTokensFreed(), fitting[1].GetTokensFreed(), "the plan's own stays as it is")

	cut := &compactordv1.Cut{FirstKeptIndex: 3}
	require.Equal(t, uint32(4), strategies.Fitting(l.state(), plan.GetEdits(), cut)[0].GetIndex())
}

func equalEdits(a, b []*compactordv1.Edit) string {
	x, y := &compactordv1.CompactionPlan{Edits: a}, &compactordv1.CompactionPlan{Edits: b}
	if proto.Equal(x, y) {
		return ""
	}
	return x.String() + " and " + y.String()
}

// If no cut may be planned, a ladder does what its other rungs do.
func TestEditsOnly(t *testing.T) {
	l := newLog().script("U T:a R500 A U T:b R500 A")
	ladder := &compactordv1.Strategy{Kind: &compactordv1.Strategy_Ladder{Ladder: &compactordv1.LadderStrategy{
		Rungs: []*compactordv1.LadderStrategy_Rung{{Strategy: hidingAll()}, {Strategy: keeping(2)}},
	}}}
	registry, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(t, err)
	in := &strategies.Input{State: l.state(), Policy: l.policy}
	plan, err := registry.Plan(t.Context(), in, ladder)
	require.NoError(t, err)
	require.NotNil(t, plan.GetCut())
	require.Len(t, plan.GetEdits(), 1)
	in.EditsOnly = true
	plan, err = registry.Plan(t.Context(), in, ladder)
	require.NoError(t, err)
	require.Nil(t, plan.GetCut())
	require.Len(t, plan.GetEdits(), 2)
}
