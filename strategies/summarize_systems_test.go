package strategies_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// cutCase is a log and the place where a rule cuts it.
type cutCase struct {
	name, log string
	rule      *compactordv1.SummarizeStrategy
	// cut is the first kept index, or none; split is the start of the split turn, or none.
	cut, split int
}

func requireCuts(t *testing.T, cases []cutCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			made := planned(t, newLog().script(c.log), summarizing(c.rule))
			if c.cut == none {
				require.Nil(t, made.GetCut())
				require.Equal(t, nothing, made.GetSkipReason())
				return
			}
			require.NotNil(t, made.GetCut())
			require.Equal(t, uint32(c.cut), made.GetCut().GetFirstKeptIndex())
			if c.split == none {
				require.Nil(t, made.GetCut().SplitTurnStart)
			} else {
				require.Equal(t, uint32(c.split), made.GetCut().GetSplitTurnStart())
			}
		})
	}
}

// back is klaude-code's rule.
func back(tokens uint32) *compactordv1.SummarizeStrategy {
	return &compactordv1.SummarizeStrategy{
		RecentTokens: &tokens, CutDirection: compactordv1.CutDirection_CUT_DIRECTION_BACKWARD.Enum(),
	}
}

// tail is opencode's rule: two turns within a budget, and one summary of everything before.
func tail(budget uint32) *compactordv1.SummarizeStrategy {
	return &compactordv1.SummarizeStrategy{
		RecentTurns: proto.Uint32(2), RecentTokens: &budget,
		Budget:    compactordv1.BudgetRule_BUDGET_RULE_AT_MOST.Enum(),
		SplitTurn: compactordv1.SplitTurn_SPLIT_TURN_JOIN_HEAD.Enum(),
	}
}

// newest is kimi-cli's rule: a number of user and assistant messages.
func newest(n uint32) *compactordv1.SummarizeStrategy {
	return &compactordv1.SummarizeStrategy{
		RecentMessages: &n, SplitTurn: compactordv1.SplitTurn_SPLIT_TURN_JOIN_HEAD.Enum(),
	}
}

func TestCase049BackToTheCall(t *testing.T) {
	t.Parallel()
	const log = "U10 T2 R100 T2 R100 A10"
	cases := []cutCase{
		// The message U is reached by 215, since 10 + 2 x 102 are 214.
		{"keep 215", log, back(215), none, none},
		{"keep 222", log, back(222), none, none},
		{"keep 223", log, back(223), none, none},
		{"at most 50, forward again", log, &compactordv1.SummarizeStrategy{
			RecentTokens: proto.Uint32(50), Budget: compactordv1.BudgetRule_BUDGET_RULE_AT_MOST.Enum(),
			CutDirection: compactordv1.CutDirection_CUT_DIRECTION_FORWARD.Enum(),
		}, 5, 0},
	}
	for keep, cut := range map[uint32]int{1: 5, 10: 5, 11: 3, 50: 3, 111: 3, 112: 3, 113: 1, 214: 1} {
		cases = append(cases, cutCase{fmt.Sprintf("keep %d", keep), log, back(keep), cut, 0})
	}
	requireCuts(t, cases)
}

func TestCase050BackFromATrailingResult(t *testing.T) {
	t.Parallel()
	const log = "U10 T2 R100"
	requireCuts(t, []cutCase{
		{"keep 1", log, back(1), 1, 0},
		{"keep 102", log, back(102), 1, 0},
		{"keep 103", log, back(103), none, none},
	})
}

func TestCase053BackThroughInterleavedGroups(t *testing.T) {
	t.Parallel()
	requireCuts(t, []cutCase{
		{"to the older call, whose result is newer", "U A T2:a T2:b R10:b R10:a A", back(15), 2, 0},
		{"an open call", "U A T2:a A", back(10), 2, 0},
		{"parallel calls", "U A T2:a,b R10:a R10:b", back(5), 2, 0},
	})
}

func TestCase054BackPastACallThatIsClosed(t *testing.T) {
	t.Parallel()
	const log = "U10 T2 U10 A10 U10 A10"
	requireCuts(t, []cutCase{
		{"keep 10", log, back(10), 5, 4},
		{"keep 20", log, back(20), 4, none},
		// klaude-code cuts at 1 for 21 to 40, since the call there has no answer.
		{"keep 21", log, back(21), 3, 2},
		{"keep 30", log, back(30), 3, 2},
		{"keep 31", log, back(31), 2, none},
		{"keep 40", log, back(40), 2, none},
		{"keep 41", log, back(41), 1, 0},
	})
}

func TestCase059DeveloperMessagesAnchorForward(t *testing.T) {
	t.Parallel()
	requireCuts(t, []cutCase{
		{"to the next user or assistant", "U A D U A", back(30), 3, none},
		{"else back", "U A U D", back(10), 2, none},
	})
}

func TestCase060DeveloperMessageBeforeResults(t *testing.T) {
	t.Parallel()
	requireCuts(t, []cutCase{
		{"forward past the group", "U T2 D R U", back(30), 4, none},
		{"as without it", "U T2 D R U", keepTokens(30), 4, none},
		{"on the result, back to the call", "U T2 D R U", back(20), 1, 0},
	})
}

func TestBackwardWithoutAPlaceBefore(t *testing.T) {
	t.Parallel()
	requireCuts(t, []cutCase{
		{"results that answer nothing come first", "R100 U A", back(30), 1, none},
		{"a message that views leave out", "U A X50 U A", back(30), 1, 0},
		{"more than there is at the end", "U A U A50", &compactordv1.SummarizeStrategy{
			RecentTokens: proto.Uint32(5), Budget: compactordv1.BudgetRule_BUDGET_RULE_AT_MOST.Enum(),
			CutDirection: compactordv1.CutDirection_CUT_DIRECTION_BACKWARD.Enum(),
		}, 3, 2},
	})
}

func TestManualRecentTokens(t *testing.T) {
	t.Parallel()
	rule := back(30)
	rule.ManualRecentTokens = proto.Uint32(10)
	l := newLog().script("U A U A")
	cutFor := func(reason compactordv1.CompactionReason, p *compactordv1.SummarizeStrategy) uint32 {
		return plannedFor(t, l, reason, p).GetCut().GetFirstKeptIndex()
	}
	require.Equal(t, uint32(3), cutFor(manual, rule))
	for _, reason := range []compactordv1.CompactionReason{0, due} {
		require.Equal(t, uint32(1), cutFor(reason, rule), reason)
	}
	require.Equal(t, uint32(2), cutFor(manual, &compactordv1.SummarizeStrategy{ManualRecentTokens: proto.Uint32(20)}))
	require.Equal(t, uint32(3), cutFor(manual, &compactordv1.SummarizeStrategy{
		RecentMessages: proto.Uint32(3), ManualRecentTokens: proto.Uint32(10),
	}), "of several rules the one that keeps the fewest")
	require.Equal(t, uint32(1), cutFor(due, &compactordv1.SummarizeStrategy{
		RecentMessages: proto.Uint32(3), ManualRecentTokens: proto.Uint32(10),
	}))
}

func TestCase065OnlyUserAndAssistantMessagesCount(t *testing.T) {
	t.Parallel()
	requireCuts(t, []cutCase{
		// Kimi's [u a t u a t], where the results are answers: from the last u on, with its result.
		{"results stay with their calls", "U T2 R U T2 R", newest(2), 3, none},
		{"of a longer one", "U T2 R R A U T2:a,b R:a R:b", newest(2), 5, none},
		{"a cut within a group goes back to its call", "U A T2:a T2:b R10:a R10:b", newest(1), 2, none},
	})
}

func TestCase066TwoMessagesAreKept(t *testing.T) {
	t.Parallel()
	requireCuts(t, []cutCase{
		{"system, user", "S U", newest(2), none, none},
		{"user, assistant", "U A", newest(2), none, none},
		{"one more", "U A U", newest(2), 1, none},
	})
}

func TestCase067MarkersDoNotCount(t *testing.T) {
	t.Parallel()
	requireCuts(t, []cutCase{
		{"between the two", "U A U M A M", newest(2), 2, none},
		{"nothing but markers before", "M U A", newest(2), 1, none},
	})
}

func TestCase068ASingleTurnIsSplit(t *testing.T) {
	t.Parallel()
	const log = "S U10 T2 R100 T2 R100 T2 R100"
	turn := &compactordv1.SummarizeStrategy{RecentTurns: proto.Uint32(1)}
	requireCuts(t, []cutCase{
		{"by tokens", log, keepTokens(50), 6, 1},
		{"by tokens and backward", log, back(150), 4, 1},
		{"by turns there is nothing", log, turn, none, none},
	})
	l := newLog().script(log)
	l.policy = triggerAt(300, 1)
	made := plannedFor(t, l, due, turn)
	require.Equal(t, uint32(6), made.GetCut().GetFirstKeptIndex(), "unless it reaches the trigger")
	require.Equal(t, uint32(1), made.GetCut().GetSplitTurnStart())
}

func TestCase069ATurnThatDoesNotFitIsSplit(t *testing.T) {
	t.Parallel()
	const log = "U10 A10 U100 A3000 A3000 A1500"
	requireCuts(t, []cutCase{
		{"budget 4500", log, tail(4500), 4, none},
		{"budget 4499", log, tail(4499), 5, none},
		{"budget 7600: the whole turn", log, tail(7600), 2, none},
		{"budget 7599: all but its request", log, tail(7599), 3, none},
	})
}

func TestCase070ATurnThatFillsTheBudget(t *testing.T) {
	t.Parallel()
	requireCuts(t, []cutCase{
		{"the older one has no budget left", "U A U30 A20 U100 A200", tail(300), 4, none},
		{"20 tokens more: its last message", "U A U30 A20 U100 A200", tail(320), 3, none},
		{"and all of it", "U A U30 A20 U100 A200", tail(350), 2, none},
		{"never a third turn", "U A U30 A20 U100 A200", tail(1000), 2, none},
	})
}

func TestCase071AtLeastOneMessageIsKept(t *testing.T) {
	t.Parallel()
	requireCuts(t, []cutCase{
		{"the last one, which does not fit", "U10 A10 U10 A3000", tail(2000), 3, none},
		{"a turn of one message", "U10 A10 U3000", tail(2000), 2, none},
		{"a call with its result", "U10 A10 U10 T2 R3000", tail(2000), 3, none},
	})
}

func TestCase072TwoTurnsThatFitAreNothingToCompact(t *testing.T) {
	t.Parallel()
	requireCuts(t, []cutCase{
		{"exactly", "U10 A10 U10 A10", tail(40), none, none},
		{"with room to spare", "U10 A10 U10 A10", tail(2000), none, none},
		{"one token short", "U10 A10 U10 A10", tail(39), 1, none},
	})
}

func TestCase073WhatStartsNoTurn(t *testing.T) {
	t.Parallel()
	requireCuts(t, []cutCase{
		{"what a compaction leaves behind", "U A U A C A M F A U A", tail(2000), 2, none},
		{"answers before the first request", "A A U A U A", tail(2000), 2, none},
		{"they are in no turn that could be kept", "A A U A", tail(2000), none, none},
	})
}
