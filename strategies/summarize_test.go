package strategies_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

const (
	none    = -1
	nothing = compactordv1.SkipReason_SKIP_REASON_NOTHING_TO_COMPACT
	already = compactordv1.SkipReason_SKIP_REASON_ALREADY_COMPACTED
	tooFew  = compactordv1.SkipReason_SKIP_REASON_BELOW_MINIMUM
)

func summarizing(p *compactordv1.SummarizeStrategy) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{Summarize: p}}
}

func keepTokens(n uint32) *compactordv1.SummarizeStrategy {
	return &compactordv1.SummarizeStrategy{RecentTokens: &n}
}

func keepAtMost(n uint32) *compactordv1.SummarizeStrategy {
	return &compactordv1.SummarizeStrategy{
		RecentTokens: &n, Budget: compactordv1.BudgetRule_BUDGET_RULE_AT_MOST.Enum(),
	}
}

func splitting(p *compactordv1.SummarizeStrategy, mode compactordv1.SplitTurn) *compactordv1.SummarizeStrategy {
	p.SplitTurn = mode.Enum()
	return p
}

// planned plans and checks the plan.
func planned(t *testing.T, l *testLog, parameters *compactordv1.Strategy) *compactordv1.CompactionPlan {
	t.Helper()
	registry, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(t, err)
	in := l.input()
	plan, err := registry.Plan(t.Context(), in, parameters)
	require.NoError(t, err)
	require.NoError(t, strategies.Check(in, plan))
	return plan
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		log  string
		keep *compactordv1.SummarizeStrategy
		// cut is the first kept index, or none with a skip reason; split is the start of the split turn, or none.
		cut, split int
		skip       compactordv1.SkipReason
	}{
		{"case 45: empty", "", keepTokens(10), none, none, nothing},
		{"case 45: only leading messages", "S D", keepTokens(0), none, none, nothing},
		{"case 46: only tool results", "R R R", keepTokens(5), none, none, nothing},

		{"case 47: keep 10", "U A U A", keepTokens(10), 3, 2, 0},
		{"case 47: keep 11", "U A U A", keepTokens(11), 2, none, 0},
		{"case 47: keep 20", "U A U A", keepTokens(20), 2, none, 0},
		{"case 47: keep 21", "U A U A", keepTokens(21), 1, 0, 0},
		{"case 47: keep 30", "U A U A", keepTokens(30), 1, 0, 0},
		{"case 47: keep 31", "U A U A", keepTokens(31), none, none, nothing},
		{"case 47: after leading messages", "S D U A U A", keepTokens(10), 5, 4, 0},

		{"case 48: the message that reaches the budget is kept", "U10 A30 U10 A5", keepTokens(15), 2, none, 0},
		{"case 48: one token more", "U10 A30 U10 A5", keepTokens(16), 1, 0, 0},
		{"at most: the message that passes the budget is not kept", "U10 A30 U10 A5", keepAtMost(14), 3, 2, 0},
		{"at most: the message that just fits is kept", "U10 A30 U10 A5", keepAtMost(15), 2, none, 0},

		{"case 49: the result reaches the budget, keep 10", "U T2 R100 T2 R100 A", keepTokens(10), 5, 0, 0},
		{"case 49: keep 50", "U T2 R100 T2 R100 A", keepTokens(50), 5, 0, 0},
		{"case 49: keep 110", "U T2 R100 T2 R100 A", keepTokens(110), 5, 0, 0},
		{"case 49: keep 111", "U T2 R100 T2 R100 A", keepTokens(111), 3, 0, 0},
		{"case 49: keep 120", "U T2 R100 T2 R100 A", keepTokens(120), 3, 0, 0},
		{"case 49: keep 300", "U T2 R100 T2 R100 A", keepTokens(300), none, none, nothing},

		{"case 50: ends in a large result, keep 1", "U T2 R100", keepTokens(1), 1, 0, 0},
		{"case 50: keep 50", "U T2 R100", keepTokens(50), 1, 0, 0},
		{"case 50: keep 101", "U T2 R100", keepTokens(101), 1, 0, 0},
		{"case 50: keep 103", "U T2 R100", keepTokens(103), none, none, nothing},
		{"case 50: two steps", "U T2 R100 T2 R100", keepTokens(50), 3, 0, 0},
		{"case 50: at most", "U T2 R100", keepAtMost(50), 1, 0, 0},

		{"case 52: parallel calls stay together", "U A T2:a,b R10:a R10:b", keepTokens(10), 2, 0, 0},
		{"case 52: and go together", "U A T2:a,b R10:a R10:b A U", keepTokens(25), 5, 0, 0},
		{"case 53: an open call before the cut", "U A T2:a A", keepTokens(10), 2, 0, 0},
		{"case 53: interleaved groups", "U A T2:a T2:b R10:b R10:a", keepTokens(21), 2, 0, 0},
		{"case 53: the newer of interleaved groups", "U A T2:a T2:b R10:a R10:b U", keepTokens(32), 6, none, 0},
		{"case 54: the model's next answer closes the call", "U T2 U A U A", keepTokens(21), 3, 2, 0},
		{"case 54: and ends what may not be cut", "U T2 U A", keepTokens(10), 3, 2, 0},
		{"case 54: a later user message does not", "U T2 U", keepTokens(10), 1, 0, 0},
		{"case 54: nor do several", "U T2 U D U", keepTokens(10), 1, 0, 0},
		{"case 54: nor does an answer that failed", "U T2 U X U", keepTokens(10), 1, 0, 0},
		{"case 54: keep 10", "U T2 U A U A", keepTokens(10), 5, 4, 0},
		{"case 54: keep 20", "U T2 U A U A", keepTokens(20), 4, none, 0},
		{"case 54: keep 40, at what was said before it was closed", "U T2 U A U A", keepTokens(40), 2, none, 0},

		{"case 56: a branch summary", "U A F A A", keepTokens(30), 2, 0, 0},
		{"case 56: an empty prefix", "U A U A A", keepTokens(30), 2, none, 0},
		{"case 57: a shell entry of the user", "U A I A", keepTokens(20), 2, none, 0},
		{"case 57: splits as a turn does", "U A I A", keepTokens(10), 3, 2, 0},
		{"case 58: an extension message starts no turn", "U A C A", keepTokens(20), 2, 0, 0},
		{"case 59: developer at the cut", "U A D U A", keepTokens(30), 3, none, 0},
		{"case 59: developer last", "U A U D", keepTokens(10), 2, none, 0},
		{"case 60: developer within a group", "U T2 D R10 U", keepTokens(25), 4, none, 0},
		{"case 61: keep 0", "U A U A", keepTokens(0), 3, 2, 0},
		{"case 61: keep at most 0", "U A U A", keepAtMost(0), 3, 2, 0},
		{"case 61: one message", "U", keepTokens(0), none, none, nothing},
		{"case 62: larger than everything", "S U A U A", keepTokens(1000), none, none, nothing},
		{"case 63: no user message before the cut", "A A A", keepTokens(10), 2, none, 0},
		{"case 63: only one that starts no turn", "C A A", keepTokens(10), 2, none, 0},
		{
			"case 68: one unfinished turn", "S U T2 R500 T2 R500 T2 R500 T2:open", keepTokens(600), 6, 1, 0,
		},
		{
			"case 65: the last two of user and assistant", "U A T2 R U A T2 R",
			&compactordv1.SummarizeStrategy{RecentMessages: proto.Uint32(2)}, 5, 4, 0,
		},
		{
			"case 66: no more than are kept", "S U A",
			&compactordv1.SummarizeStrategy{RecentMessages: proto.Uint32(2)}, none, none, nothing,
		},
		{
			"case 67: markers do not count", "U A U A M",
			&compactordv1.SummarizeStrategy{RecentMessages: proto.Uint32(2)}, 2, none, 0,
		},
		{
			"aborted messages do not count", "U A U A X",
			&compactordv1.SummarizeStrategy{RecentMessages: proto.Uint32(2)}, 2, none, 0,
		},
		{"case 69: at most 4500", "U10 A10 U100 A3000 A3000 A1500", keepAtMost(4500), 4, 2, 0},
		{"case 69: at most 4499", "U10 A10 U100 A3000 A3000 A1500", keepAtMost(4499), 5, 2, 0},

		{
			"one turn", "U A U A A",
			&compactordv1.SummarizeStrategy{RecentTurns: proto.Uint32(1)}, 2, none, 0,
		},
		{
			"of turns and messages the fewest hold", "U A U A A",
			&compactordv1.SummarizeStrategy{RecentMessages: proto.Uint32(2), RecentTurns: proto.Uint32(1)}, 3, 2, 0,
		},
		{
			"of messages and turns the fewest hold", "U A U A U",
			&compactordv1.SummarizeStrategy{RecentMessages: proto.Uint32(2), RecentTurns: proto.Uint32(1)}, 4, none, 0,
		},
		{
			"as many groups as there are", "U T2 R T2 R A",
			&compactordv1.SummarizeStrategy{RecentToolGroups: proto.Uint32(2)}, 1, 0, 0,
		},
		{
			"as many turns as there are", "U A U A A",
			&compactordv1.SummarizeStrategy{RecentTurns: proto.Uint32(2)}, none, none, nothing,
		},
		{
			"two groups", "U T2 R T2 R A T2 R",
			&compactordv1.SummarizeStrategy{RecentToolGroups: proto.Uint32(2)}, 3, 0, 0,
		},
		{
			"more groups than there are", "U T2 R T2 R A T2 R",
			&compactordv1.SummarizeStrategy{RecentToolGroups: proto.Uint32(4)}, none, none, nothing,
		},
		{
			"a group within another takes it along", "U A T2:a T2:b R:b R:a A",
			&compactordv1.SummarizeStrategy{RecentToolGroups: proto.Uint32(1)}, 2, 0, 0,
		},
		{
			"the fewest hold: turns", "U A U A A",
			&compactordv1.SummarizeStrategy{RecentTurns: proto.Uint32(1), RecentTokens: proto.Uint32(45)}, 2, none, 0,
		},
		{
			"the fewest hold: tokens", "U A U A A",
			&compactordv1.SummarizeStrategy{RecentTurns: proto.Uint32(2), RecentTokens: proto.Uint32(15)}, 3, 2, 0,
		},
		{
			"no default budget beside another rule", "U10 A90000 U10 A90000",
			&compactordv1.SummarizeStrategy{RecentTurns: proto.Uint32(1)}, 2, none, 0,
		},
		{"the default budget", "U10 A10 U10 A20000", nil, 3, 2, 0},
		{"one below the default budget", "U10 A10 U10 A19989 A10", nil, 2, none, 0},

		{"aborted messages count in the budget", "U A U X30 A", keepTokens(40), 4, 2, 0},
		{
			"joined: the cut is the same, and no start is told", "U A U A",
			splitting(keepTokens(10), compactordv1.SplitTurn_SPLIT_TURN_JOIN_HEAD), 3, none, 0,
		},
		{
			"off: the next start of a turn", "U A U A U A",
			splitting(keepTokens(30), compactordv1.SplitTurn_SPLIT_TURN_OFF), 4, none, 0,
		},
		{
			"off: else the one before", "U A U A A A",
			splitting(keepTokens(10), compactordv1.SplitTurn_SPLIT_TURN_OFF), 2, none, 0,
		},
		{
			"off: within one turn", "U A A A",
			splitting(keepTokens(10), compactordv1.SplitTurn_SPLIT_TURN_OFF), none, none, nothing,
		},
		{"only aborted messages before the cut", "X X:a U", keepTokens(5), none, none, nothing},
		{"and their results", "X:a R:a U", keepTokens(5), none, none, nothing},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			plan := planned(t, newLog().script(c.log), summarizing(c.keep))
			require.Equal(t, c.skip, plan.GetSkipReason())
			require.Empty(t, plan.GetEdits())
			cut, split := none, none
			if plan.GetCut() != nil {
				cut = int(plan.GetCut().GetFirstKeptIndex())
			}
			if plan.GetCut() != nil && plan.GetCut().SplitTurnStart != nil {
				split = int(plan.GetCut().GetSplitTurnStart())
			}
			require.Equal(t, c.cut, cut, "first kept index")
			require.Equal(t, c.split, split, "start of the split turn")
		})
	}
}

func TestCutTellsWhatIsSummarized(t *testing.T) {
	t.Parallel()
	l := newLog().script("S100 U20 A830 U50 A50")
	l.policy = &compactordv1.Policy{Trigger: &compactordv1.Trigger{ReserveTokens: proto.Uint32(1000)}}
	plan := planned(t, l, summarizing(keepTokens(50)))
	// Case 84: the leading messages are never summarized.
	want := &compactordv1.CompactionPlan{
		Cut: &compactordv1.Cut{
			FirstKeptIndex: 4,
			Summarized:     &compactordv1.IndexRange{Start: 1, End: 4},
			SplitTurnStart: proto.Uint32(3),
			// Three quarters of the 900 tokens that it replaces.
			MaxSummaryTokens: 675,
		},
		TokensBefore:          1050,
		SummarizerInputTokens: 900,
	}
	requireEqual(t, want, plan)
}

func TestMaxSummaryTokens(t *testing.T) {
	t.Parallel()
	given := keepTokens(10)
	given.MaxSummaryTokens = proto.Uint32(500)
	for _, c := range []struct {
		name    string
		window  *uint32
		reserve *uint32
		keep    *compactordv1.SummarizeStrategy
		want    uint32
	}{
		{"given", nil, proto.Uint32(1000), given, 500},
		{"of the reserve", nil, proto.Uint32(1000), keepTokens(10), 800},
		{"rounded down", nil, proto.Uint32(16384), keepTokens(10), 13107},
		{"neither reserve nor window", nil, nil, keepTokens(10), 13107},
		{"of the default reserve of a small window", proto.Uint32(8000), nil, keepTokens(10), 1600},
		{"a reserve of 0", nil, proto.Uint32(0), keepTokens(10), 13107},
		{"never under the least", nil, proto.Uint32(10), keepTokens(10), 64},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLog().script("U20000 A U A")
			l.policy = &compactordv1.Policy{
				ContextWindow: c.window, Trigger: &compactordv1.Trigger{ReserveTokens: c.reserve},
			}
			require.Equal(t, c.want, planned(t, l, summarizing(c.keep)).GetCut().GetMaxSummaryTokens())
		})
	}
}

func TestDefaultRecentTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		window *uint32
		want   uint32
	}{
		{"unknown window", nil, 20_000},
		{"large window", proto.Uint32(200_000), 20_000},
		{"what the largest summary leaves of 40 % of the window", proto.Uint32(72_000), 15_693},
		{"a fifth of a small one", proto.Uint32(20_000), 4_000},
		{"and of a tiny one", proto.Uint32(4_000), 800},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// Messages of one token, so that the cut shows the budget.
			l := newLog()
			s := l.state()
			for i := range uint32(21_000) {
				s.Kept = append(s.Kept, &compactordv1.LoggedMessage{
					Index: i, Sequence: i + 1, Tokens: 1, PartSizes: []uint32{4}, Message: l.message("A", 1, ""),
				})
			}
			in := &strategies.Input{State: s, Policy: &compactordv1.Policy{ContextWindow: c.window}}
			plan, err := strategies.Summarize{}.Plan(t.Context(), in, summarizing(nil))
			require.NoError(t, err)
			require.Equal(t, 21_000-c.want, plan.GetCut().GetFirstKeptIndex())
		})
	}
}

func TestRepeatedCut(t *testing.T) {
	t.Parallel()
	summary := textOf(7)
	compacted := func(t *testing.T, words string, keep uint32) *testLog {
		t.Helper()
		l := newLog().script(words)
		l.commit(planned(t, l, summarizing(keepTokens(keep))), summary)
		return l
	}

	t.Run("case 74: nothing appended since", func(t *testing.T) {
		t.Parallel()
		l := compacted(t, "U A U A", 10)
		require.Equal(t, already, planned(t, l, summarizing(keepTokens(0))).GetSkipReason())
	})
	t.Run("case 74: records bring nothing to summarize", func(t *testing.T) {
		t.Parallel()
		l := compacted(t, "U A U A U A", 30)
		l.pin(4)
		require.Equal(t, already, planned(t, l, summarizing(keepTokens(0))).GetSkipReason())
	})
	t.Run("case 74: what was reverted was never appended", func(t *testing.T) {
		t.Parallel()
		l := compacted(t, "U A U A U A", 30)
		point := session.Point(l.head())
		l.script("U A")
		l.revert(point)
		require.Equal(t, already, planned(t, l, summarizing(keepTokens(0))).GetSkipReason())
	})
	t.Run("case 74: nothing is left of what was kept", func(t *testing.T) {
		t.Parallel()
		l := compacted(t, "U A U A", 10)
		s := l.state()
		s.Kept = nil
		in := &strategies.Input{State: s, Policy: l.policy}
		plan, err := strategies.Summarize{}.Plan(t.Context(), in, summarizing(keepTokens(0)))
		require.NoError(t, err)
		require.Equal(t, already, plan.GetSkipReason())
	})
	t.Run("a revert to before the compaction undoes it", func(t *testing.T) {
		t.Parallel()
		l := newLog().script("U A U A")
		point := session.Point(l.head())
		l.commit(planned(t, l, summarizing(keepTokens(10))), summary)
		l.revert(point)
		plan := planned(t, l, summarizing(keepTokens(10)))
		require.Equal(t, uint32(3), plan.GetCut().GetFirstKeptIndex())
		require.Equal(t, uint32(0), plan.GetCut().GetSummarized().GetStart())
	})
	t.Run("a revert that puts all aside leaves nothing before the first message", func(t *testing.T) {
		t.Parallel()
		l := newLog().script("S")
		point := session.Point(l.head())
		l.script("U A U A")
		l.revert(point)
		l.script("U")
		require.Equal(t, nothing, planned(t, l, summarizing(keepTokens(0))).GetSkipReason())
		l.script("A")
		plan := planned(t, l, summarizing(keepTokens(0)))
		requireEqual(t, &compactordv1.IndexRange{Start: 1, End: 6}, plan.GetCut().GetSummarized())
		require.Equal(t, uint32(5), plan.GetCut().GetSplitTurnStart())
		require.Equal(t, uint32(10), plan.GetSummarizerInputTokens())
	})
	t.Run("case 75 and 76: what the last one kept is summarized, with its summary", func(t *testing.T) {
		t.Parallel()
		l := compacted(t, "U A U A U A", 40)
		require.Equal(t, uint32(2), session.KeptFrom(l.head()))
		l.script("U A")
		plan := planned(t, l, summarizing(keepTokens(1)))
		requireEqual(t, &compactordv1.IndexRange{Start: 2, End: 7}, plan.GetCut().GetSummarized())
		require.Equal(t, uint32(6), plan.GetCut().GetSplitTurnStart())
		require.Equal(t, uint32(50+7), plan.GetSummarizerInputTokens())
	})
	t.Run("case 77: a split without a whole turn before it takes the last summary along", func(t *testing.T) {
		t.Parallel()
		l := compacted(t, "U A U A", 20).script("A A")
		plan := planned(t, l, summarizing(keepTokens(10)))
		requireEqual(t, &compactordv1.IndexRange{Start: 2, End: 5}, plan.GetCut().GetSummarized())
		require.Equal(t, uint32(2), plan.GetCut().GetSplitTurnStart())
		require.Equal(t, uint32(30+7), plan.GetSummarizerInputTokens())
	})
	t.Run("a turn that was split before is not split again", func(t *testing.T) {
		t.Parallel()
		l := compacted(t, "U A A A", 20).script("A A")
		plan := planned(t, l, summarizing(keepTokens(10)))
		requireEqual(t, &compactordv1.IndexRange{Start: 2, End: 5}, plan.GetCut().GetSummarized())
		require.Nil(t, plan.GetCut().SplitTurnStart)
	})
	t.Run("case 78: a split without anything before it", func(t *testing.T) {
		t.Parallel()
		plan := planned(t, newLog().script("S U A A"), summarizing(keepTokens(10)))
		require.Equal(t, plan.GetCut().GetSummarized().GetStart(), plan.GetCut().GetSplitTurnStart())
	})
	t.Run("case 80: all that is new is kept", func(t *testing.T) {
		t.Parallel()
		l := compacted(t, "U A U A", 20).script("U A")
		require.Equal(t, nothing, planned(t, l, summarizing(keepTokens(31))).GetSkipReason())
	})
	t.Run("only pinned messages before the cut", func(t *testing.T) {
		t.Parallel()
		l := newLog().script("U A")
		l.pin(0)
		require.Equal(t, nothing, planned(t, l, summarizing(keepTokens(10))).GetSkipReason())
	})
}
