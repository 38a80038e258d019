package service_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/storage/postgres"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
)

// sharedStore is a store that several daemons use.
type sharedStore interface {
	// open opens it for another daemon, which closes its opening.
	open(t *testing.T) storage.Shared
	// end makes an opening one that is over, as the death of its daemon does. The daemon may say what it likes after that.
	end(t *testing.T, opening string)
}

// sharedStores make an empty store of each kind.
var sharedStores = map[string]func(t *testing.T) sharedStore{
	"memory": func(*testing.T) sharedStore {
		return &sharedMemory{first: memory.NewShared(), openings: map[string]*memory.Shared{}}
	},
	"postgres": func(t *testing.T) sharedStore {
		t.Helper()
		return sharedDatabase{postgrestest.Shared(t).Database(t)}
	},
}

// sharedMemory is a store in memory.
type sharedMemory struct {
	first    *memory.Shared
	openings map[string]*memory.Shared
}

// lasting is an opening of a store that its daemon does not close, since another one uses it.
type lasting struct{ *memory.Shared }

// Close implements storage.Store.
func (lasting) Close() error { return nil }

func (s *sharedMemory) open(*testing.T) storage.Shared {
	opening := s.first.Open()
	s.openings[opening.Opening()] = opening
	return lasting{opening}
}

func (s *sharedMemory) end(_ *testing.T, opening string) { s.openings[opening].End() }

// sharedDatabase is the URL of a database.
type sharedDatabase struct{ url string }

func (s sharedDatabase) open(t *testing.T) storage.Shared {
	t.Helper()
	store, err := postgres.Open(t.Context(), postgres.Options{URL: s.url})
	require.NoError(t, err)
	return store
}

func (s sharedDatabase) end(t *testing.T, opening string) {
	t.Helper()
	postgrestest.Expire(t, s.url, opening)
	conn, err := pgx.Connect(t.Context(), s.url)
	require.NoError(t, err)
	// Its daemon lives, and says so every few seconds. Nobody hears it.
	_, err = conn.Exec(t.Context(), fmt.Sprintf(`
		CREATE FUNCTION silence() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN IF NEW.name = '%s' THEN RETURN NULL; END IF; RETURN NEW; END $$;
		CREATE TRIGGER silence BEFORE INSERT ON openings FOR EACH ROW EXECUTE FUNCTION silence()`, opening))
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
}
