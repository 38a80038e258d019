package strategies_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// A ladder stored edits whose text no view showed, since a later rung had replaced it. The remaining edits make the
// same view, and name all that is freed.
func TestLaddersLeaveOutEditsThatAreNotShown(t *testing.T) {
	t.Parallel()
	collapses := collapsing(&compactordv1.DialogueOnlyStrategy{})
	inputs := clearing(0)
	inputs.ClearArguments = proto.Bool(true)
	type places = map[compactordv1.EditKind][]uint32
	const (
		arguments = compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS
		thinking  = compactordv1.EditKind_EDIT_KIND_DROP_THINKING
		collapse  = compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP
	)
	for name, c := range map[string]struct {
		words string
		rungs []*compactordv1.Strategy
		want  places
	}{
		"cut, then hidden": {
			"U T2 R1000 T2 R600 A", []*compactordv1.Strategy{cutTo(50), gone(1)}, places{truncated: {4}, hidden: {2}},
		},
		"cut thrice": {
			"U T2 R1000 A", []*compactordv1.Strategy{cutTo(300), cutTo(200), cutTo(50)}, places{truncated: {2}},
		},
		"in a ladder of its own": {
			"U T2 R1000 A", []*compactordv1.Strategy{cutTo(300), ladder(rung(cutTo(200)), rung(gone(0)))}, places{hidden: {2}},
		},
		"without media, then cut": {
			"U T2 V1000 P A", []*compactordv1.Strategy{stripping(nil), cutTo(50)}, places{stripped: {3}, truncated: {2}},
		},
		"compressed, then collapsed": {
			"U T500 R3000 A U A", []*compactordv1.Strategy{compressOver(900, 0), collapses}, places{collapse: {1}},
		},
		"hidden and cleared, then collapsed": {
			"U T500:a,b R1000:a R1000:b A U T500 R1000 A",
			[]*compactordv1.Strategy{
				collapsing(&compactordv1.DialogueOnlyStrategy{KeepTurns: proto.Uint32(5)}), clearUses(inputs), collapses,
			},
			places{collapse: {1}, hidden: {7}, arguments: {6}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps, rungs := newLog().script(c.words), make([]*compactordv1.LadderStrategy_Rung, len(c.rungs))
			for i, s := range c.rungs {
				rungs[i] = rung(s)
				steps.commit(planned(t, steps, s), "")
			}
			l := newLog().script(c.words)
			made := planned(t, l, ladder(rungs...))
			require.Equal(t, c.want, placesOf(made))
			requireFrees(t, l, made)
			requireSameMessages(t, steps, l)
		})
	}

	// The edit of a message's thinking stays a separate edit when the message's calls are collapsed.
	l := newLog().script("U")
	asked := l.message("H", 400, "")
	asked.Parts = append(asked.Parts, l.calls(2, "a")...)
	l.add(asked)
	l.script("R900:a A U A")
	made := planned(t, l, ladder(rung(keepThinking(0)), rung(cutTo(50)), rung(collapses)))
	require.Equal(t, places{thinking: {1}, collapse: {1}}, placesOf(made))
	requireFrees(t, l, made)
}

// requireFrees carries out a plan, and checks that it frees what its edits say.
func requireFrees(t *testing.T, l *testLog, made *plan) {
	t.Helper()
	before := l.head().GetViewTokens()
	l.commit(made, "")
	var freed uint32
	for _, e := range made.GetEdits() {
		freed += e.GetTokensFreed()
	}
	require.Equal(t, before-l.head().GetViewTokens(), freed)
}

func requireSameMessages(t *testing.T, want, got *testLog) {
	t.Helper()
	all, views := want.state().View(session.ViewOptions{}).Messages, got.state().View(session.ViewOptions{}).Messages
	require.Len(t, views, len(all))
	for i := range all {
		require.True(t, proto.Equal(all[i].GetMessage(), views[i].GetMessage()), "message %d", i)
	}
}
