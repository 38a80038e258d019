package daemontest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage"
	boltstore "github.com/compactord/compactord/storage/bolt"
	"github.com/compactord/compactord/storage/postgres"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
)

// storeVariable names the store of the daemons of Start: bolt, which is the default, or postgres. A full run of the checks
// tests with both.
const storeVariable = "COMPACTORD_TEST_STORE"

// Suite runs all tests of a package, and stops the database server that their daemons have used.
type Suite struct{ *testing.M }

// Run implements goleak.TestingM.
func (s Suite) Run() int {
	code := s.M.Run()
	if databases.server == nil {
		return code
	}
	if err := databases.server.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping PostgreSQL:", err)
		return max(code, 1)
	}
	return code
}

// databases runs a server from the first test on that needs it.
var databases struct {
	once   sync.Once
	server *postgrestest.Server
	err    error
}

// openStore opens an empty store of the kind that the environment names.
func openStore(t testing.TB) storage.Store {
	t.Helper()
	switch kind := os.Getenv(storeVariable); kind {
	case "", "bolt":
		store, err := boltstore.Open(filepath.Join(t.TempDir(), "store.db"), boltstore.Options{})
		require.NoError(t, err)
		return store
	case "postgres":
		databases.once.Do(func() { databases.server, databases.err = postgrestest.Start(context.WithoutCancel(t.Context())) })
		if errors.Is(databases.err, postgrestest.ErrMissing) {
			t.Skip(databases.err)
		}
		require.NoError(t, databases.err)
		store, err := postgres.Open(t.Context(), postgres.Options{URL: databases.server.Database(t)})
		require.NoError(t, err)
		return store
	default:
		require.Fail(t, "unknown store", "%s=%q", storeVariable, kind)
		return nil
	}
}
