// Package anystore gives tests an empty store of the kind that the environment names, so that the same tests run over each
// kind.
package anystore

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage"
	boltstore "github.com/compactord/compactord/storage/bolt"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/storage/postgres"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
)

// Variable names the variable of the environment with the kind of stores. A full run of the checks tests with each kind.
const Variable = "COMPACTORD_TEST_STORE"

// Kind is a kind of stores.
type Kind string

// The kinds of stores.
const (
	Memory   Kind = "memory"
	Bolt     Kind = "bolt"
	Postgres Kind = "postgres"
)

// Named returns the kind that the environment names. Where it names none, it returns the one that is given.
func Named(otherwise Kind) Kind {
	if kind := os.Getenv(Variable); kind != "" {
		return Kind(kind)
	}
	return otherwise
}

// New opens an empty store, which the caller must close.
func (k Kind) New(t testing.TB) storage.Store {
	t.Helper()
	if k == Memory {
		return memory.New()
	}
	store, err := Open(t.Context(), k.place(t))
	require.NoError(t, err)
	return store
}

func (k Kind) place(t testing.TB) string {
	t.Helper()
	switch k {
	case Bolt:
		return filepath.Join(t.TempDir(), "store.db")
	case Postgres:
		return postgrestest.Shared(t).Database(t)
	default:
		require.Fail(t, "no such kind of stores outside of the process", "%s=%q", Variable, k)
		return ""
	}
}

// Place returns what the flag --store takes for an empty store: the path of a file that does not exist yet, or the URL of a
// database.
func Place(t testing.TB) string {
	t.Helper()
	return Named(Bolt).place(t)
}

// File returns the path of a file that does not exist yet, for a test that is about the file of a store. It skips the test
// where the environment names another kind.
func File(t testing.TB) string {
	t.Helper()
	NeedsFile(t, "the test is about the file of a store")
	return Bolt.place(t)
}

// NeedsFile skips a test where the environment names another kind of stores than a file. why is the reason.
func NeedsFile(t testing.TB, why string) {
	t.Helper()
	if kind := Named(Bolt); kind != Bolt {
		t.Skipf("not with %s=%s: %s", Variable, kind, why)
	}
}

// Open opens the store of a place.
func Open(ctx context.Context, place string) (storage.Store, error) {
	if inDatabase(place) {
		return postgres.Open(ctx, postgres.Options{URL: place})
	}
	return boltstore.Open(place, boltstore.Options{})
}

// Bury says that the daemons of a place are dead. Those of a database are taken for living some time after they were killed.
func Bury(t testing.TB, place string) {
	t.Helper()
	if inDatabase(place) {
		postgrestest.Expire(t, place)
	}
}

func inDatabase(place string) bool { return strings.HasPrefix(place, "postgres:") }
