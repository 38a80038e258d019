package watching_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
)

// soon is how long a write of another daemon may take to reach a watcher.
const soon = 250 * time.Millisecond

// startTwo starts two daemons on one store, of which the first looks for what the second has written.
func startTwo(t *testing.T, store storage.Shared, log *slog.Logger) (watching, writing *watched) {
	t.Helper()
	watching, writing = startOn(t, store), startOn(t, store)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		watching.watching.Watchers.Poll(ctx, store, log)
		close(ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return watching, writing
}

// Each write of another daemon reaches the watchers of its session soon, once and in order.
func TestWritesOfAnotherDaemonReachWatchersSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watching, writing := startTwo(t, memory.NewShared(), slog.New(slog.DiscardHandler))
		writing.create("s")
		writing.create("other")
		watchers := []*stream{
			watching.watch(&compactordv1.WatchSessionRequest{SessionId: "s"}),
			watching.watch(&compactordv1.WatchSessionRequest{SessionId: "s"}),
		}
		other := watching.watch(&compactordv1.WatchSessionRequest{SessionId: "other"})
		synctest.Wait()
		for sequence := range uint32(5) {
			wrote := time.Now()
			writing.append("s")
			for _, each := range watchers {
				require.Equal(t, sequence+1, each.next().GetMessage().GetSequence())
				require.LessOrEqual(t, time.Since(wrote), soon)
			}
		}
		for _, each := range append(watchers, other) {
			require.Empty(t, each.now())
		}
	})
}

// A watch of a session that another daemon deletes ends soon.
func TestADeletionByAnotherDaemonEndsWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.NewShared()
		watching, writing := startTwo(t, store, slog.New(slog.DiscardHandler))
		writing.create("s")
		ended := make(chan error, 1)
		s := &stream{t: t, answers: make(chan *compactordv1.WatchSessionResponse, 100)}
		go func() { ended <- watching.watching.Watch(&compactordv1.WatchSessionRequest{SessionId: "s"}, s) }()
		require.NotNil(t, s.next().GetStarted())
		deleted := time.Now()
		require.NoError(t, store.DeleteSession(t.Context(), "", "s"))
		require.Error(t, <-ended)
		require.LessOrEqual(t, time.Since(deleted), soon)
	})
}

// observed is a store that counts how often a session's row is read, and whose revisions cannot be read while it is told
// so.
type observed struct {
	*memory.Shared

	rows  atomic.Int64
	fails atomic.Bool
}

// Session implements storage.Store.
func (o *observed) Session(ctx context.Context, tenant, sessionID string) (*storagev1.Session, error) {
	o.rows.Add(1)
	return o.Shared.Session(ctx, tenant, sessionID)
}

// Revisions implements storage.Shared.
func (o *observed) Revisions(ctx context.Context, refs []storage.Ref) ([]uint32, error) {
	if o.fails.Load() {
		return nil, errors.New("the database is away")
	}
	return o.Shared.Revisions(ctx, refs)
}

// An outage of the store is told once, and what was written meanwhile arrives after it.
func TestPollGoesOnAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		store := &observed{Shared: memory.NewShared()}
		watching, writing := startTwo(t, store, slog.New(slog.NewTextHandler(&log, nil)))
		writing.create("s")
		s := watching.watch(&compactordv1.WatchSessionRequest{SessionId: "s"})
		for range 2 {
			synctest.Wait()
			store.fails.Store(true)
			writing.append("s")
			<-time.After(10 * soon)
			require.Empty(t, s.now())
			store.fails.Store(false)
			require.NotNil(t, s.next().GetMessage())
		}
		require.Equal(t, 2, strings.Count(log.String(), "the database is away"))
	})
}

// A session that nobody writes is not read again.
func TestPollReadsNoSessionThatStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &observed{Shared: memory.NewShared()}
		watching, writing := startTwo(t, store, slog.New(slog.DiscardHandler))
		writing.create("s")
		watching.watch(&compactordv1.WatchSessionRequest{SessionId: "s"})
		<-time.After(soon)
		before := store.rows.Load()
		<-time.After(10 * soon)
		require.Equal(t, before, store.rows.Load())
	})
}
