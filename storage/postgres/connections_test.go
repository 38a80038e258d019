package postgres_test

import (
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
	"github.com/compactord/compactord/storage/storagetest"
)

// Who waits for a connection is counted. Here the only connection waits for a lock.
func TestWaitingForAConnectionIsCounted(t *testing.T) {
	url := postgrestest.Shared(t).Database(t)
	s := open(t, url+"&pool_max_conns=1")
	require.NoError(t, s.CreateSession(t.Context(), &storagetest.NewSession("", "s", "u").Commit))
	require.Equal(t, 1, s.Connections().Limit)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT FROM sessions FOR UPDATE")
	require.NoError(t, err)
	var operations sync.WaitGroup
	for range 2 {
		operations.Go(func() {
			if err := s.DeleteSession(t.Context(), "", "s"); err != nil && !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("deleting: %v", err)
			}
		})
	}
	for c := s.Connections(); c.Waiting == 0 || c.Used == 0; c = s.Connections() {
		runtime.Gosched()
	}
	require.NoError(t, tx.Commit(t.Context()))
	operations.Wait()
}
