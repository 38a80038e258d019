package storagetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage"
)

// Ended names the openings that have ended, and not the one that is asked.
func testEnded(t *testing.T, s storage.Store) {
	t.Helper()
	shared, ok := s.(storage.Shared)
	if !ok {
		t.Skip("the store is not one that several daemons use")
	}
	ended, err := shared.Ended(t.Context(), []string{"over", s.Opening(), "over too"})
	require.NoError(t, err)
	require.Equal(t, map[string]bool{"over": true, "over too": true}, ended)
}

// Revisions are those of the rows, in the order asked for, and 0 for an incarnation that no longer exists.
func testRevisions(t *testing.T, s storage.Store) {
	t.Helper()
	shared, ok := s.(storage.Shared)
	if !ok {
		t.Skip("the store is not one that several daemons use")
	}
	a := create(t, s, NewSession("", "a", "u1"))
	b := create(t, s, NewSession("tenant", "a", "u2"))
	gone := create(t, s, NewSession("", "gone", "u3"))
	require.NoError(t, s.DeleteSession(t.Context(), "", "gone"))
	b = commit(t, s, Next(b).Texts(1))
	b = commit(t, s, Next(b).Texts(1))

	other := storage.RefOf(a)
	other.UID = "another incarnation"
	revisions, err := shared.Revisions(t.Context(), []storage.Ref{
		storage.RefOf(b), storage.RefOf(gone), storage.RefOf(a), other, storage.RefOf(b),
	})
	require.NoError(t, err)
	require.Equal(t, []uint32{3, 0, 1, 0, 3}, revisions)

	none, err := shared.Revisions(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, none)
}
