package strategies_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// foldsOf returns the first and the last index of each fold of a plan.
func foldsOf(made *plan) []string {
	var all []string
	for _, e := range made.GetEdits() {
		if session.Carries(e) {
			all = append(all, fmt.Sprintf("%d to %d", e.GetFoldStart(), e.GetFoldEnd()-1))
		}
	}
	return all
}

// foldAll folds all sub-tasks, however small.
func foldAll(bounds compactordv1.SubtaskBounds) *compactordv1.Strategy {
	return foldingSubtasks(&compactordv1.FoldSubtasksStrategy{
		Bounds: bounds.Enum(), KeepSubtasks: proto.Uint32(0), MinimumTokens: proto.Uint32(1),
	})
}

const (
	byTodos       = compactordv1.SubtaskBounds_SUBTASK_BOUNDS_TODO_ITEMS
	byCheckpoints = compactordv1.SubtaskBounds_SUBTASK_BOUNDS_CHECKPOINTS
)

// A sub-task is from the call that sets an item in progress to before the one that sets it completed.
func TestSubtasksByTodos(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		want   []string
	}{
		"one":                             {"U L:> R T:a R900:a L:v R A", []string{"1 to 4"}},
		"one after the other":             {"U L:>. R T:a R900:a L:v> R T:a R900:a L:vv R", []string{"1 to 4", "5 to 8"}},
		"a pause between":                 {"U L:>. R T:a R900:a L:v. R T:a R900:a L:v> R T:a R900:a L:vv R", []string{"1 to 4", "9 to 12"}},
		"not finished":                    {"U L:> R T:a R900:a L:> R T:a R900:a", nil},
		"put off":                         {"U L:> R T:a R900:a L:. R T:a R900:a L:v R", nil},
		"put off, then taken up again":    {"U L:> R T:a R900:a L:. R A L:> R T:a R900:a L:v R", []string{"8 to 11"}},
		"cancelled":                       {"U L:>. R T:a R900:a L:x> R T:a R900:a L:xv R", []string{"5 to 8"}},
		"left out of the list":            {"U L:>. R T:a R900:a L:-> R T:a R900:a L:-v R", []string{"5 to 8"}},
		"the whole list left out":         {"U L:>. R T:a R900:a L R T:a R900:a L:vv R", nil},
		"completed at once":               {"U T:a R900:a L:v R T:a R900:a", nil},
		"several at once":                 {"U L:>>. R T:a R900:a L:v>. R T:a R900:a L:vv> R", []string{"1 to 8"}},
		"one that joins another":          {"U L:>. R T:a R900:a L:>> R T:a R900:a L:v> R A L:vv R", []string{"1 to 11"}},
		"one that is put off at the end":  {"U L:>> R T:a R900:a L:v> R T:a R900:a L:v. R", []string{"1 to 8"}},
		"with other calls beside":         {"U L:> R T:a,b R900:a R900:b L:v R", []string{"1 to 5"}},
		"from one turn into the next":     {"U L:> R T:a R900:a A U T:a R900:a L:v R", nil},
		"over a whole turn":               {"U L:> R T:a R900:a U T:a R900:a A U T:a R900:a L:v R", []string{"5 to 8"}},
		"its end in a turn of its own":    {"U L:> R A U T:a R900:a A U L:v R", []string{"4 to 7"}},
		"a list of a message that failed": {"U L:> R T:a R900:a X9:a T:a R900:a L:v R", []string{"1 to 7"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLog().script(c.script)
			made := planned(t, l, foldAll(byTodos))
			require.Equal(t, c.want, foldsOf(made))
			for _, e := range made.GetEdits() {
				require.Equal(t, session.Carries(e), e.GetBySummarizer())
			}
			if len(c.want) > 0 {
				requireConverged(t, l, made, foldAll(byTodos))
			}
		})
	}
}

// An item that has another text is the same one where it stands at its place in a list that goes on.
func TestSubtasksOfRenamedTodos(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after []todoItem
		folds bool
	}{
		"renamed and completed":         {[]todoItem{{"mend both parsers", "completed"}, {"test", "in_progress"}}, true},
		"in other words of a status":    {[]todoItem{{"mend", "Done"}, {"test", "in-progress"}}, true},
		"another in its place":          {[]todoItem{{"test", "completed"}, {"mend the lexer", "in_progress"}}, false},
		"a new list":                    {[]todoItem{{"deploy", "completed"}, {"announce", "in_progress"}}, false},
		"behind a new one, as it was":   {[]todoItem{{"look", "pending"}, {"mend", "completed"}, {"test", "pending"}}, true},
		"renamed, with one before it":   {[]todoItem{{"look", "completed"}, {"mend both", "in_progress"}, {"test", "pending"}}, true},
		"renamed, and still worked on":  {[]todoItem{{"mend both parsers", "in_progress"}, {"test", "pending"}}, false},
		"the last of the list is taken": {[]todoItem{{"test", "pending"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLog().script("U")
			lists := [][]todoItem{{{"mend", "in_progress"}, {"test", "pending"}}, c.after}
			for _, list := range lists {
				l.add(&compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT, Parts: []*compactordv1.Part{todoCall(list...)}})
				l.script("R T:a R900:a")
			}
			require.Equal(t, c.folds, len(foldsOf(planned(t, l, foldAll(byTodos)))) > 0)
		})
	}
}

// mergeCall changes items of the to-do list, in the JSON of the tool.
func mergeCall(items string) *compactordv1.Message {
	return &compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT, Parts: []*compactordv1.Part{{
		Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{
			Id: "todo", Name: "todo_write", Arguments: `{"merge":true,"todos":[` + items + `]}`,
		}},
	}}}
}

// A call that only changes items of the list leaves the others as they are. Items are known by their ids, also without
// their texts.
func TestSubtasksOfChangedTodos(t *testing.T) {
	t.Parallel()
	const list = `{"merge":false,"todos":[{"id":"1","content":"mend","status":"in_progress"},{"id":"2","content":"test","status":"pending"}]}`
	for name, c := range map[string]struct {
		changes []string
		want    []string
	}{
		"the item alone":             {[]string{`{"id":"1","status":"completed"}`}, []string{"1 to 4"}},
		"with its text":              {[]string{`{"id":"1","content":"mend","status":"completed"}`}, []string{"1 to 4"}},
		"by its text":                {[]string{`{"content":"mend","status":"completed"}`}, []string{"1 to 4"}},
		"with another text":          {[]string{`{"id":"1","content":"mend both","status":"completed"}`}, []string{"1 to 4"}},
		"an id that is a number":     {[]string{`{"id":1,"status":"completed"}`}, []string{"1 to 4"}},
		"another item":               {[]string{`{"id":"2","content":"test it"}`}, nil},
		"another, then the item":     {[]string{`{"id":"2","content":"test it"}`, `{"id":"1","status":"completed"}`}, []string{"1 to 8"}},
		"renamed first":              {[]string{`{"id":"1","content":"mend both"}`, `{"id":"1","status":"completed"}`}, []string{"1 to 8"}},
		"one more in progress":       {[]string{`{"id":"3","content":"look","status":"in_progress"}`, `{"id":"1","status":"completed"}`}, nil},
		"a new one, then both ended": {[]string{`{"id":"3","content":"look","status":"in_progress"}`, `{"id":"1","status":"completed"},{"id":"3","status":"completed"}`}, []string{"1 to 8"}},
		"put off":                    {[]string{`{"id":"1","status":"pending"}`, `{"id":"1","status":"completed"}`}, nil},
		"an unknown item":            {[]string{`{"id":"9","status":"completed"}`}, nil},
		"the next begins at once":    {[]string{`{"id":"1","status":"completed"},{"id":"2","status":"in_progress"}`, `{"id":"2","status":"completed"}`}, []string{"1 to 4", "5 to 8"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLog().script("U")
			begin := mergeCall("")
			begin.GetParts()[0].GetToolCall().Arguments = list
			l.add(begin)
			l.script("R T:a R900:a")
			for _, change := range c.changes {
				l.add(mergeCall(change))
				l.script("R T:a R900:a")
			}
			require.Equal(t, c.want, foldsOf(planned(t, l, foldAll(byTodos))))
		})
	}
}

// Of a sub-task that begins before the kept part, that part is folded which is kept.
func TestSubtasksThatBeginInTheSummary(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, kept string
		want         []string
	}{
		"it ends":                     {"U L:>. R T:a R900:a", "T:a R900:a L:v> R T:a R900:a L:vv R", []string{"5 to 6", "7 to 10"}},
		"it goes on first":            {"U L:>. R T:a R900:a", "T:a R900:a L:>. R T:a R900:a L:v. R", []string{"5 to 10"}},
		"it ends with the first call": {"U L:>. R T:a R900:a", "L:v. R T:a R900:a", nil},
		"it is put off":               {"U L:>. R T:a R900:a", "T:a R900:a L:.. R", nil},
		"it ended before":             {"U L:>. R T:a R900:a L:v. R", "T:a R900:a L:v. R", nil},
		"there was no list":           {"U T:a R900:a", "T:a R900:a L:v. R", nil},
		"another joins":               {"U L:>. R T:a R900:a", "T:a R900:a L:>> R T:a R900:a L:vv R", []string{"5 to 10"}},
		"in a turn of its own":        {"U L:>. R A", "U T:a R900:a A U L:v. R", []string{"4 to 7"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLog().script(c.before)
			cut := uint32(len(l.messages))
			l.script(c.kept)
			l.commit(&plan{Cut: &compactordv1.Cut{FirstKeptIndex: cut}}, "before")
			require.Equal(t, c.want, foldsOf(planned(t, l, foldAll(byTodos))))
		})
	}
}

// A sub-task by checkpoints is between two of them, without what announces the second, and is narrowed to whole turns
// where it is not in one.
func TestSubtasksByCheckpoints(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// parts of the log, with a checkpoint after each but the last.
		parts []string
		want  []string
	}{
		"one is none":                  {[]string{"U T:a R900:a", "U T:a R900:a"}, nil},
		"within a turn":                {[]string{"U", "T:a R900:a", "T:a R900:a", "A"}, []string{"1 to 2", "3 to 4"}},
		"turns":                        {[]string{"U A", "U T:a R900:a A U A", "U A"}, []string{"2 to 7"}},
		"before its announcement":      {[]string{"U M", "T:a R900:a A M", "A"}, []string{"2 to 4"}},
		"a turn that is announced":     {[]string{"U A M", "U T:a R900:a A M", "U"}, []string{"4 to 6"}},
		"from a turn into the next":    {[]string{"U T:a R900:a", "T:a R900:a U T:a R900:a", "A"}, nil},
		"over whole turns":             {[]string{"U", "A U T:a R900:a A U T:a R900:a", "A"}, []string{"2 to 5"}},
		"within a group":               {[]string{"U", "T:a,b R900:a", "R900:b A"}, nil},
		"with nothing between":         {[]string{"U", "", "T:a R900:a", "A"}, []string{"1 to 2"}},
		"the end of a group after one": {[]string{"U T:a,b R900:a", "R900:b T:c R900:c", "A"}, []string{"4 to 5"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLog()
			for i, part := range c.parts {
				if l.script(part); i < len(c.parts)-1 {
					l.checkpoint()
				}
			}
			made, err := registry().Plan(t.Context(), l.input(), foldAll(byCheckpoints))
			require.NoError(t, err)
			require.Equal(t, c.want, foldsOf(made))
		})
	}
}

// A checkpoint that a revert put aside bounds nothing, and neither does one before the kept part.
func TestCheckpointsInForceBound(t *testing.T) {
	t.Parallel()
	l := newLog().script("U A")
	l.checkpoint()
	point := session.Point(l.head())
	l.script("U T:a R900:a A")
	l.checkpoint()
	plans := func() []string {
		made, err := registry().Plan(t.Context(), l.input(), foldAll(byCheckpoints))
		require.NoError(t, err)
		return foldsOf(made)
	}
	require.Equal(t, []string{"2 to 5"}, plans())
	l.revert(point)
	l.script("U T:a R900:a A U A")
	require.Empty(t, plans())
	l.checkpoint()
	require.Equal(t, []string{"6 to 11"}, plans())
	l.commit(&plan{Cut: &compactordv1.Cut{FirstKeptIndex: 10}}, "before")
	require.Empty(t, plans())
}

func TestSubtasksThatStay(t *testing.T) {
	t.Parallel()
	l := newLog().script("U L:>... R T:a R900:a L:v>.. R T:a R1200:a L:vv>. R T:a R1200:a L:vvv> R T:a R1200:a L:vvvv R")
	by := func(keep, minimum *uint32) []string {
		return foldsOf(planned(t, l, foldingSubtasks(&compactordv1.FoldSubtasksStrategy{KeepSubtasks: keep, MinimumTokens: minimum})))
	}
	require.Equal(t, []string{"5 to 8", "9 to 12"}, by(nil, nil))
	require.Equal(t, []string{"5 to 8", "9 to 12", "13 to 16"}, by(proto.Uint32(0), nil))
	require.Equal(t, []string{"1 to 4", "5 to 8"}, by(proto.Uint32(2), proto.Uint32(900)))
	require.Empty(t, by(proto.Uint32(4), proto.Uint32(1)))
	require.Empty(t, by(proto.Uint32(0), proto.Uint32(1300)))
	l.pin(7)
	require.Equal(t, []string{"9 to 12"}, by(nil, nil), "nothing pinned is folded")
}

// The text has a fifth of what the view shows, at least 64 tokens and at most 2,000.
func TestBudgetOfFolds(t *testing.T) {
	t.Parallel()
	for size, budget := range map[int]uint32{200: 64, 1000: 207, 9000: 1807, 12_000: 2000} {
		l := newLog().script(fmt.Sprintf("U L:> R T:a R%d:a L:v R", size))
		e := planned(t, l, foldAll(byTodos)).GetEdits()[0]
		var held uint32
		for _, m := range l.messages[1:5] {
			held += m.GetTokens()
		}
		require.Equal(t, budget, held-e.GetTokensFreed(), "%d tokens", size)
	}
}

// In a ladder, results that an earlier rung hides are folded with the rest, and a cut leaves no fold before it.
func TestFoldsInALadder(t *testing.T) {
	t.Parallel()
	l := newLog().script(listed)
	hide := hideTools(&compactordv1.HideToolResultsStrategy{KeepGroups: proto.Uint32(0)})
	rung := func(list ...*compactordv1.Strategy) *compactordv1.Strategy {
		p := &compactordv1.LadderStrategy{}
		for _, s := range list {
			p.Rungs = append(p.Rungs, &compactordv1.LadderStrategy_Rung{Strategy: s})
		}
		return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Ladder{Ladder: p}}
	}
	manual := compactordv1.CompactionReason_COMPACTION_REASON_MANUAL
	made := plannedBecause(t, l, manual, rung(hide, foldAll(byTodos)))
	require.NotEmpty(t, foldsOf(made))
	for _, e := range made.GetEdits() {
		folded := false
		for _, f := range made.GetEdits() {
			folded = folded || f.GetKind() == compactordv1.EditKind_EDIT_KIND_FOLD && f.GetIndex() == e.GetIndex()
		}
		require.Equal(t, folded, e.GetKind() == compactordv1.EditKind_EDIT_KIND_FOLD, "message %d", e.GetIndex())
	}
	made = plannedBecause(t, l, manual, rung(foldAll(byTodos), summarizing(&compactordv1.SummarizeStrategy{RecentToolGroups: proto.Uint32(1)})))
	require.NotNil(t, made.GetCut())
	for _, e := range made.GetEdits() {
		require.GreaterOrEqual(t, e.GetFoldStart(), made.GetCut().GetFirstKeptIndex())
	}
}
