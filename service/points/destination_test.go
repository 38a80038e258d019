package points_test

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/points"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/strategies"
)

// reverted returns a session s whose active messages are in three ranges, each longer than what is read at a time, with
// messages that are put aside between them. Its turns have 1, 2 or 3 messages.
func reverted(t *testing.T) *points.Points {
	t.Helper()
	logs := sessionlog.New(sessionlog.Options{
		Store: memory.New(), Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	policy, err := strategies.Resolve()
	require.NoError(t, err)
	created, err := logs.BeginSession(t.Context(), "s", compactordv1.Estimator_ESTIMATOR_CHARS4, nil, policy)
	require.NoError(t, err)
	require.NoError(t, logs.Create(t.Context(), created))
	p := &points.Points{Logs: logs}
	for part := range 3 {
		if part > 0 {
			_, err := p.Revert(t.Context(), turnsBack(30))
			require.NoError(t, err)
		}
		appendTurns(t, logs, 120)
	}
	return p
}

func appendTurns(t *testing.T, logs *sessionlog.Logs, turns int) {
	t.Helper()
	say := func(w *sessionlog.Write, role compactordv1.Role) {
		_, err := w.AppendOwn(t.Context(), &compactordv1.Message{
			Role: role, Parts: []*compactordv1.Part{session.TextPart("Go on.")},
		})
		require.NoError(t, err)
	}
	require.NoError(t, logs.Update(t.Context(), "s", func(row *storagev1.Session) (*sessionlog.Write, error) {
		w := logs.Begin(row)
		for turn := range turns {
			say(w, compactordv1.Role_ROLE_USER)
			for range turn % 3 {
				say(w, compactordv1.Role_ROLE_ASSISTANT)
			}
		}
		return w, nil
	}))
}

func turnsBack(turns uint32) *compactordv1.RevertToCheckpointRequest {
	return &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Turns{Turns: turns},
	}
}

// Turns are taken back to the point before the first of them. Those that are put aside do not count, wherever they are
// in the log.
func TestEveryNumberOfTurnsIsFound(t *testing.T) {
	p := reverted(t)
	row, err := p.Logs.Row(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, row.GetHead().GetActive(), 3)
	messages, err := p.Logs.MessagesBefore(t.Context(), row, row.GetHead().GetNextIndex())
	require.NoError(t, err)
	var starts []uint32
	for _, m := range messages {
		active := session.StateOf(row.GetHead(), m.GetIndex()) != compactordv1.MessageState_MESSAGE_STATE_PUT_ASIDE
		if active && session.StartsTurn(m.GetMessage()) {
			starts = append(starts, m.GetSequence())
		}
	}
	require.Len(t, starts, 3*120-2*30)
	slices.Reverse(starts)
	for i, start := range starts {
		req := turnsBack(uint32(i + 1))
		req.DryRun = true
		answer, err := p.Revert(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, start-1, answer.GetRecord().GetRevert().GetPoint(), "%d turns", i+1)
	}
	_, err = p.Revert(t.Context(), turnsBack(uint32(len(starts)+1)))
	var refused *apierror.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, compactordv1.ErrorReason_ERROR_REASON_NOTHING_TO_REVERT, refused.Reason)
	require.Equal(t, map[string]string{"turns": "301", "active_turns": "300"}, refused.Metadata)
}
