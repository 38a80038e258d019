package strategies_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/strategies"
)

// Whole conversations: many rounds of plans on one log, with everything that a log can contain in between.
func TestPlansOverConversations(t *testing.T) {
	t.Parallel()
	did := seen{}
	checkRounds(t, func(t *rapid.T) {
		g := sessiontest.NewGenerator(t, sessiontest.Counts{})
		long := newLog()
		for range 8 {
			for range dice(t, 8) {
				g.Step(t)
				if dice(t, 4) == 0 {
					// The generator's results are short and hardly worth hiding.
					g.W.Append(long.message("T", 100, "work"), nil)
					g.W.Append(long.message("R", 500, "work"), nil)
				}
			}
			did.count(round(t, g, parametersOf(t)), true)
		}
	})
	did.require(t, 10, "cut", "edits", nothing.String(), tooFew.String())
}

// round plans, checks and commits, and returns what was done.
func round(t *rapid.T, g *sessiontest.Generator, parameters *compactordv1.Strategy) string {
	in := &strategies.Input{State: g.W.State(), Policy: g.W.Policy}
	before := snapshot(in.State)
	made, err := registry().Plan(t.Context(), in, parameters)
	require.NoError(t, err)
	require.NoError(t, strategies.Check(in, made))
	require.Equal(t, before, snapshot(in.State), "the input was changed")
	requireWhole(t, in.State, made)

	did := made.GetSkipReason().String()
	if c := made.GetCut(); c != nil {
		require.Contains(t, g.W.Model().CutPlaces(), c.GetFirstKeptIndex())
		g.W.Write(&compactordv1.Record{Kind: &compactordv1.Record_Compaction{Compaction: &compactordv1.CompactionEntry{
			Id: fmt.Sprintf("planned-%d", g.W.Log.Newest()), FirstKeptIndex: c.GetFirstKeptIndex(),
		}}})
		did = "cut"
	}
	if edits := made.GetEdits(); len(edits) > 0 {
		var freed uint32
		for _, e := range edits {
			freed += e.GetTokensFreed()
		}
		g.W.Write(&compactordv1.Record{Kind: &compactordv1.Record_Prune{Prune: &compactordv1.PruneEntry{Edits: edits}}})
		// Messages after an edit can lose their thinking, too.
		require.LessOrEqual(t, g.W.State().View(session.ViewOptions{}).Tokens, made.GetTokensBefore()-freed)
		did = "edits"
	}
	rest, err := registry().Plan(t.Context(), &strategies.Input{State: g.W.State(), Policy: g.W.Policy}, parameters)
	require.NoError(t, err)
	require.Nil(t, rest.GetCut(), "cut again")
	require.Empty(t, rest.GetEdits(), "edited again")
	return did
}
