package service_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
)

// daemons is a store that other daemons use too, whose ends a test tells.
type daemons struct {
	*memory.Shared
	mu    sync.Mutex
	ended map[string]bool
}

func (s *daemons) Ended(_ context.Context, openings []string) (map[string]bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ended := map[string]bool{}
	for _, opening := range openings {
		ended[opening] = s.ended[opening]
	}
	return ended, nil
}

func (s *daemons) end(opening string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended[opening] = true
}

// A compaction of a daemon that has ended is recorded as cut off by one that serves. That of a daemon that lives stays, also
// in the row of the same session.
func TestCompactionsOfADaemonThatEndsAreRecorded(t *testing.T) {
	t.Parallel()
	store := &daemons{Shared: memory.NewShared(), ended: map[string]bool{}}
	d := start(t, withStore(store), func(o *service.ServerOptions) { o.LookForEnded = time.Millisecond })
	d.create("s", small(1000))
	watch := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s"})
	row, err := store.Session(t.Context(), "", "s")
	require.NoError(t, err)
	row.Revision++
	for _, name := range []string{"first", "second"} {
		row.Running = append(row.Running, &storagev1.RunningCompaction{OperationId: "op of " + name, Opening: name, StartedAt: row.GetCreatedAt()})
	}
	require.NoError(t, store.Commit(t.Context(), &storage.Commit{Session: row}))

	for _, name := range []string{"second", "first"} {
		store.end(name)
		attempt := watch.next().GetRecord().GetAttempt()
		require.Equal(t, "op of "+name, attempt.GetProvenance().GetOperationId())
		require.Equal(t, compactordv1.ErrorReason_ERROR_REASON_INTERRUPTED, attempt.GetErrorReason())
	}
	row, err = store.Session(t.Context(), "", "s")
	require.NoError(t, err)
	require.Empty(t, row.GetRunning())
}
