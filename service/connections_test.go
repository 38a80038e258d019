package service_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
)

// sharedLog is a log that several goroutines write.
type sharedLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *sharedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *sharedLog) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

// With too many connections a further one is closed at once, and those that are open go on. When one ends, another one
// is taken.
func TestTooManyConnections(t *testing.T) {
	t.Parallel()
	registry, log := prometheus.NewRegistry(), &sharedLog{}
	d := start(t, func(o *service.ServerOptions) {
		o.MaxConnections, o.Metrics, o.Logger = 2, registry, slog.New(slog.NewTextHandler(log, nil))
	})
	lists := func(conn *grpc.ClientConn, options ...grpc.CallOption) error {
		_, err := compactordv1.NewSessionServiceClient(conn).ListSessions(t.Context(), &compactordv1.ListSessionsRequest{}, options...)
		return err
	}
	d.create("s", nil)
	second := d.connect()
	require.NoError(t, lists(second))
	for range 3 {
		third := d.connect()
		err := lists(third)
		require.Equal(t, codes.Unavailable, statusCode(err), "%v", err)
		require.NoError(t, third.Close())
	}
	require.NoError(t, lists(second))
	d.append("s", user("still here"))
	require.InDelta(t, 2, valueOf(t, registry, "compactord_connections"), 0)
	require.GreaterOrEqual(t, valueOf(t, registry, "compactord_connections_refused_total"), 3.0)
	require.Equal(t, 1, log.count("too many connections"))

	require.NoError(t, second.Close())
	fourth := d.connect()
	defer func() { require.NoError(t, fourth.Close()) }()
	require.NoError(t, lists(fourth, grpc.WaitForReady(true)))
	awaitState(t, fourth, connectivity.Ready)
}

func awaitState(t *testing.T, conn *grpc.ClientConn, wanted connectivity.State) {
	t.Helper()
	for state := conn.GetState(); state != wanted; state = conn.GetState() {
		require.True(t, conn.WaitForStateChange(context.WithoutCancel(t.Context()), state))
	}
}
