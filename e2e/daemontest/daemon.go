// Package daemontest runs a complete daemon for tests: the real server on a real listener, with a store on disk or in a database.
package daemontest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/compactord/compactord/dialects"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/anystore"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// Daemon is a running daemon with a client of it. It stops at the end of its test.
type Daemon struct {
	Sessions    compactordv1.SessionServiceClient
	Compactions compactordv1.CompactionServiceClient
	Metrics     *prometheus.Registry
	// Address is the address it listens on, and HTTPAddress that of HTTP.
	Address, HTTPAddress string

	t       testing.TB
	options Options
	store   storage.Store
	logs    logs
	stop    func()
}

// Options are the settings of a daemon.
type Options struct {
	// Summarizers are the summarizers beside extractive.
	Summarizers []summarizers.Summarizer
	// Drain is how long compactions may go on when the daemon stops. The default is a minute.
	Drain time.Duration
}

// logs holds the daemon's log.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// Start starts a daemon. At the end of the test, the daemon stops and its store is checked.
func Start(t testing.TB, o Options) *Daemon {
	t.Helper()
	store := anystore.Named(anystore.Bolt).New(t)
	if o.Drain == 0 {
		o.Drain = time.Minute
	}
	d := &Daemon{t: t, options: o, store: store}
	d.run()
	t.Cleanup(func() {
		d.stop()
		problems, err := sessionlog.CheckAll(context.WithoutCancel(t.Context()), store)
		require.NoError(t, err)
		require.Empty(t, problems)
		require.NoError(t, store.Close())
	})
	return d
}

// run starts a server on the store, and a client of it.
func (d *Daemon) run() {
	d.t.Helper()
	registry, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(d.t, err)
	writers, err := summarizers.NewRegistry(append([]summarizers.Summarizer{extractive.New()}, d.options.Summarizers...)...)
	require.NoError(d.t, err)
	d.Metrics = prometheus.NewRegistry()
	server, err := service.NewServer(service.ServerOptions{
		Options: service.Options{
			Store: d.store, Strategies: registry, Summarizers: writers, Dialects: dialects.All(), Metrics: d.Metrics,
			Logger: slog.New(slog.NewTextHandler(&d.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
		},
		DrainTimeout: d.options.Drain,
	})
	require.NoError(d.t, err)
	listener, web := d.listen(), d.listen()
	server.AddHTTP(service.HTTPOptions{Listener: web})
	ctx, cancel := context.WithCancel(context.WithoutCancel(d.t.Context()))
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx, listener) }()
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(d.t, err)
	d.Address, d.HTTPAddress = listener.Addr().String(), web.Addr().String()
	d.Use(conn)
	d.stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(d.t, <-done)
		require.NoError(d.t, conn.Close())
	})
}

// Use makes the client use another connection, until the daemon is started again.
func (d *Daemon) Use(conn grpc.ClientConnInterface) {
	d.Sessions, d.Compactions = compactordv1.NewSessionServiceClient(conn), compactordv1.NewCompactionServiceClient(conn)
}

func (d *Daemon) listen() net.Listener {
	d.t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(d.t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(d.t, err)
	return listener
}

// Restart stops the server as a signal does, and starts another one on the same store.
func (d *Daemon) Restart() {
	d.t.Helper()
	d.stop()
	d.run()
}

// Stop stops the server as a signal does. The end of the test does it too.
func (d *Daemon) Stop() { d.stop() }

// Logs returns the daemon's log so far, at all levels.
func (d *Daemon) Logs() string {
	d.logs.mu.Lock()
	defer d.logs.mu.Unlock()
	return d.logs.text.String()
}

// Create creates a session with a policy and messages.
func (d *Daemon) Create(id string, policy *compactordv1.Policy, messages ...*compactordv1.Message) {
	d.t.Helper()
	_, err := d.Sessions.CreateSession(d.t.Context(), &compactordv1.CreateSessionRequest{SessionId: id, Policy: policy})
	require.NoError(d.t, err)
	// A request may have at most 10,000 messages and some megabytes.
	for len(messages) > 0 {
		n := min(len(messages), 500)
		_, err = d.Sessions.AppendMessages(d.t.Context(), &compactordv1.AppendMessagesRequest{SessionId: id, Messages: messages[:n]})
		require.NoError(d.t, err)
		messages = messages[n:]
	}
}

// Compact runs a compaction of a session to its end. It returns the events and the RPC's error.
func (d *Daemon) Compact(ctx context.Context, req *compactordv1.CompactRequest) ([]*compactordv1.CompactionEvent, error) {
	d.t.Helper()
	stream, err := d.Compactions.Compact(ctx, req)
	if err != nil {
		return nil, err
	}
	var events []*compactordv1.CompactionEvent
	for {
		answer, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		events = append(events, answer.GetEvent())
	}
}

// Request returns a request to compact a session by its own policy.
func Request(id string) *compactordv1.CompactRequest {
	return &compactordv1.CompactRequest{Target: &compactordv1.CompactRequest_SessionId{SessionId: id}}
}

// View returns a session's whole view.
func (d *Daemon) View(id string) []*compactordv1.ViewMessage {
	d.t.Helper()
	req := &compactordv1.GetLLMViewRequest{Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: id}}
	var all []*compactordv1.ViewMessage
	for {
		answer, err := d.Compactions.GetLLMView(d.t.Context(), req)
		require.NoError(d.t, err)
		all = append(all[:answer.GetUnchangedPrefix()], answer.GetMessages()...)
		if !answer.GetHasMore() {
			return all
		}
		req.ViewToken = answer.GetViewToken()
	}
}

// Records returns all records of a session, newest first.
func (d *Daemon) Records(id string) []*compactordv1.Record {
	d.t.Helper()
	var all []*compactordv1.Record
	req := &compactordv1.ListRecordsRequest{SessionId: id}
	for {
		answer, err := d.Sessions.ListRecords(d.t.Context(), req)
		require.NoError(d.t, err)
		all = append(all, answer.GetRecords()...)
		if req.PageToken = answer.GetNextPageToken(); req.GetPageToken() == "" {
			return all
		}
	}
}
