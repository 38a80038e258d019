package strategies_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

func emptying(index uint32) *compactordv1.Edit {
	return &compactordv1.Edit{Index: index, Kind: compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP}
}

func cutBefore(index uint32) *compactordv1.Cut {
	return &compactordv1.Cut{
		FirstKeptIndex: index, Summarized: &compactordv1.IndexRange{End: index}, MaxSummaryTokens: 100,
	}
}

// The kept part would begin with the next DEVELOPER message (I4), whoever made the plan, with the cut or after it.
func TestCheckRefusesToEmptyWhatTheKeptPartBeginsWith(t *testing.T) {
	t.Parallel()
	script := "U100 A100 T20 R100 D10 A10 U10 A10"
	check := func(l *testLog, p *plan) error {
		return strategies.Check(&strategies.Input{State: l.state(), Policy: l.policy}, p)
	}
	l := newLog().script(script)
	const why = "cuts (I4): nothing is left of message 2"
	require.ErrorContains(t, check(l, &plan{Cut: cutBefore(2), Edits: []*compactordv1.Edit{emptying(2)}}), why)
	require.NoError(t, check(l, &plan{Cut: cutBefore(1), Edits: []*compactordv1.Edit{emptying(2)}}), "it comes later")
	require.NoError(t, check(l, &plan{Edits: []*compactordv1.Edit{emptying(2)}}), "the kept part begins before it")
	require.NoError(t, check(newLog().script("T20 R100 D10 U10"), &plan{Edits: []*compactordv1.Edit{emptying(0)}}), "no cut was made")
	told := emptying(2)
	told.Replacement = "ran bash"
	require.NoError(t, check(l, &plan{Cut: cutBefore(2), Edits: []*compactordv1.Edit{told}}))

	l.commit(&plan{Cut: cutBefore(2)}, "s")
	require.ErrorContains(t, check(l, &plan{Edits: []*compactordv1.Edit{emptying(2)}}), why)
	require.Empty(t, strategies.Fitting(l.state(), []*compactordv1.Edit{emptying(2)}, nil))
	require.NoError(t, check(l, &plan{Edits: []*compactordv1.Edit{told}}))
}

// A pin keeps the message visible, but a cut before it would outlast the pin.
func TestCheckRefusesACutAtWhatAPinAloneShows(t *testing.T) {
	t.Parallel()
	l := newLog().script("U100 A100 T20 R100 D10 A10 U10 A10")
	l.commit(&plan{Edits: []*compactordv1.Edit{emptying(2)}}, "")
	l.pin(2)
	in := &strategies.Input{State: l.state(), Policy: l.policy}
	require.ErrorContains(t, strategies.Check(in, &plan{Cut: cutBefore(2)}), "cuts (I4): before message 2 no cut is valid")
	require.NoError(t, strategies.Check(in, &plan{Cut: cutBefore(1)}))
}

// The first kept message loses its thinking if its call remains, and keeps it if nothing else would.
func TestDropThinkingOfWhatTheKeptPartBeginsWith(t *testing.T) {
	t.Parallel()
	for words, want := range map[string][]uint32{"call": {2, 4}, "": {4}} {
		l := newLog()
		l.policy = &compactordv1.Policy{Thinking: compactordv1.ThinkingPolicy_THINKING_POLICY_KEEP_ALL.Enum()}
		l.script("U100 A100")
		for i := range 2 {
			m := l.message("H", 500, "")
			m.Parts = m.GetParts()[:1]
			if words != "" || i > 0 {
				m.Parts = append(m.GetParts(), l.calls(20, "")...)
			}
			l.add(m)
			if words != "" || i > 0 {
				l.script("R10")
			} else {
				l.script("D")
			}
		}
		l.script("U A")
		l.commit(&plan{Cut: cutBefore(2)}, "s")
		require.Equal(t, want, indexesOf(planned(t, l, keepThinking(0))), words)
	}
}
