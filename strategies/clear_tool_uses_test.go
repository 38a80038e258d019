package strategies_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

func clearUses(p *compactordv1.ClearToolUsesStrategy) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_ClearToolUses{ClearToolUses: p}}
}

// clearing keeps this many uses, whatever the size of the context.
func clearing(keep uint32) *compactordv1.ClearToolUsesStrategy {
	return &compactordv1.ClearToolUsesStrategy{KeepCalls: &keep, TriggerTokens: proto.Uint32(0)}
}

func TestClearToolUses(t *testing.T) {
	t.Parallel()
	excluding := func(p *compactordv1.ClearToolUsesStrategy, tools ...string) *compactordv1.ClearToolUsesStrategy {
		p.ProtectedTools = tools
		return p
	}
	for _, c := range []struct {
		name   string
		log    string
		clear  *compactordv1.ClearToolUsesStrategy
		hidden []uint32
		skip   compactordv1.SkipReason
	}{
		{"nothing at all", "", clearing(0), nil, nothing},
		{"three by default", "U T2 R100 T2 R100 T2 R100", &compactordv1.ClearToolUsesStrategy{
			TriggerTokens: proto.Uint32(0),
		}, nil, nothing},
		{"the fourth", "U T2 R100 T2 R100 T2 R100 T2 R100", &compactordv1.ClearToolUsesStrategy{
			TriggerTokens: proto.Uint32(0),
		}, []uint32{2}, 0},
		{"none is to be kept", "U T2 R100 T2 R100", clearing(0), []uint32{2, 4}, 0},
		// The unit is a call and not a group: the first of parallel calls can be cleared alone.
		{"single calls", "U T2:a,b,c R100:c R100:b R100:a", clearing(1), []uint32{3, 4}, 0},
		{"by the order of the calls", "U T2:a T2:b R100:b R100:a", clearing(1), []uint32{4}, 0},
		{"an open call is one of the newest", "U T2 R100 T2 R100 T2", clearing(2), []uint32{2}, 0},
		{"an open group is not touched", "U T2 R100 T2:a,b R100:a", clearing(0), []uint32{2}, 0},
		{"a use without a result counts", "U T2 R100 T2 U", clearing(1), []uint32{2}, 0},
		{"an excluded tool's use counts, and stays", "U T2:x R100 T2:skill/a R100 T2:b R100", excluding(clearing(1), "skill"), []uint32{2}, 0},
		{"errors are cleared", "U T2 E100 T2 R100", clearing(1), []uint32{2}, 0},
		{"what was recalled is not", "U T2:recall/a R100 T2 R100", clearing(1), nil, nothing},
		{"a stray result is no use", "U R100:x T2 R100", clearing(0), []uint32{3}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			requireHidden(t, newLog().script(c.log), clearUses(c.clear), c.hidden, c.skip)
		})
	}
}

// The trigger applies to the whole context, with tokens that are not in the log.
func TestClearToolUsesFromItsTriggerOn(t *testing.T) {
	t.Parallel()
	const belowTrigger = compactordv1.SkipReason_SKIP_REASON_BELOW_THRESHOLD
	l := newLog().script("U100 T100 R100 T100 R100")
	p := clearing(0)
	p.TriggerTokens = proto.Uint32(501)
	require.Equal(t, belowTrigger, planned(t, l, clearUses(p)).GetSkipReason())
	p.TriggerTokens = proto.Uint32(500)
	require.Len(t, planned(t, l, clearUses(p)).GetEdits(), 2)
	p.TriggerTokens = nil
	require.Equal(t, belowTrigger, planned(t, l, clearUses(p)).GetSkipReason(), "100,000 by default")

	l.policy.OverheadTokens = proto.Uint32(99_500)
	require.Len(t, planned(t, l, clearUses(p)).GetEdits(), 2)
	l.policy.OverheadTokens = proto.Uint32(99_499)
	require.Equal(t, belowTrigger, planned(t, l, clearUses(p)).GetSkipReason())

	// A provider's report counts, whether it is higher or lower than the estimate.
	p.TriggerTokens = proto.Uint32(400)
	for reported, want := range map[uint32]int{100_000: 2, 400: 2, 399: 0} {
		l := newLog().script("U100 T100 R100 T100 R100")
		l.add(&compactordv1.Message{
			Role: compactordv1.Role_ROLE_ASSISTANT, Usage: &compactordv1.Usage{TotalTokens: reported},
			Parts: []*compactordv1.Part{session.TextPart("done")},
		})
		require.Len(t, planned(t, l, clearUses(p)).GetEdits(), want, "%d tokens", reported)
	}
}

// Within a ladder the trigger applies to what the rungs before have left.
func TestClearToolUsesAfterAnotherRung(t *testing.T) {
	t.Parallel()
	l := newLog().script("U T2 R1000 T2 R1000 T2 R1000")
	p := clearing(1)
	p.TriggerTokens = proto.Uint32(2500)
	ladder := func(first *compactordv1.Strategy) *compactordv1.Strategy {
		return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Ladder{Ladder: &compactordv1.LadderStrategy{
			Rungs: []*compactordv1.LadderStrategy_Rung{{Strategy: first}, {Strategy: clearUses(p)}},
		}}}
	}
	require.Equal(t, []uint32{2}, hiddenIn(planned(t, l, ladder(hideTools(keepGroups(2))))), "2,042 tokens are left")
	require.Equal(t, []uint32{2, 4}, hiddenIn(planned(t, l, ladder(hideTools(keepGroups(3))))), "nothing was done before")
}

func TestClearToolUsesHidesEnoughOrNothing(t *testing.T) {
	t.Parallel()
	l := newLog().script("U T2 R100 T2 R100 T2 R100")
	p := clearing(1)
	freed := uint32(0)
	for _, e := range planned(t, l, clearUses(p)).GetEdits() {
		freed += e.GetTokensFreed()
	}
	require.Equal(t, uint32(148), freed, "of 200 that are hidden")
	p.MinimumTokens = proto.Uint32(199)
	require.Len(t, planned(t, l, clearUses(p)).GetEdits(), 2)
	p.MinimumTokens = proto.Uint32(200)
	require.Equal(t, tooFew, planned(t, l, clearUses(p)).GetSkipReason())
}

func TestClearToolUsesClearsArguments(t *testing.T) {
	t.Parallel()
	// 1 two calls, the first long; 4 a call whose result is too short, 6 one that never got a result; 8 the newest.
	l := newLog().script("U T200:a,b R100:a R100:b T200:c R2:c T200:d U T200:e R100:e")
	p := clearing(1)
	p.ClearArguments = proto.Bool(true)
	made := planned(t, l, clearUses(p))
	require.Equal(t, []uint32{2, 3}, hiddenIn(made))
	var cleared []uint32
	freed := made.GetTokensBefore()
	for _, e := range made.GetEdits() {
		freed -= e.GetTokensFreed()
		if e.GetKind() == compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS {
			cleared = append(cleared, e.GetIndex())
		}
	}
	require.Equal(t, []uint32{1, 4, 6}, cleared)
	require.IsNonDecreasing(t, indexesOf(made))
	l.commit(made, "")
	require.Equal(t, freed, l.head().GetViewTokens())
	require.Equal(t, nothing, planned(t, l, clearUses(p)).GetSkipReason())

	// An earlier hiding of the result does not keep the arguments from being cleared; a pin does.
	l = newLog().script("U T200:a R100:a T200:b R100:b")
	l.commit(planned(t, l, hideTools(keepGroups(0))), "")
	l.pin(4)
	p.KeepCalls = proto.Uint32(0)
	require.Equal(t, []uint32{1}, indexesOf(planned(t, l, clearUses(p))))
}

func indexesOf(p *plan) []uint32 {
	var indexes []uint32
	for _, e := range p.GetEdits() {
		indexes = append(indexes, e.GetIndex())
	}
	return indexes
}

// Tokens are counted for whole messages, so what clearing two calls frees depends on how both round. A later run must
// not clear more than the first.
func TestClearingArgumentsIsDoneAtOnce(t *testing.T) {
	t.Parallel()
	// The text in place of the arguments has 93 characters, which are 24 tokens.
	const standIn = 93
	p := clearing(0)
	p.ClearArguments, p.Placeholder = proto.Bool(true), proto.String("[gone]")
	arguments := func(characters int) string {
		return `{"command":"` + strings.Repeat("x", characters-len(`{"command":""}`)) + `"}`
	}
	cleared := 0
	for a := standIn; a < standIn+12; a++ {
		for b := standIn; b < standIn+12; b++ {
			for text := range 4 {
				l := newLog().script("U")
				m := &compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT, Parts: l.calls(5, "a,b")}
				m.Parts[0].GetToolCall().Arguments, m.Parts[1].GetToolCall().Arguments = arguments(a), arguments(b)
				m.Parts = append(m.GetParts(), session.TextPart(strings.Repeat("x", text)))
				l.add(m)
				l.script("R100:a R100:b U A")
				made := planned(t, l, clearUses(p))
				cleared += len(made.GetEdits()) - 2
				requireConverged(t, l, made, clearUses(p))
				if edits := made.GetEdits(); len(edits) > 2 {
					require.Contains(t, edits[0].GetReplacement(), "_cleared")
					require.Len(t, edits[0].GetReplacement(), standIn)
				}
			}
		}
	}
	// Arguments from 101 characters on are two tokens longer: four of the twelve lengths of each call.
	require.Equal(t, 4*12*(4+4), cleared)
}

// An overflow means that the context had at least a window. Tokens that are not in the log are a part of that.
func TestOverflowHoldsAWindowWithItsOverhead(t *testing.T) {
	t.Parallel()
	p := clearing(0)
	for trigger, want := range map[uint32]int{1000: 1, 1001: 0} {
		l := newLog().script("U T10 R100 A")
		l.policy.ContextWindow, l.policy.OverheadTokens = proto.Uint32(1000), proto.Uint32(200)
		p.TriggerTokens = &trigger
		made := plannedBecause(t, l, overflow, clearUses(p))
		require.Len(t, made.GetEdits(), want, "%d tokens", trigger)
	}
}
