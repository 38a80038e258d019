package strategies_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

func pruneTools(p *compactordv1.PruneToolOutputsStrategy) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_PruneToolOutputs{PruneToolOutputs: p}}
}

// pruneAll protects nothing.
func pruneAll() *compactordv1.PruneToolOutputsStrategy {
	return &compactordv1.PruneToolOutputsStrategy{
		KeepTurns: proto.Uint32(0), KeepTokens: proto.Uint32(0), MinimumTokens: proto.Uint32(0),
	}
}

func hiddenIn(plan *compactordv1.CompactionPlan) []uint32 {
	var hidden []uint32
	for _, e := range plan.GetEdits() {
		if e.GetKind() == compactordv1.EditKind_EDIT_KIND_HIDE_RESULT {
			hidden = append(hidden, e.GetIndex())
		}
	}
	return hidden
}

func TestPrune(t *testing.T) {
	t.Parallel()
	protecting := func(tools ...string) *compactordv1.PruneToolOutputsStrategy {
		return &compactordv1.PruneToolOutputsStrategy{ProtectedTools: tools}
	}
	groups := func(n, protect, minimum uint32) *compactordv1.PruneToolOutputsStrategy {
		return &compactordv1.PruneToolOutputsStrategy{
			KeepGroups: &n, KeepTokens: &protect, MinimumTokens: &minimum,
		}
	}
	for _, c := range []struct {
		name   string
		log    string
		prune  *compactordv1.PruneToolOutputsStrategy
		hidden []uint32
		skip   compactordv1.SkipReason
	}{
		{"nothing at all", "", nil, nil, nothing},
		{"no tool results", "U A U A U A", nil, nil, nothing},
		{"case 202: both turns are protected", "U T2 R100000 U T2 R10", nil, nil, nothing},
		{"case 202: older by one turn", "U T2 R100000 U T2 R10 U", nil, []uint32{2}, 0},
		{"case 202: one turn alone", "U T2 R100000 T2 R100000 T2 R10", nil, nil, nothing},
		{"case 203: 20,000 beyond 40,000", "U T2 R20000 T2 R40000 U U", nil, nil, tooFew},
		{"case 203: 20,001 beyond 40,000", "U T2 R20001 T2 R40000 U U", nil, []uint32{2}, 0},
		{
			"case 204: the result that crosses is hidden whole", "U T2 R30000 T2 R30000 T2 R20000 U U", nil,
			[]uint32{2, 4},
			0,
		},
		{
			"case 205: protected tools are not hidden", "U T2:skill/a R100000 T2 R40000 U U", protecting("skill"),
			nil, nothing,
		},
		{"case 205: with those before them", "U T2 R30000 T2:skill/a R40000 T2 R40000 U U", protecting("skill"), []uint32{2}, 0},
		{"case 205: nor counted", "U T2 R30000 T2:skill/a R40000 T2 R10000 U U", protecting("skill"), nil, nothing},
		{
			"case 205: all others are counted", "U T2 R30000 T2:skill/a R40000 T2 R40000 U U", protecting("bash1"),
			[]uint32{2, 4},
			0,
		},
		{"case 218: what was recalled is not hidden", "U T2:recall_content/a R100000 T2 R40000 U U", nil, nil, nothing},
		{"case 218: nor counted as protected", "U T2 R30000 T2:recall/a R40000 T2 R10000 U U", nil, nil, nothing},
		{"case 218: nor as what would be hidden", "U T2 R20000 T2:recall/a R20000 T2 R40000 U U", nil, nil, tooFew},
		{"case 207: errors are not hidden", "U T2 E100000 T2 R40000 U U", nil, nil, nothing},
		{"case 207: with those before them", "U T2 R30000 T2 E40000 T2 R40000 U U", nil, []uint32{2}, 0},
		{"case 207: nor counted", "U T2 R30000 T2 E40000 T2 R10000 U U", nil, nil, nothing},
		{"case 207: nor what still runs", "U T2 R100 T2:a,b R100:a", pruneAll(), []uint32{2}, 0},

		{"groups in one turn", "U T2 R100 T2 R100 T2 R100", groups(2, 0, 0), []uint32{2}, 0},
		{"an open group is one of the newest", "U T2 R100 T2 R100 T2", groups(2, 0, 0), []uint32{2}, 0},
		{"no more groups than are protected", "U T2 R100 T2 R100", groups(2, 0, 0), nil, nothing},
		{"case 196: parallel calls are one group", "U T2:a,b R100:a R100:b T2 R100", groups(1, 0, 0), []uint32{2, 3}, 0},
		{"case 197: a result belongs to its call's group", "U T2:a T2:b R100:b R100:a", groups(1, 0, 0), []uint32{4}, 0},
		{"groups, then tokens", "U T2 R100 T2 R100 T2 R100 T2 R100", groups(1, 150, 0), []uint32{2, 4}, 0},
		{"as many tokens as are protected", "U T2 R100 T2 R100 T2 R100", groups(1, 200, 0), nil, nothing},
		{"just the minimum", "U T2 R100 T2 R100", groups(0, 0, 200), nil, tooFew},
		{"over the minimum", "U T2 R100 T2 R101", groups(0, 0, 200), []uint32{2, 4}, 0},
		{"nothing protected", "U T2 R100", pruneAll(), []uint32{2}, 0},
		{"results too short to hide", "U T2 R5 T2 R100", pruneAll(), []uint32{4}, 0},
		{"only results too short to hide", "U T2 R5", pruneAll(), nil, nothing},
		{"a result without a call", "U R100:x T2 R100", pruneAll(), []uint32{3}, 0},
		{"a result of an aborted message", "U X:a R100:a T2 R100", pruneAll(), []uint32{4}, 0},
		{"a second result", "U T2:a R100:a R100:a", pruneAll(), []uint32{2}, 0},
		{"a late result", "U T2:a U R100:a", pruneAll(), []uint32{3}, 0},
		{"a result that came too late", "U T2:a U A R100:a", pruneAll(), nil, nothing},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLog().script(c.log)
			plan := planned(t, l, pruneTools(c.prune))
			require.Nil(t, plan.GetCut())
			require.Equal(t, c.skip, plan.GetSkipReason())
			require.Equal(t, c.hidden, hiddenIn(plan))
			require.Len(t, plan.GetEdits(), len(c.hidden))
			require.Equal(t, l.head().GetViewTokens(), plan.GetTokensBefore())
		})
	}
}

func TestPrunedIsNotPrunedAgain(t *testing.T) {
	t.Parallel()
	l := newLog().script("U T2 R100 T2 R100")
	l.commit(planned(t, l, pruneTools(pruneAll())), "")
	require.Equal(t, nothing, planned(t, l, pruneTools(pruneAll())).GetSkipReason())

	// Case 206: an already hidden result neither stops the search nor counts.
	l.script("T2 R100 T2 R100")
	p := pruneAll()
	p.KeepTokens = proto.Uint32(100)
	require.Equal(t, []uint32{6}, hiddenIn(planned(t, l, pruneTools(p))))

	// Results before it that were not hidden still can be.
	l = newLog().script("U T2 R100 T2 R100")
	plan := planned(t, l, pruneTools(pruneAll()))
	plan.Edits = plan.GetEdits()[1:]
	l.commit(plan, "")
	require.Equal(t, []uint32{2}, hiddenIn(planned(t, l, pruneTools(pruneAll()))))
	p.KeepTokens = proto.Uint32(100)
	require.Equal(t, nothing, planned(t, l, pruneTools(p)).GetSkipReason(), "what is hidden takes none of what is protected")
}

func TestArgumentsAreClearedOnce(t *testing.T) {
	t.Parallel()
	l := newLog().script("U T200:a R100:a A")
	l.commit(&compactordv1.CompactionPlan{Edits: []*compactordv1.Edit{{
		Index: 1, Kind: compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS, Replacement: `{"x":"` + textOf(100) + `"}`,
	}}}, "")
	p := pruneAll()
	p.ClearArguments = proto.Bool(true)
	plan := planned(t, l, pruneTools(p))
	require.Len(t, plan.GetEdits(), 1)
	require.Equal(t, []uint32{2}, hiddenIn(plan))
}

// The arguments of calls whose results are hidden already are cleared, too, but not among the kept tokens.
func TestPruneClearsArgumentsOfHiddenResults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keepTokens uint32
		cleared    []uint32
	}{
		{0, []uint32{1, 3, 5, 7}},
		{99, []uint32{1, 3}},
		{100, nil},
	} {
		// 2, 6 and 8 are hidden already, 4 is shown, and 9 is the kept group.
		l := newLog().script("U T200 R100 T200 R100 T200 R100 T200 R100 T200 R100")
		var edits []*compactordv1.Edit
		for _, index := range []uint32{2, 6, 8} {
			edits = append(edits, &compactordv1.Edit{
				Index: index, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, Replacement: "gone",
			})
		}
		l.commit(&compactordv1.CompactionPlan{Edits: edits}, "")
		made := planned(t, l, pruneTools(&compactordv1.PruneToolOutputsStrategy{
			KeepGroups: proto.Uint32(1), KeepTokens: &c.keepTokens, MinimumTokens: proto.Uint32(0),
			ClearArguments: proto.Bool(true),
		}))
		var cleared []uint32
		for _, e := range made.GetEdits() {
			if e.GetKind() == compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS {
				cleared = append(cleared, e.GetIndex())
			}
		}
		require.Equal(t, c.cleared, cleared, c.keepTokens)
	}
}

// Each of several calls of one message is cleared separately, and the figures are those of the view.
func TestArgumentsOfSeveralCallsOfAMessage(t *testing.T) {
	t.Parallel()
	p := pruneAll()
	p.ClearArguments = proto.Bool(true)
	for _, c := range []struct {
		name    string
		tokens  []int
		cleared []uint32
		want    []uint32
	}{
		{"all long", []int{200, 300}, nil, []uint32{0, 1}},
		{"the first too short", []int{5, 200}, nil, []uint32{1}},
		{"one cleared before", []int{200, 300, 200}, []uint32{1}, []uint32{0, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLog().script("U")
			call := &compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT}
			for i, tokens := range c.tokens {
				call.Parts = append(call.GetParts(), l.calls(tokens, fmt.Sprint("id", i))...)
			}
			l.add(call)
			for range c.tokens {
				l.script("R100")
			}
			for _, part := range c.cleared {
				l.commit(&compactordv1.CompactionPlan{Edits: []*compactordv1.Edit{{
					Index: 1, Part: part, Kind: compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS, Replacement: "{}",
				}}}, "")
			}
			plan := planned(t, l, pruneTools(p))
			var parts []uint32
			freed := plan.GetTokensBefore()
			for _, e := range plan.GetEdits() {
				freed -= e.GetTokensFreed()
				if e.GetIndex() == 1 {
					parts = append(parts, e.GetPart())
				}
			}
			require.Equal(t, c.want, parts)
			l.commit(plan, "")
			require.Equal(t, l.state().View(session.ViewOptions{}).Tokens, freed)
		})
	}
}

func TestPruneLeavesCollapsedGroups(t *testing.T) {
	t.Parallel()
	l := newLog().script("U T2 R100 T2:a,b R100:b R100:a T2 R100 A")
	l.commit(&compactordv1.CompactionPlan{Edits: []*compactordv1.Edit{{
		Index: 3, Kind: compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP, Replacement: "ran two commands",
	}}}, "")
	p := pruneAll()
	p.ClearArguments = proto.Bool(true)
	require.Equal(t, []uint32{2, 7}, hiddenIn(planned(t, l, pruneTools(p))))
	// Results that no view shows do not count either.
	p.KeepTokens = proto.Uint32(100)
	require.Equal(t, []uint32{2}, hiddenIn(planned(t, l, pruneTools(p))))
}

func TestPruneAfterCompaction(t *testing.T) {
	t.Parallel()
	l := newLog().script("U T2 R100 T2 R100 U T2 R100")
	l.commit(planned(t, l, summarizing(keepTokens(150))), "all that was before")
	// Case 208: messages that the summary covers are not edited.
	require.Equal(t, uint32(5), session.KeptFrom(l.head()))
	require.Equal(t, []uint32{7}, hiddenIn(planned(t, l, pruneTools(pruneAll()))))
}

func TestPruneLeavesPinned(t *testing.T) {
	t.Parallel()
	l := newLog().script("U T100:a,b R100:a R100:b T100 R100")
	l.pin(2)
	p := pruneAll()
	p.ClearArguments = proto.Bool(true)
	plan := planned(t, l, pruneTools(p))
	require.Equal(t, []uint32{5}, hiddenIn(plan))
	require.Len(t, plan.GetEdits(), 2)
}

func TestPlaceholderTellsWhatWasThere(t *testing.T) {
	t.Parallel()
	l := newLog().script("S U T2:{index}/a R1234")
	for _, c := range []struct{ name, template, want string }{
		{"ours", "", "[The result of {index} (1234 tokens) was hidden to free context. " +
			"To read it again, recall index 3, part 0.]"},
		{"given", "{tool}: {tokens} at {index}/{part}, {text} {TOOL}", "{index}: 1234 at 3/0, {text} {TOOL}"},
		{"a literal", "[Old tool result content cleared]", "[Old tool result content cleared]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := pruneAll()
			p.Placeholder = &c.template
			plan := planned(t, l, pruneTools(p))
			require.Len(t, plan.GetEdits(), 1)
			requireEqual(t, &compactordv1.Edit{
				Index:       3,
				Kind:        compactordv1.EditKind_EDIT_KIND_HIDE_RESULT,
				Replacement: c.want,
				TokensFreed: 1234 - session.TextTokens(l.counter, c.want),
			}, plan.GetEdits()[0])
		})
	}
}

func TestPlaceholderLongerThanTheResult(t *testing.T) {
	t.Parallel()
	p := pruneAll()
	p.Placeholder = proto.String(strings.Repeat("long", 100))
	// Replacing 100 tokens by 100 frees nothing.
	plan := planned(t, newLog().script("U T2 R101 T2 R100"), pruneTools(p))
	require.Equal(t, []uint32{2}, hiddenIn(plan))
	require.Equal(t, uint32(1), plan.GetEdits()[0].GetTokensFreed())
}

// Case 201: a hidden result keeps its place, its role and its call.
func TestPrunedViewKeepsItsShape(t *testing.T) {
	t.Parallel()
	l := newLog().script("S U T2:a,b R100:b R100:a A")
	before := l.state().View(session.ViewOptions{})
	plan := planned(t, l, pruneTools(pruneAll()))
	l.commit(plan, "")
	after := l.state().View(session.ViewOptions{})
	require.Len(t, after.Messages, len(before.Messages))
	freed := before.Tokens
	for i, vm := range before.Messages {
		was, is := vm.GetMessage(), after.Messages[i].GetMessage()
		require.Equal(t, was.GetRole(), is.GetRole())
		require.Equal(t, was.GetParts()[0].GetToolResult().GetCallId(), is.GetParts()[0].GetToolResult().GetCallId())
	}
	for _, e := range plan.GetEdits() {
		freed -= e.GetTokensFreed()
	}
	require.Equal(t, after.Tokens, freed)
}

func TestClearArguments(t *testing.T) {
	t.Parallel()
	p := pruneAll()
	p.ClearArguments, p.KeepGroups, p.KeepTurns = proto.Bool(true), proto.Uint32(1), nil
	// In message 1 the second call is too short, and so is the result of message 3. The last group is protected.
	l := newLog().script("U T200:a,b R100:a R100:b T200:c R2:c T200:d R100:d")
	plan := planned(t, l, pruneTools(p))
	require.Equal(t, []uint32{2, 3}, hiddenIn(plan))
	var cleared []uint32
	for _, e := range plan.GetEdits() {
		if e.GetKind() != compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS {
			continue
		}
		cleared = append(cleared, e.GetIndex())
		var object map[string]string
		require.NoError(t, json.Unmarshal([]byte(e.GetReplacement()), &object))
		require.Len(t, object, 1)
		require.Contains(t, object["_cleared"], "index ")
		require.NotContains(t, e.GetReplacement(), "aaaa")
	}
	require.Equal(t, []uint32{1, 4}, cleared)

	l.commit(plan, "")
	view := l.state().View(session.ViewOptions{})
	freed := plan.GetTokensBefore() - view.Tokens
	for _, e := range plan.GetEdits() {
		freed -= e.GetTokensFreed()
	}
	require.Zero(t, freed)

	// Arguments are cleared only once, even if results of the same message are hidden later.
	l.script("T100 R100")
	for _, e := range planned(t, l, pruneTools(p)).GetEdits() {
		require.GreaterOrEqual(t, e.GetIndex(), uint32(6))
	}
}

// Calls that write files have long arguments and short results: the arguments are cleared although no result is worth
// hiding.
func TestClearsArgumentsOfCallsWithShortResults(t *testing.T) {
	t.Parallel()
	parameters := &compactordv1.Strategy{
		Kind: &compactordv1.Strategy_PruneToolOutputs{PruneToolOutputs: &compactordv1.PruneToolOutputsStrategy{
			KeepGroups: proto.Uint32(1), KeepTokens: proto.Uint32(0), MinimumTokens: proto.Uint32(100),
			ClearArguments: proto.Bool(true),
		}},
	}
	head, counter := session.NewHead(compactordv1.Estimator_ESTIMATOR_CHARS4), counterOf(t)
	s := &session.State{Head: head, Counter: counter}
	add := func(m *compactordv1.Message) {
		l := session.Link(head, counter, m, nil)
		session.Advance(head, counter, nil, l)
		s.Kept = append(s.Kept, l)
	}
	for range 10 {
		add(&compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT, Parts: []*compactordv1.Part{{
			Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{
				Id: "c", Name: "write", Arguments: `{"content":"` + strings.Repeat("x", 4000) + `"}`,
			}},
		}}})
		add(&compactordv1.Message{Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{{
			Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
				CallId: "c", Parts: []*compactordv1.ResultPart{{
					Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: "ok"}},
				}},
			}},
		}}})
	}
	plan, err := strategies.PruneToolOutputs{}.Plan(t.Context(), &strategies.Input{State: s}, parameters)
	require.NoError(t, err)
	require.Len(t, plan.GetEdits(), 9)
}

func counterOf(t *testing.T) session.Counter {
	t.Helper()
	counter, err := session.CounterFor(compactordv1.Estimator_ESTIMATOR_CHARS4)
	require.NoError(t, err)
	return counter
}

// The edits of a plan fit into one response, and the next prune continues.
func TestPruneTakesTheOldestWhereThereIsTooMuch(t *testing.T) {
	t.Parallel()
	head, counter := session.NewHead(compactordv1.Estimator_ESTIMATOR_CHARS4), counterOf(t)
	s := &session.State{Head: head, Counter: counter, Edits: map[uint32][]*compactordv1.Edit{}}
	call := &compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT}
	const calls = 2000
	for i := range calls {
		call.Parts = append(call.Parts, &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{
			ToolCall: &compactordv1.ToolCall{Id: fmt.Sprint(i), Name: "read"},
		}})
	}
	add := func(m *compactordv1.Message) {
		l := session.Link(head, counter, m, nil)
		session.Advance(head, counter, nil, l)
		s.Kept = append(s.Kept, l)
	}
	add(call)
	for i := range calls {
		add(&compactordv1.Message{Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{{
			Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
				CallId: fmt.Sprint(i), Parts: []*compactordv1.ResultPart{{
					Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: strings.Repeat("x", 4000)}},
				}},
			}},
		}}})
	}
	parameters := &compactordv1.Strategy{Kind: &compactordv1.Strategy_PruneToolOutputs{
		PruneToolOutputs: &compactordv1.PruneToolOutputsStrategy{
			KeepGroups: proto.Uint32(0), KeepTokens: proto.Uint32(0), MinimumTokens: proto.Uint32(0),
			Placeholder: proto.String(strings.Repeat("y", 2000)),
		},
	}}
	hidden := 0
	for range 10 {
		plan, err := strategies.PruneToolOutputs{}.Plan(t.Context(), &strategies.Input{State: s}, parameters)
		require.NoError(t, err)
		require.Less(t, proto.Size(plan), 2<<20)
		for _, e := range plan.GetEdits() {
			s.Edits[e.GetIndex()] = append(s.Edits[e.GetIndex()], e)
		}
		hidden += len(plan.GetEdits())
		if len(plan.GetEdits()) == 0 {
			break
		}
	}
	require.Equal(t, calls, hidden)
}
