package strategies_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/strategies"
)

// foldLog has: 0 S, 1 the first turn with 2 to 4, 5 the second with a group 6 to 8, an answer 9, and a group 10 to 11, 12
// the third with an open group from 13 on.
func foldLog() *testLog {
	return newLog().script("S U T100 R100 A U100 T100:a,b R100:b R100:a A T100 R100 U T100:c,d R100:c")
}

func TestFoldRanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		start, end uint32
		before     func(l *testLog)
		// folds are the first and the last message of the fold, or want is a part of the error.
		folds [2]uint32
		want  string
		skips compactordv1.SkipReason
	}{
		{name: "a turn", start: 1, end: 5, folds: [2]uint32{1, 4}},
		{name: "two turns", start: 1, end: 12, folds: [2]uint32{1, 11}},
		{name: "a group", start: 6, end: 9, folds: [2]uint32{6, 8}},
		{name: "a group with the answer after it", start: 6, end: 10, folds: [2]uint32{6, 9}},
		{name: "a start within a group", start: 7, end: 12, folds: [2]uint32{9, 11}},
		{name: "an end within a group", start: 6, end: 11, folds: [2]uint32{6, 9}},
		{name: "both within groups", start: 7, end: 11, folds: [2]uint32{9, 9}, skips: noGain},
		{name: "within one group", start: 7, end: 8, skips: nothing},
		{name: "a part of a turn with its request", start: 5, end: 9, folds: [2]uint32{6, 8}},
		{name: "an open group", start: 13, end: 15, skips: nothing},
		{name: "a turn that goes on", start: 12, end: 15, skips: nothing},
		{name: "no end", start: 1, folds: [2]uint32{}, want: "begin within one turn and end within another"},
		{name: "a leading message", start: 0, end: 5, want: "a leading one"},
		{name: "an end before the start", start: 5, end: 5, want: "not after its start"},
		{name: "an end after the log", start: 5, end: 16, want: "has 15 messages"},
		{name: "from one turn into another", start: 2, end: 9, want: "begin within one turn and end within another"},
		{name: "from a turn's start into another", start: 1, end: 9, want: "begin within one turn and end within another"},
		{name: "a pinned message", start: 5, end: 12, before: func(l *testLog) { l.pin(9) }, want: "message 9 is pinned"},
		{name: "what a summary covers", start: 2, end: 5, before: func(l *testLog) {
			l.commit(&compactordv1.CompactionPlan{Cut: &compactordv1.Cut{FirstKeptIndex: 5}}, "before")
		}, want: "covers message 2 already"},
		{name: "over a smaller fold", start: 5, end: 12, before: folding(6, 9), folds: [2]uint32{5, 11}},
		{name: "beside a fold", start: 10, end: 12, before: folding(6, 9), folds: [2]uint32{10, 11}},
		{name: "within a fold", start: 6, end: 9, before: folding(5, 12), want: "messages 5 to 11 are folded already"},
		{name: "from a fold's start", start: 5, end: 9, before: folding(5, 12), want: "messages 5 to 11 are folded already"},
		{name: "over a fold's end", start: 9, end: 12, before: folding(6, 10), want: "messages 6 to 9 are folded already"},
		{name: "a fold again, as long", start: 6, end: 9, before: folding(6, 9), skips: noGain},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := foldLog()
			if c.before != nil {
				c.before(l)
			}
			in := &strategies.Input{State: l.state(), Policy: l.policy}
			end := &c.end
			if c.end == 0 {
				end = nil
			}
			made, err := strategies.PlanFold(in, c.start, end, "done")
			requireVerdict(t, c.want, err)
			require.Equal(t, c.skips, made.GetSkipReason())
			if len(made.GetEdits()) == 0 {
				require.True(t, err != nil || c.skips != 0)
				return
			}
			require.NoError(t, strategies.Check(in, made))
			edits := made.GetEdits()
			require.Equal(t, c.folds[0], edits[0].GetIndex())
			require.Equal(t, c.folds[1], edits[len(edits)-1].GetIndex())
			require.Contains(t, edits[0].GetReplacement(), "done")
		})
	}
}

const noGain = compactordv1.SkipReason_SKIP_REASON_NO_GAIN

func folding(start, end uint32) func(l *testLog) {
	return func(l *testLog) {
		made, err := strategies.PlanFold(&strategies.Input{State: l.state(), Policy: l.policy}, start, &end, "done")
		if err != nil || len(made.GetEdits()) == 0 {
			panic("nothing to fold")
		}
		l.commit(made, "")
	}
}

func TestFoldOfTooManyMessages(t *testing.T) {
	t.Parallel()
	l := newLog()
	message := l.message("U", 1, "")
	for range 20_001 {
		l.add(message)
	}
	in := &strategies.Input{State: l.state(), Policy: l.policy}
	_, err := strategies.PlanFold(in, 0, nil, "done")
	requireVerdict(t, "at most 20000", err)
	_, err = strategies.PlanFold(in, 1, nil, "done")
	require.NoError(t, err)
}

func TestCheckFolds(t *testing.T) {
	t.Parallel()
	l := foldLog()
	in := &strategies.Input{State: l.state(), Policy: l.policy}
	for _, c := range []struct {
		name   string
		change func(edits []*compactordv1.Edit) []*compactordv1.Edit
		want   string
	}{
		{"as planned", func(edits []*compactordv1.Edit) []*compactordv1.Edit { return edits }, ""},
		{"to be written", func(edits []*compactordv1.Edit) []*compactordv1.Edit {
			edits[0].Replacement, edits[0].BySummarizer, edits[0].TokensFreed = "", true, 200
			return edits
		}, ""},
		{"to be written as long as its messages", func(edits []*compactordv1.Edit) []*compactordv1.Edit {
			edits[0].Replacement, edits[0].BySummarizer = "", true
			return edits
		}, "(I5)"},
		{"a message left out", func(edits []*compactordv1.Edit) []*compactordv1.Edit { return slices.Delete(edits, 1, 2) }, "(I1)"},
		{"the last one left out", func(edits []*compactordv1.Edit) []*compactordv1.Edit { return edits[:2] }, "(I1)"},
		{"without its first", func(edits []*compactordv1.Edit) []*compactordv1.Edit { return edits[1:] }, "(I1)"},
		{"another order", func(edits []*compactordv1.Edit) []*compactordv1.Edit {
			edits[1], edits[2] = edits[2], edits[1]
			return edits
		}, "(I1)"},
		{"a message twice", func(edits []*compactordv1.Edit) []*compactordv1.Edit { return append(edits, edits[2]) }, "(I1)"},
		{"a part", func(edits []*compactordv1.Edit) []*compactordv1.Edit {
			edits[1].Part = 1
			return edits
		}, "(I1)"},
		{"a longer range than its messages", func(edits []*compactordv1.Edit) []*compactordv1.Edit {
			for _, e := range edits {
				e.FoldEnd = 100
			}
			return edits
		}, "(I1)"},
		{"an end before the start", func(edits []*compactordv1.Edit) []*compactordv1.Edit {
			for _, e := range edits {
				e.FoldEnd = 0
			}
			return edits
		}, "(I1)"},
		{"a part of a group", func(edits []*compactordv1.Edit) []*compactordv1.Edit {
			for _, e := range edits {
				e.FoldEnd = 8
			}
			return edits[:2]
		}, "(I2)"},
		{"the open group", func([]*compactordv1.Edit) []*compactordv1.Edit { return foldOf("x", 13, 14) }, "(I2)"},
		{"a result first", func([]*compactordv1.Edit) []*compactordv1.Edit { return foldOf("x", 11) }, "(I2)"},
		{"into another turn", func([]*compactordv1.Edit) []*compactordv1.Edit { return foldOf("x", 4, 5) }, "another"},
		{"a request without its turn", func([]*compactordv1.Edit) []*compactordv1.Edit { return foldOf("x", 5, 6, 7, 8) }, "whole turn"},
		{"a leading message", func([]*compactordv1.Edit) []*compactordv1.Edit { return foldOf("x", 0) }, "does not show"},
		{"without a text", func([]*compactordv1.Edit) []*compactordv1.Edit { return foldOf("", 6, 7, 8) }, "needs either"},
		{"a text and the summarizer", func(edits []*compactordv1.Edit) []*compactordv1.Edit {
			edits[0].BySummarizer = true
			return edits
		}, "needs either"},
		{"a second text", func(edits []*compactordv1.Edit) []*compactordv1.Edit {
			edits[1].Replacement = "x"
			return edits
		}, "is at message 7"},
		{"as long as its messages", func(edits []*compactordv1.Edit) []*compactordv1.Edit {
			edits[0].Replacement = textOf(310)
			return edits
		}, "(I5)"},
		{"of what is folded", func(edits []*compactordv1.Edit) []*compactordv1.Edit {
			return append(edits, foldOf("x", 7)...)
		}, "folded already"},
		{"an edit of what is folded", func(edits []*compactordv1.Edit) []*compactordv1.Edit {
			return append(edits, &compactordv1.Edit{
				Index: 7, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, Replacement: "x",
			})
		}, "(I5)"},
		{"a text for what is folded", func(edits []*compactordv1.Edit) []*compactordv1.Edit {
			return append(edits, &compactordv1.Edit{
				Index: 7, Kind: compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT, BySummarizer: true,
			})
		}, "(I5)"},
		{"over a smaller one", func(edits []*compactordv1.Edit) []*compactordv1.Edit {
			return append(edits, foldOf("x", 5, 6, 7, 8, 9, 10, 11)...)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			plan := &compactordv1.CompactionPlan{Edits: c.change(foldOf("done", 6, 7, 8))}
			err := strategies.Check(in, plan)
			requireVerdict(t, c.want, err)
			fitting := strategies.Fitting(in.State, plan.GetEdits(), nil)
			require.Equal(t, err == nil, len(fitting) == len(plan.GetEdits()))
		})
	}
}

// foldOf returns the edits that fold these messages.
func foldOf(text string, indexes ...uint32) []*compactordv1.Edit {
	var edits []*compactordv1.Edit
	for _, index := range indexes {
		edits = append(edits, &compactordv1.Edit{
			Index: index, Kind: compactordv1.EditKind_EDIT_KIND_FOLD,
			FoldStart: indexes[0], FoldEnd: indexes[len(indexes)-1] + 1,
		})
	}
	edits[0].Replacement = text
	return edits
}

// A plan's ranges are the model's, it frees what it says, and what the summarizer writes has the budget that it leaves.
func TestFoldsOverConversations(t *testing.T) {
	t.Parallel()
	did := seen{}
	checkRounds(t, func(t *rapid.T) {
		g := sessiontest.NewGenerator(t, sessiontest.Counts{})
		long := newLog()
		for range 4 + dice(t, 40) {
			if dice(t, 3) == 0 {
				g.W.Append(long.message("T", 100, "work"), nil)
				g.W.Append(long.message("R", 500, "work"), nil)
			}
			g.Step(t)
		}
		model, in := g.W.Model(), &strategies.Input{State: g.W.State(), Policy: g.W.Policy}
		last := g.W.Log.Messages(g.W.Log.Newest())
		for range 6 {
			start, end := uint32(dice(t, int(last)+1)), uint32(dice(t, int(last)+1))
			asked := model.Foldable(start, end)
			made, err := strategies.PlanFold(in, start, &end, "done")
			edits := made.GetEdits()
			did.count("error", err != nil)
			did.count("fold", len(edits) > 0)
			did.count("as asked", asked != nil)
			if err != nil || len(edits) == 0 {
				require.False(t, asked != nil && err != nil, "%v", err)
				continue
			}
			folded := model.Foldable(edits[0].GetFoldStart(), edits[0].GetFoldEnd())
			require.Len(t, edits, len(folded))
			if asked != nil {
				require.Equal(t, asked, folded)
			}
			require.NoError(t, strategies.Check(in, made))
			require.Equal(t, in.State.Head.GetViewTokens()-edits[0].GetTokensFreed(), viewTokens(in.State.WithEdits(edits)))
			requireFoldBudget(t, in, start, end)
		}
	})
	did.require(t, 10, "error", "fold", "as asked")
}

func viewTokens(s *session.State) uint32 { return s.View(session.ViewOptions{}).Tokens }

func requireFoldBudget(t *rapid.T, in *strategies.Input, start, end uint32) {
	made, err := strategies.PlanFold(in, start, &end, "")
	require.NoError(t, err)
	if len(made.GetEdits()) == 0 {
		require.Equal(t, noGain, made.GetSkipReason())
		return
	}
	carrier := made.GetEdits()[0]
	require.True(t, carrier.GetBySummarizer())
	budget := strategies.FoldTextBudget(in.State, carrier)
	longest := proto.CloneOf(carrier)
	longest.Replacement, longest.BySummarizer = textOf(int(budget)), false
	after := in.State.WithEdits(append([]*compactordv1.Edit{longest}, made.GetEdits()[1:]...))
	require.Equal(t, in.State.Head.GetViewTokens()-carrier.GetTokensFreed(), viewTokens(after))
}
