package strategies_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/recall"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

func hideTools(p *compactordv1.HideToolResultsStrategy) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_HideToolResults{HideToolResults: p}}
}

func keepGroups(n uint32) *compactordv1.HideToolResultsStrategy {
	return &compactordv1.HideToolResultsStrategy{KeepGroups: &n}
}

// plannedBecause plans for a reason, and checks the plan.
func plannedBecause(
	t testingT, l *testLog, reason compactordv1.CompactionReason, parameters *compactordv1.Strategy,
) *plan {
	in := &strategies.Input{State: l.state(), Policy: l.policy, Reason: reason}
	made, err := registry().Plan(t.Context(), in, parameters)
	require.NoError(t, err)
	require.NoError(t, strategies.Check(in, made))
	return made
}

// requireHidden plans, and checks which results are hidden, or the skip reason. It then carries the plan out, and
// checks that nothing is left to do.
func requireHidden(
	t *testing.T, l *testLog, parameters *compactordv1.Strategy, hidden []uint32, skip compactordv1.SkipReason,
) {
	t.Helper()
	made := planned(t, l, parameters)
	require.Equal(t, skip, made.GetSkipReason())
	require.Equal(t, hidden, hiddenIn(made))
	require.Len(t, made.GetEdits(), len(hidden))
	require.Nil(t, made.GetCut())
	require.Equal(t, l.head().GetViewTokens(), made.GetTokensBefore())
	if skip != 0 {
		return
	}
	freed := made.GetTokensBefore()
	for _, e := range made.GetEdits() {
		freed -= e.GetTokensFreed()
	}
	l.commit(made, "")
	require.Equal(t, freed, l.head().GetViewTokens())
	require.Equal(t, nothing, planned(t, l, parameters).GetSkipReason())
}

func groupsOf(n, tokens int) string {
	return "U" + strings.Repeat(" T2 R"+decimal(tokens), n)
}

func TestCase195HidesTheOldestOfSix(t *testing.T) {
	t.Parallel()
	requireHidden(t, newLog().script(groupsOf(5, 100)), hideTools(nil), nil, nothing)

	l := newLog().script(groupsOf(6, 100))
	before := l.state().View(session.ViewOptions{}).Messages
	requireHidden(t, l, hideTools(nil), []uint32{2}, 0)
	after := l.state().View(session.ViewOptions{}).Messages
	id := func(vm *compactordv1.ViewMessage) string {
		return vm.GetMessage().GetParts()[0].GetToolResult().GetCallId()
	}
	require.Equal(t, "call1", id(after[2]))
	require.Equal(t, id(before[2]), id(after[2]))
	require.Equal(t, "[The result of bash (100 tokens) was hidden to free context. To read it again, recall index 2, part 0.]",
		after[2].GetMessage().GetParts()[0].GetToolResult().GetParts()[0].GetText().GetText())
	for _, l := range after[3:] {
		require.Empty(t, l.GetEdits())
	}
}

func TestCase196ParallelCallsAreHiddenAsAWhole(t *testing.T) {
	t.Parallel()
	const three = "U T2:a,b,c R100:c R100:a R100:b"
	requireHidden(t, newLog().script(three+" T2 R100 T2 R100 T2 R100 T2 R100"), hideTools(nil), nil, nothing)
	requireHidden(t, newLog().script(three+" T2 R100 T2 R100 T2 R100 T2 R100 T2 R100"), hideTools(nil),
		[]uint32{2, 3, 4}, 0)
	// With groups of one call each, three would be hidden.
	requireHidden(t, newLog().script("U T2 R100 T2 R100 T2 R100 T2 R100 T2 R100 T2 R100 T2 R100"), hideTools(nil),
		[]uint32{2, 4}, 0)
}

func TestCase197ResultsBelongToTheirCallsGroup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		log    string
		hidden []uint32
	}{
		{"after the next group's", "U T2:a T2:b R100:b R100:a", []uint32{4}},
		{"with a marker between", "U T2:a R100:a M C T2:b R100:b", []uint32{2}},
		{"after a user message", "U T2:a,b R100:a U R100:b U T2:c R100:c", []uint32{2, 4}},
		{"after a user message, in the newest group", "U T2:c R100:c T2:a,b R100:a U R100:b", []uint32{2}},
		// The model continued without the result. It is a quotation, and as old as the messages around it.
		{"after the model's answer", "U T2:a,b R100:a U A R100:b U T2:c R100:c", []uint32{2, 5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			requireHidden(t, newLog().script(c.log), hideTools(keepGroups(1)), c.hidden, 0)
		})
	}
}

func TestCase200ResultsWithoutACallAreOld(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		log    string
		keep   uint32
		hidden []uint32
	}{
		{"before the oldest kept group", "U R100:x T2 R100", 1, []uint32{1}},
		{"behind it", "U T2 R100 R100:x U", 1, nil},
		{"among older groups", "U T2 R100 R100:x T2 R100", 1, []uint32{2, 3}},
		{"an error", "U E100:x T2 R100", 1, []uint32{1}},
		{"too short to gain", "U R20:x T2 R100", 1, nil},
		{"no group is to be kept", "U R100:x U", 0, []uint32{1}},
		{"there is no group", "U R100:x U", 1, nil},
		{"of an aborted message, which no view shows", "U X:a R100:a T2 R100", 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			skip := nothing
			if len(c.hidden) > 0 {
				skip = 0
			}
			requireHidden(t, newLog().script(c.log), hideTools(keepGroups(c.keep)), c.hidden, skip)
		})
	}
}

func TestCase200AHiddenStrayTellsWhatWasThere(t *testing.T) {
	t.Parallel()
	l := newLog().script("U R100:x T2 R100")
	l.messages[1].GetMessage().GetParts()[0].GetToolResult().Name = "fetch"
	for name, want := range map[string]string{
		"fetch": "[The result of fetch (100 tokens) was hidden to free context. To read it again, recall index 1, part 0.]",
		"":      "[The result of a tool (100 tokens) was hidden to free context. To read it again, recall index 1, part 0.]",
	} {
		l.messages[1].GetMessage().GetParts()[0].GetToolResult().Name = name
		edits := planned(t, l, hideTools(keepGroups(1))).GetEdits()
		require.Len(t, edits, 1)
		require.Equal(t, want, edits[0].GetReplacement())
	}
	// A stray result is protected by its own tool name, and an answer by that of its call.
	l.messages[1].GetMessage().GetParts()[0].GetToolResult().Name = "skill"
	p := keepGroups(1)
	p.ProtectedTools = []string{"skill"}
	require.Equal(t, nothing, planned(t, l, hideTools(p)).GetSkipReason())
}

func TestCase201HidingKeepsTheViewsShape(t *testing.T) {
	t.Parallel()
	l := newLog().script("S U T2:a,b R100:b E100:a A T2:c R100:c U R100:z U T2:d R100:d")
	before := l.state().View(session.ViewOptions{}).Messages
	requireHidden(t, l, hideTools(keepGroups(1)), []uint32{3, 4, 7, 9}, 0)
	after := l.state().View(session.ViewOptions{}).Messages
	require.Len(t, after, len(before))
	for i, vm := range before {
		was, is := vm.GetMessage(), after[i].GetMessage()
		require.Equal(t, was.GetRole(), is.GetRole())
		if was.GetRole() != compactordv1.Role_ROLE_TOOL {
			continue
		}
		require.Equal(t, was.GetParts()[0].GetToolResult().GetCallId(), is.GetParts()[0].GetToolResult().GetCallId())
		require.Equal(t, was.GetParts()[0].GetToolResult().GetIsError(), is.GetParts()[0].GetToolResult().GetIsError())
	}
}

func TestHideToolResults(t *testing.T) {
	t.Parallel()
	sparing := func(keep, messages, chars, minimum uint32, tools ...string) *compactordv1.HideToolResultsStrategy {
		return &compactordv1.HideToolResultsStrategy{
			KeepGroups: &keep, KeepMessages: &messages, MinChars: &chars, MinimumTokens: &minimum, ProtectedTools: tools,
		}
	}
	for _, c := range []struct {
		name   string
		log    string
		hide   *compactordv1.HideToolResultsStrategy
		hidden []uint32
		skip   compactordv1.SkipReason
	}{
		{"nothing at all", "", nil, nil, nothing},
		{"none is to be kept", "U T2 R100 T2 R100", keepGroups(0), []uint32{2, 4}, 0},
		{"more are to be kept than there are", "U T2 R100", keepGroups(100_000), nil, nothing},
		{"an open group is one of the newest", "U T2 R100 T2 R100 T2:a,b R100:a", keepGroups(2), []uint32{2}, 0},
		{"an open group is not touched", "U T2 R100 T2:a,b R100:a", keepGroups(0), []uint32{2}, 0},
		{"nor an old one", "U T2:a,b T2:c R100:a R100:c", keepGroups(0), []uint32{4}, 0},
		{"one that the model went on without is", "U T2:a,b R100:a T2:c R100:c T2:d R100:d", keepGroups(1), []uint32{2, 4}, 0},
		{"a group that lacks a result counts", "U T2 R100 T2:a,b R100:a U A", keepGroups(1), []uint32{2}, 0},
		{"errors are hidden", "U T2 E100 T2 R100", keepGroups(1), []uint32{2}, 0},
		{"what was recalled is not", "U T2:recall_content/a R100 T2:recall/b R100 T2 R100 T2 R100", keepGroups(1), []uint32{6}, 0},
		{"too short to gain", "U T2 R26 T2 R27", keepGroups(0), []uint32{4}, 0},
		{"the newest messages stay", "U T2:a,b R100:a R100:b A", sparing(0, 2, 0, 0), []uint32{2}, 0},
		{"a protected tool's stay", "U T2:skill/a,b R100:a R100:b", sparing(0, 0, 0, 0, "skill"), []uint32{3}, 0},
		{"results of fewer characters stay", "U T2 R100 T2 R101", sparing(0, 0, 401, 0), []uint32{4}, 0},
		{"no more than the minimum", "U T2 R100 T2 R100", sparing(0, 0, 0, 200), nil, tooFew},
		{"more than the minimum", "U T2 R100 T2 R101", sparing(0, 0, 0, 200), []uint32{2, 4}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			requireHidden(t, newLog().script(c.log), hideTools(c.hide), c.hidden, c.skip)
		})
	}
}

func TestHidingLeavesWhatIsPinnedReplacedOrCollapsed(t *testing.T) {
	t.Parallel()
	// 1, 2 pinned; 3, 4 offloaded before; 5, 6 collapsed; 7, 8 plain; 9 a stray that is pinned.
	l := newLog().script("U T2 R100 T2 R100 T2 R100 T2 R100 R100:x A")
	l.pin(2)
	l.pin(9)
	l.commit(&plan{Edits: []*compactordv1.Edit{
		{Index: 4, Kind: compactordv1.EditKind_EDIT_KIND_OFFLOAD_RESULT, Replacement: textOf(60)},
		{Index: 5, Kind: compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP, Replacement: "ran it"},
	}}, "")
	for _, parameters := range []*compactordv1.Strategy{
		hideTools(keepGroups(0)), clearUses(&compactordv1.ClearToolUsesStrategy{
			KeepCalls: proto.Uint32(0), TriggerTokens: proto.Uint32(0),
		}),
	} {
		require.Equal(t, []uint32{8}, hiddenIn(planned(t, l, parameters)))
	}
}

func TestCase216SnipsWhatIsOldAndLong(t *testing.T) {
	t.Parallel()
	snip := hideTools(&compactordv1.HideToolResultsStrategy{
		KeepGroups: proto.Uint32(0), KeepMessages: proto.Uint32(8), MinChars: proto.Uint32(501),
		Placeholder: proto.String("[Old tool result cleared to save context]"),
	})
	// 2 was masked, 4 has 500 characters and 6 has 501; 8 is the first of the newest eight messages.
	l := newLog().script("U T2 R200 T2 R125 T2 R126 T2 R200 A A A A A A A")
	l.commit(&plan{Edits: []*compactordv1.Edit{
		{Index: 2, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, Replacement: textOf(150)},
	}}, "")
	made := planned(t, l, snip)
	require.Equal(t, []uint32{6}, hiddenIn(made))
	require.Equal(t, "[Old tool result cleared to save context]", made.GetEdits()[0].GetReplacement())
	l.commit(made, "")
	require.Equal(t, nothing, planned(t, l, snip).GetSkipReason())
	require.Equal(t, textOf(150), shownAt(l, 2), "what recalls the masked result is still there")

	content, err := recall.ContentOf(l.messages[6], proto.Uint32(0), nil)
	require.NoError(t, err)
	require.Equal(t, textOf(126), content.Text, "all of it can be recalled")

	l.script("A")
	require.Equal(t, []uint32{8}, hiddenIn(planned(t, l, snip)))
}

// shownAt returns the result of a message as the view shows it.
func shownAt(l *testLog, index uint32) string {
	for _, vm := range l.state().View(session.ViewOptions{}).Messages {
		if at, ok := vm.GetOrigin().(*compactordv1.ViewMessage_Index); ok && at.Index == index {
			return vm.GetMessage().GetParts()[0].GetToolResult().GetParts()[0].GetText().GetText()
		}
	}
	return ""
}

// The edits of a plan fit into one response, and the next plan continues.
func TestHidingTakesTheOldestWhereThereIsTooMuch(t *testing.T) {
	t.Parallel()
	l := newLog().script("U T2:" + strings.Join(slices.Repeat([]string{"a"}, 700), ","))
	for range 700 {
		l.script("R600:a")
	}
	parameters := hideTools(&compactordv1.HideToolResultsStrategy{
		KeepGroups: proto.Uint32(0), Placeholder: proto.String(strings.Repeat("y", 2000)),
	})
	made := planned(t, l, parameters)
	require.Less(t, proto.Size(made), 2<<20)
	first := len(made.GetEdits())
	require.Equal(t, uint32(2), made.GetEdits()[0].GetIndex())
	require.Equal(t, uint32(first+1), made.GetEdits()[first-1].GetIndex())
	l.commit(made, "")
	rest := planned(t, l, parameters)
	require.Len(t, rest.GetEdits(), 700-first)
	require.NotEmpty(t, rest.GetEdits())
}
