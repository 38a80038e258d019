package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

func TestActiveRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := sessiontest.NewGenerator(t, make(sessiontest.Counts))
		for range sessiontest.Steps(t, 40) {
			g.Step(t)
		}
		h := g.W.Head
		for from := range h.GetNextIndex() + 2 {
			start, end := session.ActiveRun(h, from)
			for index := from; index < min(start, h.GetNextIndex()); index++ {
				require.False(t, session.ActiveIndex(h, index))
			}
			for index := start; index < end; index++ {
				require.True(t, session.ActiveIndex(h, index))
			}
			require.Equal(t, start < h.GetNextIndex(), start < end)
		}
	})
}
