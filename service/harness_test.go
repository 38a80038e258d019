package service_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/compactord/compactord/dialects"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/httpapi/httpapitest"
	"github.com/compactord/compactord/storage"
	boltstore "github.com/compactord/compactord/storage/bolt"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childStore); path != "" {
		os.Exit(printViews(path))
	}
	goleak.VerifyTestMain(postgrestest.Suite{M: m})
}

// daemon is a real server, as cmd builds it, but with a listener within the process, and with a store in memory unless the test
// or newStore has another one. The tests in e2e use a disk and a network.
type daemon struct {
	t           testing.TB
	server      *service.Server
	listener    *bufconn.Listener
	web         *web
	store       storage.Store
	sessions    compactordv1.SessionServiceClient
	compactions compactordv1.CompactionServiceClient
	stop        func()
	// shutdown stops the server, and leaves the store and the connection open.
	shutdown func()
}

func statusCode(err error) codes.Code { return status.Code(err) }

// option changes the options of a daemon.
type option func(*service.ServerOptions)

func withHooks(h service.Hooks) option {
	return func(o *service.ServerOptions) { o.Hooks = h }
}

// withSummarizer adds a summarizer that policies can name.
func withSummarizer(s summarizers.Summarizer) option {
	return func(o *service.ServerOptions) {
		registry, err := summarizers.NewRegistry(extractive.New(), s)
		if err != nil {
			panic(err)
		}
		o.Summarizers = registry
	}
}

func withStore(s storage.Store) option {
	return func(o *service.ServerOptions) { o.Store = s }
}

func openStore(t testing.TB, path string) storage.Store {
	t.Helper()
	store, err := boltstore.Open(path, boltstore.Options{})
	require.NoError(t, err)
	return store
}

// optionsOf returns the options of a server. Its caller closes the store.
func optionsOf(t testing.TB, options ...option) service.ServerOptions {
	t.Helper()
	registry, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(t, err)
	writers, err := summarizers.NewRegistry(extractive.New())
	require.NoError(t, err)
	o := service.ServerOptions{Options: service.Options{
		Strategies: registry, Summarizers: writers, Dialects: dialects.All(), Logger: slog.New(slog.DiscardHandler),
	}, DrainTimeout: time.Minute}
	if _, measures := t.(*testing.B); !measures {
		// All results are read only where they are needed.
		o.LeastOutlined = 1
	}
	for _, option := range options {
		option(&o)
	}
	if o.Store == nil {
		o.Store = newStore(t)
	}
	return o
}

func start(t testing.TB, options ...option) *daemon {
	t.Helper()
	o := optionsOf(t, options...)
	server, err := service.NewServer(o)
	require.NoError(t, err)
	listener := bufconn.Listen(256 << 10)
	web := addHTTP(t, server)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx, listener) }()
	const maxBytes = 64 << 20
	d := &daemon{t: t, server: server, store: o.Store, listener: listener, web: web}
	conn := d.connect(grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxBytes), grpc.MaxCallSendMsgSize(maxBytes)))
	var calls grpc.ClientConnInterface = conn
	if *overHTTP != "" {
		calls = web.conn(httpapitest.Protocol(*overHTTP))
	}
	d.sessions, d.compactions = compactordv1.NewSessionServiceClient(calls), compactordv1.NewCompactionServiceClient(calls)
	stopped, down := false, false
	d.shutdown = func() {
		if down {
			return
		}
		down = true
		cancel()
		require.NoError(t, <-done)
	}
	d.stop = func() {
		if stopped {
			return
		}
		stopped = true
		require.NoError(t, conn.Close())
		web.close()
		d.shutdown()
		requireNothingRuns(t, o.Store)
		require.NoError(t, o.Store.Close())
	}
	t.Cleanup(d.stop)
	return d
}

// connect returns another connection to the daemon, which the caller closes.
func (d *daemon) connect(options ...grpc.DialOption) *grpc.ClientConn {
	d.t.Helper()
	conn, err := grpc.NewClient("passthrough:///daemon", append(options,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(readingViews())),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return d.listener.DialContext(ctx) }))...)
	require.NoError(d.t, err)
	return conn
}

func (d *daemon) create(id string, policy *compactordv1.Policy) *compactordv1.Session {
	d.t.Helper()
	answer, err := d.sessions.CreateSession(d.t.Context(), &compactordv1.CreateSessionRequest{
		SessionId: id, Policy: policy,
	})
	require.NoError(d.t, err)
	return answer.GetSession()
}

func (d *daemon) append(id string, messages ...*compactordv1.Message) *compactordv1.AppendMessagesResponse {
	d.t.Helper()
	answer, err := d.sessions.AppendMessages(d.t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: id, Messages: messages,
	})
	require.NoError(d.t, err)
	return answer
}

func (d *daemon) view(id string) []*compactordv1.ViewMessage {
	d.t.Helper()
	return d.fullView(&compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: id},
	})
}

// fullView returns a whole view, read page by page.
func (d *daemon) fullView(req *compactordv1.GetLLMViewRequest) []*compactordv1.ViewMessage {
	d.t.Helper()
	var all []*compactordv1.ViewMessage
	for {
		answer, err := d.compactions.GetLLMView(d.t.Context(), req)
		require.NoError(d.t, err)
		all = append(all[:answer.GetUnchangedPrefix()], answer.GetMessages()...)
		if !answer.GetHasMore() {
			return all
		}
		req.ViewToken = answer.GetViewToken()
	}
}

// compact runs a compaction to its end and returns its events and the RPC's error.
func (d *daemon) compact(req *compactordv1.CompactRequest) ([]*compactordv1.CompactionEvent, error) {
	d.t.Helper()
	return d.compactCtx(d.t.Context(), req)
}

func (d *daemon) compactCtx(
	ctx context.Context, req *compactordv1.CompactRequest,
) ([]*compactordv1.CompactionEvent, error) {
	stream, err := d.compactions.Compact(ctx, req)
	if err != nil {
		return nil, err
	}
	return eventsOf(stream)
}

// eventsOf reads a compaction to its end.
func eventsOf(stream grpc.ServerStreamingClient[compactordv1.CompactResponse]) ([]*compactordv1.CompactionEvent, error) {
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

func compactRequest(id string, policy *compactordv1.Policy) *compactordv1.CompactRequest {
	return &compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_SessionId{SessionId: id}, Policy: policy,
	}
}

// last returns the last event of a compaction.
func last(t testing.TB, events []*compactordv1.CompactionEvent) *compactordv1.CompactionEvent {
	t.Helper()
	require.NotEmpty(t, events)
	return events[len(events)-1]
}

// requireReason asserts the code and the reason of an error.
func requireReason(t testing.TB, err error, code codes.Code, reason string) *errdetails.ErrorInfo {
	t.Helper()
	require.Error(t, err)
	st := status.Convert(err)
	require.Equal(t, code.String(), st.Code().String(), st.Message())
	for _, detail := range st.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			require.Equal(t, reason, info.GetReason(), st.Message())
			require.Equal(t, apierror.Domain, info.GetDomain())
			return info
		}
	}
	require.Fail(t, "no ErrorInfo in the status", st.Message())
	return nil
}

// caseDaemon returns a daemon with a session, and a summarizer that records its requests.
func caseDaemon(t *testing.T, recent uint32, messages ...*compactordv1.Message) (*daemon, *scripted) {
	t.Helper()
	writer := &scripted{name: "writer", do: faithful}
	d := start(t, withSummarizer(writer))
	d.create("s", splitting(recent))
	d.append("s", messages...)
	return d, writer
}

func (d *daemon) completed(policy *compactordv1.Policy) *compactordv1.CompactionEntry {
	d.t.Helper()
	events, err := d.compact(compactRequest("s", policy))
	require.NoError(d.t, err)
	requireGrammar(d.t, events)
	done := last(d.t, events).GetCompleted()
	require.NotNil(d.t, done, "%v", last(d.t, events))
	require.Equal(d.t, done.GetCompaction().GetSummary(), lastAttemptText(events))
	return done.GetCompaction()
}
