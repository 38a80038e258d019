package postgres_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage/postgres"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
	"github.com/compactord/compactord/storage/storagetest"
)

// A database without tables is refused until it is migrated.
func TestMigrate(t *testing.T) {
	url := postgrestest.Shared(t).Empty(t)
	_, err := postgres.Open(t.Context(), postgres.Options{URL: url})
	var schema *postgres.SchemaError
	require.ErrorAs(t, err, &schema)
	require.False(t, schema.Newer())
	version, err := postgres.Status(t.Context(), url)
	require.NoError(t, err)
	require.Zero(t, version)

	s, err := postgres.Open(t.Context(), postgres.Options{URL: url, Migrate: true})
	require.NoError(t, err)
	require.NoError(t, s.CreateSession(t.Context(), &storagetest.NewSession("", "s", "u").Commit))
	require.NoError(t, s.Close())
	version, err = postgres.Status(t.Context(), url)
	require.NoError(t, err)
	require.EqualValues(t, postgres.Version, version)
	made, err := postgres.Migrate(t.Context(), url)
	require.NoError(t, err)
	require.Empty(t, made)
	_, err = open(t, url).Session(t.Context(), "", "s")
	require.NoError(t, err)
}

// Several that migrate at once make each migration once.
func TestMigrateAtOnce(t *testing.T) {
	url := postgrestest.Shared(t).Empty(t)
	var wg sync.WaitGroup
	made := make([][]int64, 3)
	for i := range made {
		wg.Go(func() {
			var err error
			if made[i], err = postgres.Migrate(t.Context(), url); err != nil {
				t.Errorf("migrating: %v", err)
			}
		})
	}
	wg.Wait()
	total := 0
	for _, list := range made {
		total += len(list)
	}
	require.Equal(t, postgres.Version, total)
}

// A schema that a newer program made is refused, and left as it is.
func TestNewerSchema(t *testing.T) {
	url := postgrestest.Shared(t).Database(t)
	statement(t, url, "INSERT INTO compactord_schema (version_id, is_applied) VALUES (99, true)")
	for _, migrate := range []bool{false, true} {
		_, err := postgres.Open(t.Context(), postgres.Options{URL: url, Migrate: migrate})
		var schema *postgres.SchemaError
		require.ErrorAs(t, err, &schema)
		require.True(t, schema.Newer())
		require.EqualValues(t, 99, schema.Found)
	}
	_, err := postgres.Migrate(t.Context(), url)
	require.ErrorAs(t, err, new(*postgres.SchemaError))
}
