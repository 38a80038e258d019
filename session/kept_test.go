package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

func TestPositionAndTokensOfKeptMessages(t *testing.T) {
	kept := []*compactordv1.LoggedMessage{{Index: 3, Tokens: 5}, {Index: 4, Tokens: 7}, {Index: 9, Tokens: 11}}
	s := &session.State{Kept: kept}
	for index, want := range map[uint32]int{0: 0, 3: 0, 4: 1, 5: 2, 9: 2, 10: 3} {
		require.Equal(t, want, s.Position(index), "index %d", index)
	}
	require.Zero(t, (&session.State{}).Position(1))
	require.Equal(t, uint32(23), session.StoredTokens(kept))
	require.Zero(t, session.StoredTokens(nil))
}
