package postgres_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/postgres"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
	"github.com/compactord/compactord/storage/storagetest"
)

// Old requests do not stay in the database, nor what of them is in chunks.
func TestOldRequestsAreRemoved(t *testing.T) {
	url := postgrestest.Shared(t).Database(t)
	s := open(t, url)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	count := func(table string) (rows int) {
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&rows))
		return rows
	}
	d := storagetest.NewSession("", "s", "u")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	for n := range storage.RememberedRequests + 100 {
		d = storagetest.Next(d.Session).Remember(fmt.Sprint(n))
		if n < 2 {
			d.Request.Stored.Digest = []byte(noise(t, 600_000))
		}
		require.NoError(t, s.Commit(t.Context(), &d.Commit))
		if n == 1 {
			require.NotZero(t, count("chunks"))
		}
	}
	require.Zero(t, count("chunks"))
	require.GreaterOrEqual(t, count("requests"), storage.RememberedRequests)
	require.Less(t, count("requests"), storage.RememberedRequests+100)
}

// The server keeps a plan for the statement that removes them: to make one takes longer than to run it.
func TestRemovingOldRequestsIsPlannedOnce(t *testing.T) {
	url := postgrestest.Shared(t).Database(t)
	s := open(t, url)
	d := storagetest.NewSession("", "s", "u")
	require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	var commits []byte
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT commits FROM sessions").Scan(&commits))
	// The server makes the first five plans for the values.
	const first, more = 5, 5
	for range first + more {
		_, err := conn.Exec(t.Context(), postgres.ForgetStatement, pgx.NamedArgs{"tenant": []byte{}, "id": []byte("s"), "commit": commits})
		require.NoError(t, err)
	}
	var kept, made int
	plans := "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE '%Forgets%' AND statement NOT LIKE '%pg_prepared%'"
	require.NoError(t, conn.QueryRow(t.Context(), plans).Scan(&kept, &made))
	require.Equal(t, []int{more, first}, []int{kept, made})
}
