package storagetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
)

// Running adds a running compaction of an opening to the row.
func (d *Draft) Running(operation, opening string) *Draft {
	d.Session.Running = append(d.Session.Running, &storagev1.RunningCompaction{
		OperationId: operation, StartedAt: At(0), Opening: opening,
	})
	return d
}

// abandoned returns the sessions that a store reports as abandoned, as tenant and id.
func abandoned(t *testing.T, s storage.Store) []string {
	t.Helper()
	refs, err := s.Abandoned(t.Context())
	require.NoError(t, err)
	found := []string{}
	for _, ref := range refs {
		row, err := s.Session(t.Context(), ref.Tenant, ref.SessionID)
		require.NoError(t, err)
		require.Equal(t, storage.RefOf(row), ref)
		found = append(found, ref.Tenant+"/"+ref.SessionID)
	}
	return found
}

// Opening returns the store's own name, also after Close.
func testOpening(t *testing.T, s storage.Store) {
	t.Helper()
	name := s.Opening()
	require.NotEmpty(t, name)
	require.Equal(t, name, s.Opening())
	require.NoError(t, s.Close())
	require.Equal(t, name, s.Opening())
}

// Abandoned returns the sessions, of all tenants, with a running compaction of another opening, and no others. A
// session is no longer returned once the compaction is removed, or in a new incarnation.
func testAbandoned(t *testing.T, s storage.Store) {
	t.Helper()
	const over = "an opening that is over"
	require.Empty(t, abandoned(t, s))
	create(t, s, NewSession("", "idle", "u1"))
	create(t, s, NewSession("", "mine", "u2").Running("op", s.Opening()))
	create(t, s, NewSession("", "made with it", "u3").Running("op", over))
	both := create(t, s, NewSession("tenant", "both", "u4"))
	both = commit(t, s, Next(both).Running("op 1", s.Opening()).Running("op 2", over))
	require.ElementsMatch(t, []string{"/made with it", "tenant/both"}, abandoned(t, s))

	// It stays, whatever else is written, until its compaction is removed.
	both = commit(t, s, Next(both).Texts(2))
	require.ElementsMatch(t, []string{"/made with it", "tenant/both"}, abandoned(t, s))
	rest := Next(both).Policy()
	rest.Session.Running = rest.Session.GetRunning()[:1]
	both = commit(t, s, rest)
	require.Equal(t, []string{"/made with it"}, abandoned(t, s))
	none := Next(both)
	none.Session.Running = nil
	commit(t, s, none)

	require.NoError(t, s.DeleteSession(t.Context(), "", "made with it"))
	require.Empty(t, abandoned(t, s))
	create(t, s, NewSession("", "made with it", "u5"))
	require.Empty(t, abandoned(t, s))

	// A refused commit changes nothing.
	late := Next(none.Session).Running("op 3", over)
	late.Session.Revision--
	require.ErrorIs(t, s.Commit(t.Context(), &late.Commit), storage.ErrConflict)
	require.Empty(t, abandoned(t, s))
}

// A compaction that runs when a store is closed is abandoned when the store is opened again, under another name.
func testReopenAbandons(t *testing.T, b Backend) {
	t.Helper()
	if b.Reopen == nil {
		t.Skip("the store keeps nothing")
	}
	s := b.Open(t)
	before := s.Opening()
	row := create(t, s, NewSession("", "s", "u").Running("op", before))
	require.Empty(t, abandoned(t, s))
	s = b.Reopen(t, s)
	require.NotEqual(t, before, s.Opening())
	require.Equal(t, []string{"/s"}, abandoned(t, s))
	done := Next(row)
	done.Session.Running = nil
	commit(t, s, done)
	s = b.Reopen(t, s)
	require.Empty(t, abandoned(t, s))
}
