package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Where no cut is valid, all messages but the leading ones stay: by the advanced figures and by those computed again.
func TestTailWithoutAPlaceToCut(t *testing.T) {
	w := newLog(system("1234"), answers("nobody", "12345678"))
	require.Nil(t, w.Head.TailIndex)
	require.Equal(t, w.Head.GetViewTokens()-1, w.Head.GetTailTokens())
	require.Equal(t, w.Head.GetTailTokens(), w.State().WithMetrics().GetTailTokens())
}

// Pinned messages count with what views show of them: nothing where repairs leave them out.
func TestPinnedTokensAreThoseShown(t *testing.T) {
	failed := stopped(says("12345678"), compactordv1.StopReason_STOP_REASON_ABORTED)
	w := newLog(user("12345678"), failed, user("1234"))
	pin(w, 0, 1)
	compact(w, 2, "s")
	require.Equal(t, uint32(2), w.Head.GetPinnedTokens())
}
