package dialects_test

import (
	"flag"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/session/sessiontest"
)

// checks is how many rendered views TestEveryViewOfASessionIsValid checks. For a long run:
//
//	COMPACTORD_LONG=1000000 go test ./dialects/ -run TestEveryViewOfASessionIsValid -timeout 0
const checks = 10_000

func checksWanted(t *testing.T) int {
	t.Helper()
	long := os.Getenv("COMPACTORD_LONG")
	if long == "" {
		return checks
	}
	n, err := strconv.Atoi(long)
	require.NoError(t, err, "COMPACTORD_LONG is a number of checks")
	return n
}

// perRound returns how often rapid checks a property.
func perRound(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(flag.Lookup("rapid.checks").Value.String())
	require.NoError(t, err)
	return max(1, n)
}

// TestEveryViewOfASessionIsValid makes sessions with compactions, edits, pins and reverts, and with contents that
// providers refuse. Each view must be valid in each dialect.
func TestEveryViewOfASessionIsValid(t *testing.T) {
	t.Parallel()
	all := dialects.All()
	counts := sessiontest.Counts{}
	least := map[sessiontest.Class]int{
		sessiontest.FirstCompaction: 100, sessiontest.LaterCompaction: 100, sessiontest.CompactionInTurn: 100,
		sessiontest.ReplayMade: 20, sessiontest.PinnedCovered: 20, sessiontest.EditMade: 100, sessiontest.EditOverEdit: 20,
		sessiontest.FoldOfTurns: 50, sessiontest.FoldInTurn: 50, sessiontest.FoldOverFold: 20, sessiontest.FoldMissing: 10,
		sessiontest.FoldedThenPinned: 5, sessiontest.GroupCollapsed: 50, sessiontest.CollapsedMissing: 5, sessiontest.PinMade: 50, sessiontest.RevertMade: 50,
		sessiontest.PlacementChanged: 50, sessiontest.ThinkingChanged: 50, sessiontest.FailedWithCalls: 20,
		sessiontest.MissingResult: 50, sessiontest.OrphanResult: 50, sessiontest.SecondResult: 20, sessiontest.LateResult: 20,
		sessiontest.IDReusedOpen: 50, sessiontest.IDReusedWithin: 50, sessiontest.NamelessCall: 50,
		dialecttest.BetweenResults: 100, dialecttest.CallsInterleaved: 50, dialecttest.ThinkingSigned: 100,
		dialecttest.ArgumentsNoJSON: 100, dialecttest.OpaqueNoJSON: 50, dialecttest.AttachmentNoJSON: 100,
	}
	rounds := (checksWanted(t) + len(all)*perRound(t) - 1) / (len(all) * perRound(t))
	// Rare cases come up in more rounds. Cases that do not come up in five times as many rounds are an error.
	for round := 0; round < rounds || round < 5*rounds && !t.Failed() && !testing.Short() && counts.Rare(least) != ""; round++ {
		rapid.Check(t, func(t *rapid.T) {
			view := dialecttest.ClosedView(session(t, counts))
			for _, d := range all {
				dialecttest.RequireRendered(t, d, view)
			}
		})
	}
	if !testing.Short() {
		require.Empty(t, counts.Rare(least))
	}
}

// session draws a log: the steps of the tests of package session, with messages of dialecttest.
func session(t *rapid.T, counts sessiontest.Counts) *sessiontest.Writer {
	g := sessiontest.NewGenerator(t, counts)
	h := dialecttest.NewGenerator(counts)
	for range sessiontest.Steps(t, 14) {
		switch sessiontest.Steps(t, 6) {
		case 1:
			for _, m := range h.Exchange(t) {
				g.W.Append(m, nil)
			}
		case 2:
			g.W.Append(h.User(t), nil)
		case 3:
			g.W.Append(h.Assistant(t), nil)
		default:
			g.Step(t)
			g.Step(t)
		}
	}
	return g.W
}
