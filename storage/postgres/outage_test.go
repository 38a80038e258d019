package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
	"github.com/compactord/compactord/storage/storagetest"
)

// While the database cannot be reached, calls say so, and an outage is told. It ends by itself.
func TestOutage(t *testing.T) {
	database := postgrestest.Shared(t).Database(t)
	p, url := postgrestest.Through(t, database)
	s := open(t, url)
	told := make(chan storage.Outage, 10)
	s.WatchOutages(func(o storage.Outage) { told <- o })
	d := storagetest.NewSession("", "s", "u")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	p.Close()

	next := storagetest.Next(d.Session).Text("more")
	for name, err := range map[string]error{
		"read": func() error {
			_, err := s.Session(t.Context(), "", "s")
			return err
		}(),
		"commit": s.Commit(t.Context(), &next.Commit),
		"delete": s.DeleteSession(t.Context(), "", "s"),
	} {
		var disk *storage.DiskError
		require.ErrorAs(t, err, &disk, name)
		require.Equal(t, storage.DiskUnreachable, disk.Cause, name)
	}
	begun := <-told
	require.ErrorIs(t, begun.Err, storage.ErrDisk)
	require.False(t, begun.Lost)
	late := make(chan storage.Outage, 10)
	s.WatchOutages(func(o storage.Outage) { late <- o })
	require.Error(t, (<-late).Err, "who asks later is told at once")

	p.Listen()
	over := <-told
	require.NoError(t, over.Err)
	require.Equal(t, begun.Since, over.Since)
	require.NoError(t, (<-late).Err)
	require.NoError(t, s.Commit(t.Context(), &next.Commit))
	require.Empty(t, told)
}
