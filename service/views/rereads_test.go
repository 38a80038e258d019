package views_test

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/views"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// blind is a dialect with two bugs: what judges its lists sees nothing, and while broken is set they hold no JSON.
type blind struct {
	dialect.Dialect

	broken *bool
}

func (blind) Judge(*dialect.List, *dialect.Writer, dialect.Mode) []dialect.Violation { return nil }

func (b blind) Render(messages []*compactordv1.Message, opts dialect.RenderOptions) (*dialect.Rendered, error) {
	r, err := b.Dialect.Render(messages, opts)
	if err == nil && *b.broken {
		r.Messages[len(r.Messages)-1] = json.RawMessage("secret")
	}
	return r, err
}

// The first view of a session and one in so many of the others are checked by their JSON. A mistake that only this check
// sees does not leave the daemon then, and is counted and logged without a word of the conversation.
func TestRereadViewsShowMistakesOfRendering(t *testing.T) {
	t.Parallel()
	for _, shape := range dialects.All() {
		var lines strings.Builder
		metrics := prometheus.NewRegistry()
		rereads, err := views.NewRereads([]dialect.Dialect{shape}, slog.New(slog.NewTextHandler(&lines, nil)), metrics)
		require.NoError(t, err)
		rereads.Every = 5
		broken := false
		trails := &views.Trails{MaxBytes: 1 << 20}
		ask := func(w *sessiontest.Writer) error {
			log := written{w}
			_, err := views.InDialect(t.Context(), log, blind{shape, &broken}, &views.Request{
				Row: log.row(), Head: w.Head, MaxBytes: 1 << 20, Trails: trails, Rereads: rereads,
			})
			return err
		}
		w := sessiontest.NewWriter(placing(compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_USER))
		w.Append(said(compactordv1.Role_ROLE_USER, session.TextPart("secret")), nil)

		broken = true
		refused := ask(w)
		require.True(t, apierror.Is(refused, compactordv1.ErrorReason_ERROR_REASON_VIEW_INVALID), "the first view")
		broken = false
		require.NoError(t, ask(w), "nothing is remembered of a view that was refused")
		broken = true
		for range rereads.Every - 1 {
			require.NoError(t, ask(w), "not reread")
		}
		require.Equal(t, refused, ask(w), "one in so many")

		require.Equal(t, map[string]float64{"broken": 2, "valid": 1}, outcomes(t, metrics))
		require.Equal(t, 2, strings.Count(lines.String(), shape.Name()+".shape"))
		require.NotContains(t, lines.String(), "secret")
	}
}

// outcomes returns how many views were reread, by the outcome.
func outcomes(t *testing.T, metrics *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := metrics.Gather()
	require.NoError(t, err)
	require.Len(t, families, 1)
	counts := make(map[string]float64)
	for _, m := range families[0].GetMetric() {
		for _, label := range m.GetLabel() {
			if label.GetName() == "outcome" {
				counts[label.GetValue()] += m.GetCounter().GetValue()
			}
		}
	}
	return counts
}
