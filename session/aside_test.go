package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// Between any two points of any log, a revert puts aside what is active before it and not after it.
func TestPutAside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := sessiontest.NewGenerator(t, make(sessiontest.Counts))
		for range sessiontest.Steps(t, 40) {
			g.Step(t)
		}
		points := rapid.Uint32Range(0, g.W.Log.Newest())
		before, after := points.Draw(t, "before"), points.Draw(t, "after")
		ranges := session.PutAside(g.W.HeadAt(before), g.W.HeadAt(after))
		var have, want []uint32
		for _, r := range ranges {
			require.Less(t, r.GetStart(), r.GetEnd())
			for index := r.GetStart(); index < r.GetEnd(); index++ {
				have = append(have, index)
			}
		}
		stay := g.W.ModelAt(after)
		for _, a := range g.W.ModelAt(before).Messages {
			if stay.Find(a.Index) == nil {
				want = append(want, a.Index)
			}
		}
		require.Equal(t, want, have)
		require.Equal(t, uint32(len(want)), session.CountIndexes(ranges))
	})
}
