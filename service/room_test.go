package service_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/storage/memory"
)

// spacious is a store on a disk whose free space a test sets.
type spacious struct {
	failing
	free atomic.Int64
}

func (s *spacious) FreeSpace() (int64, error) { return s.free.Load(), nil }

// With too little room, all that adds to the store is refused by the limit's name, and all else goes on.
func TestCallsWithoutRoom(t *testing.T) {
	t.Parallel()
	const limit = 1 << 30
	store := &spacious{failing: failing{Store: memory.New()}}
	store.free.Store(10 * limit)
	metrics := prometheus.NewPedanticRegistry()
	d := start(t, withStore(store), func(o *service.ServerOptions) { o.Metrics, o.MinFreeBytes = metrics, limit })
	d.create("s", small(1000))
	d.create("other", small(1000))
	remembered := &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{user("before")}, RequestId: "r",
	}
	_, err := d.sessions.AppendMessages(t.Context(), remembered)
	require.NoError(t, err)
	limits := service.Limits{
		MaxMessageBytes: service.DefaultMaxMessageBytes, MaxInflightBytes: service.LeastInflightBytes(service.DefaultMaxMessageBytes),
		MaxConnections: service.DefaultMaxConnections, MaxConnectionsOfClient: service.DefaultMaxConnectionsOfClient,
		DrainTimeout: service.DefaultDrainTimeout,
	}
	// Another limit has the daemon look at the disk at once.
	limits.MinFreeBytes = 20 * limit
	d.server.UseLimits(limits)
	require.InDelta(t, 20*limit, valueOf(t, metrics, "compactord_store_min_free_bytes"), 0)
	require.InDelta(t, 1, valueOf(t, metrics, "compactord_store_writes_failing"), 0)
	require.Equal(t, "the store refuses writes: disk_low", problems(d.server.Readiness(t.Context()))[service.CheckWrites])

	for name, add := range map[string]func(ctx context.Context) error{
		"append": func(ctx context.Context) error {
			_, err := d.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{SessionId: "s", Messages: []*compactordv1.Message{user("x")}})
			return err
		},
		"create": func(ctx context.Context) error {
			_, err := d.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: "new"})
			return err
		},
		"fork": func(ctx context.Context) error {
			_, err := d.sessions.ForkSession(ctx, &compactordv1.ForkSessionRequest{SessionId: "s", NewSessionId: "fork"})
			return err
		},
	} {
		err := add(t.Context())
		info := requireReason(t, err, codes.ResourceExhausted, "STORE_UNAVAILABLE")
		require.Equal(t, map[string]string{"cause": "disk_low", "limit": "min_free_bytes"}, info.GetMetadata(), name)
		require.Len(t, status.Convert(err).Details(), 2, "with RetryInfo")
	}
	_, err = d.sessions.AppendMessages(t.Context(), remembered)
	require.NoError(t, err, "what was written before is answered")
	_, err = d.sessions.ListMessages(t.Context(), &compactordv1.ListMessagesRequest{SessionId: "s"})
	require.NoError(t, err)
	_, err = d.sessions.DeleteSession(t.Context(), &compactordv1.DeleteSessionRequest{SessionId: "other"})
	require.NoError(t, err)

	limits.MinFreeBytes = limit
	d.server.UseLimits(limits)
	require.InDelta(t, 0, valueOf(t, metrics, "compactord_store_writes_failing"), 0)
	_, err = d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{SessionId: "s", Messages: []*compactordv1.Message{user("x")}})
	require.NoError(t, err)
}
