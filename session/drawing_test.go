package session_test

import (
	"iter"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// drawn collects a drawing, with the place of each message.
func drawn(t require.TestingT, drawing iter.Seq2[session.Drawn, error]) ([]*compactordv1.ViewMessage, []session.Place) {
	var messages []*compactordv1.ViewMessage
	var places []session.Place
	for d, err := range drawing {
		require.NoError(t, err)
		messages, places = append(messages, d.ViewMessage), append(places, d.Place)
	}
	return messages, places
}

// In pieces of any size and from any place on, a view of any point is drawn as it is from the whole state.
func TestDrawingInPieces(t *testing.T) {
	late := 0
	rapid.Check(t, func(t *rapid.T) {
		g := sessiontest.NewGenerator(t, make(sessiontest.Counts))
		for range sessiontest.Steps(t, 60) {
			g.Step(t)
			point := g.W.Log.Newest()
			if rapid.Bool().Draw(t, "earlier") {
				point = uint32(rapid.Uint64().Draw(t, "point") % uint64(point+1))
			}
			opts := rapid.SampledFrom(everyOption).Draw(t, "options")
			opts.Dialect = compactordv1.Dialect(rapid.IntRange(0, 4).Draw(t, "dialect"))
			requireDrawing(t, g.W, point, opts)
			if g.W.StateAt(point).Head.GetLastLateResult() > 0 {
				late++
			}
		}
	})
	require.Positive(t, late, "no log has late results")
}

func requireDrawing(t *rapid.T, w *sessiontest.Writer, point uint32, opts session.ViewOptions) {
	want := w.StateAt(point).View(opts)
	drawing := w.DrawingAt(point, rapid.IntRange(1, 7).Draw(t, "messages in a piece"))
	messages, places := drawn(t, drawing.View(t.Context(), opts, session.Place{}))
	sameView(t, want.Messages, messages)
	require.Equal(t, want.Report.GetDisableThinking(), drawing.DisableThinking(opts))

	figures, err := drawing.Figures(t.Context(), session.ViewOptions{})
	require.NoError(t, err)
	require.Equal(t, session.FiguresOf(w.StateAt(point).WithMetrics()), figures)
	var dropped []uint32
	for d, err := range drawing.View(t.Context(), opts, session.Place{}) {
		require.NoError(t, err)
		if d.WithoutThinking {
			dropped = append(dropped, d.GetIndex())
		}
	}
	require.Equal(t, want.Report.GetThinkingDropped(), dropped)
	if len(places) == 0 {
		return
	}
	from := rapid.IntRange(0, len(places)-1).Draw(t, "from")
	require.NotContains(t, places[:from], places[from])
	rest, again := drawn(t, drawing.View(t.Context(), opts, places[from]))
	sameView(t, want.Messages[from:], rest)
	require.Equal(t, places[from:], again)
}
