package postgres_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/postgres"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
	"github.com/compactord/compactord/storage/storagetest"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Suite{M: m}.Run()) }

// open opens the store in a database.
func open(t testing.TB, url string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Options{URL: url})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestConformance(t *testing.T) {
	storagetest.Run(t, backend(postgrestest.Shared(t).Database))
}

// Through PgBouncer in transaction mode, each transaction can be on another connection of the server.
func TestConformanceThroughPgBouncer(t *testing.T) {
	server := postgrestest.Shared(t)
	through := server.Bouncer(t)
	storagetest.Run(t, backend(func(t testing.TB) string {
		t.Helper()
		return through(server.Database(t))
	}))
}

// backend returns how to open a store in a database of its own.
func backend(database func(testing.TB) string) storagetest.Backend {
	urls := map[storage.Store]string{}
	return storagetest.Backend{
		Open: func(t *testing.T) storage.Store {
			t.Helper()
			url := database(t)
			s := open(t, url)
			urls[s] = url
			return s
		},
		Reopen: func(t *testing.T, s storage.Store) storage.Store {
			t.Helper()
			require.NoError(t, s.Close())
			again := open(t, urls[s])
			urls[again] = urls[s]
			return again
		},
	}
}
