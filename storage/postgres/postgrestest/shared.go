package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// shared is the server of all tests of this process.
var shared struct {
	once   sync.Once
	server *Server
	err    error
}

// Shared returns a server that the tests of a package share. The first one starts it, and Suite stops it, so a test must not.
// It skips the test on a machine without the programs of a server.
func Shared(t testing.TB) *Server {
	t.Helper()
	shared.once.Do(func() { shared.server, shared.err = Start(context.WithoutCancel(t.Context())) })
	return orSkip(t, shared.server, shared.err)
}

// Own starts a server for one test, which may kill it. It skips the test on a machine without the programs of a server.
func Own(t testing.TB) *Server {
	t.Helper()
	server, err := Start(t.Context())
	server = orSkip(t, server, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	return server
}

func orSkip(t testing.TB, server *Server, err error) *Server {
	t.Helper()
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	require.NoError(t, err)
	return server
}

// Suite runs the tests of a package, and stops the server that they have shared.
type Suite struct{ *testing.M }

// Run returns the exit code.
func (s Suite) Run() int {
	code := s.M.Run()
	if shared.server == nil {
		return code
	}
	if err := shared.server.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping PostgreSQL:", err)
		return max(code, 1)
	}
	return code
}

// Expire lets the time pass after which those are taken for dead that have a database open, or only the openings named.
func Expire(t testing.TB, database string, openings ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(),
		"UPDATE openings SET expires = now() - interval '1 second' WHERE cardinality($1::text[]) = 0 OR name = ANY($1)", openings)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
}
