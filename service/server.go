package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	prommiddleware "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/calls"
	"github.com/compactord/compactord/service/httpapi"
	"github.com/compactord/compactord/service/interceptors"
	"github.com/compactord/compactord/service/policies"
	"github.com/compactord/compactord/service/requests"
	"github.com/compactord/compactord/service/retention"
	"github.com/compactord/compactord/service/unread"
)

// Limits of a Server.
const (
	// DefaultMaxMessageBytes is the largest request or response in bytes. Tool results can have many megabytes.
	DefaultMaxMessageBytes = 64 << 20
	// DefaultDrainTimeout is how long calls may go on while the server stops.
	DefaultDrainTimeout = 10 * time.Second
	hardLimitFactor     = 2
	// cancelTimeout is how long clients may take to receive the last event of compactions that the stop has cancelled.
	cancelTimeout  = 2 * time.Second
	maxHeaderBytes = 64 << 10
	// inflightFactor is how many times the largest request the requests in flight may take. One client may take half of
	// it, and a request takes up to about three times its size.
	inflightFactor = 8
	maxStreams     = 1000
	// streamWorkers is how many calls at a time run on goroutines that are kept. A new one has a small stack, and growing
	// it several times costs a call as much as its decoding.
	streamWorkers = 128
	// streamWindow bounds what arrives on a stream before a piece of its request is received, and connectionWindow what
	// is on its way on a connection.
	streamWindow     = 64 << 10
	connectionWindow = 16 << 20
	// Clients may send keepalive pings at most once in minClientPing. The server sends one every serverPing.
	minClientPing = 10 * time.Second
	serverPing    = 1 * time.Minute
	pingTimeout   = 20 * time.Second
)

// ServerOptions configure a Server and its Service.
type ServerOptions struct {
	Options
	// MaxMessageBytes is the largest request or response in bytes. Default DefaultMaxMessageBytes.
	MaxMessageBytes int
	// MaxInflightBytes is how much memory the requests in flight may take. Default: eight times MaxMessageBytes.
	MaxInflightBytes int64
	// MaxConnections is how many connections may be open at once. Default DefaultMaxConnections.
	MaxConnections int
	// MaxConnectionsOfClient is how many of them may be of one client of another machine. Default
	// DefaultMaxConnectionsOfClient.
	MaxConnectionsOfClient int
	// MinFreeBytes is how much must be free on the disk of the store: with less, writes are refused, and deletions and
	// reads go on. Pages that are free within the store's file count too, where they are that much. Default 0, no limit.
	MinFreeBytes int64
	// DrainTimeout is how long calls may go on while the server stops. Default DefaultDrainTimeout.
	DrainTimeout time.Duration
	// Credentials encrypt the connections. Nil: they are plaintext.
	Credentials credentials.TransportCredentials
	// Unread bounds the answers that clients do not read. Logger and Metrics are set here.
	Unread unread.Options
	// Access decides who may call what. Without it, whoever can connect may do everything, so that only a listener that
	// nobody else can connect to may be served. Run runs it.
	Access *access.Guard
	// Tenant is the tenant of all callers where Access is nil. Default tenant.Default.
	Tenant string
	// Reflection turns on gRPC reflection, which describes the API to tools such as grpcurl.
	Reflection bool
}

// LeastInflightBytes returns the least MaxInflightBytes with which a request of maxMessageBytes can be taken. It is the
// default too.
func LeastInflightBytes(maxMessageBytes int) int64 { return inflightFactor * int64(maxMessageBytes) }

// Server serves a Service over gRPC, with health and reflection.
type Server struct {
	service *Service
	// newGRPC returns the server of Run, grpc. It has goroutines until it is stopped.
	newGRPC func() *grpc.Server
	grpc    *grpc.Server
	// newHTTP returns the server of AddHTTP, and web is that; nil where the API is not served over HTTP.
	newHTTP func(HTTPOptions) *httpapi.Server
	web     *webServer
	health  *health.Server
	unread  *unread.Answers
	// access may be nil.
	access *access.Guard
	// connections bounds those of the listener.
	connections *connections
	outages     *outages
	readiness   readiness
	// receiver and budget bound the requests.
	receiver *requests.Receiver
	budget   *requests.Budget
	// drain is the DrainTimeout.
	drain atomic.Int64
}

// Limits are the limits of a server that can change while it serves. They are those of ServerOptions; none but MinFreeBytes is 0.
type Limits struct {
	MaxMessageBytes                        int
	MaxInflightBytes                       int64
	MaxConnections, MaxConnectionsOfClient int
	MinFreeBytes                           int64
	DrainTimeout                           time.Duration
}

// UseLimits replaces the limits. Calls and connections that have begun keep what they have, and the bound of answers stays
// that of the start.
func (s *Server) UseLimits(l Limits) {
	s.receiver.SetMaxBytes(l.MaxMessageBytes)
	s.budget.SetLimit(l.MaxInflightBytes)
	s.connections.limit(l.MaxConnections, l.MaxConnectionsOfClient)
	s.service.room.SetLimit(l.MinFreeBytes)
	s.drain.Store(int64(l.DrainTimeout))
}

// DrainTimeout is how long calls may go on while the server stops.
func (s *Server) DrainTimeout() time.Duration { return time.Duration(s.drain.Load()) }

// UsePolicies is that of the Service.
func (s *Server) UsePolicies(set policies.Set) error { return s.service.UsePolicies(set) }

// UseRetention is that of the Service.
func (s *Server) UseRetention(policy retention.Policy) { s.service.UseRetention(policy) }

// BeginWrite lets in a write to the store beside those of calls, of so many bytes, or refuses it for want of room on the disk.
// done must be called once it has ended.
func (s *Server) BeginWrite(bytes int) (done func(), err error) { return s.service.room.Begin(bytes) }

// NewServer returns a server. The caller must call Run.
func NewServer(o ServerOptions) (*Server, error) {
	if o.Metrics == nil {
		o.Metrics = prometheus.NewRegistry()
	}
	if o.Logger != nil {
		o.Logger = slog.New(calls.Handler(o.Logger.Handler()))
	}
	service, err := New(o.Options)
	if err != nil {
		return nil, err
	}
	if o.MaxMessageBytes == 0 {
		o.MaxMessageBytes = DefaultMaxMessageBytes
	}
	if o.MaxInflightBytes == 0 {
		o.MaxInflightBytes = LeastInflightBytes(o.MaxMessageBytes)
	}
	if o.MaxConnections == 0 {
		o.MaxConnections = DefaultMaxConnections
	}
	if o.MaxConnectionsOfClient == 0 {
		o.MaxConnectionsOfClient = DefaultMaxConnectionsOfClient
	}
	if o.DrainTimeout == 0 {
		o.DrainTimeout = DefaultDrainTimeout
	}
	if o.Credentials == nil {
		o.Credentials = insecure.NewCredentials()
	}
	metrics := prommiddleware.NewServerMetrics(prommiddleware.WithServerHandlingTimeHistogram())
	if err := o.Metrics.Register(metrics); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	budget, err := requests.NewBudget(o.MaxInflightBytes, o.Metrics)
	if err != nil {
		return nil, err
	}
	receiver := &requests.Receiver{
		MaxBytes: o.MaxMessageBytes, Budget: budget, Check: policies.CheckSize, Enter: service.enterLarge, Received: service.quotas.Received,
	}
	var admission interceptors.Admission = access.Open{Tenant: o.Tenant}
	if o.Access != nil {
		admission = o.Access
	}
	chain := interceptors.New(o.Logger, metrics, admission, service.quotas, receiver, o.Audit, service.hooks.Now, o.Traces)
	o.Unread.Logger, o.Unread.Metrics = o.Logger, o.Metrics
	answers, err := unread.New(o.Unread)
	if err != nil {
		return nil, err
	}
	s := &Server{service: service, unread: answers, health: health.NewServer(), access: o.Access, receiver: receiver, budget: budget}
	s.drain.Store(int64(o.DrainTimeout))
	s.connections, err = newConnections(o.MaxConnections, o.MaxConnectionsOfClient, o.Logger, service.hooks.Now, o.Metrics)
	if err != nil {
		return nil, err
	}
	s.readiness.store = o.Store
	if err := measureStore(o.Store, o.Metrics); err != nil {
		return nil, err
	}
	if s.outages, err = watchOutages(o.Store, s.health, o.Logger, o.Metrics); err != nil {
		return nil, err
	}
	if err := service.guardRoom(o.Store, o.MinFreeBytes, s.outages.reportRoom, o.Metrics); err != nil {
		return nil, err
	}
	s.newGRPC = func() *grpc.Server {
		server := o.newGRPC(chain, answers)
		s.register(server, o.Reflection)
		metrics.InitializeMetrics(server)
		return server
	}
	s.newHTTP = func(h HTTPOptions) *httpapi.Server {
		return s.newWeb(h, chain, o.Logger)
	}
	return s, nil
}

// newGRPC returns a server without services.
func (o *ServerOptions) newGRPC(chain *interceptors.Chain, answers *unread.Answers) *grpc.Server {
	return grpc.NewServer(
		grpc.Creds(o.Credentials),
		grpc.ChainUnaryInterceptor(append(chain.Unary, answers.Unary())...),
		grpc.ChainStreamInterceptor(append(chain.Stream, answers.Stream())...),
		grpc.InTapHandle(requests.Tap),
		// What gRPC takes of requests that nothing has asked for yet. Its own windows would grow to megabytes each.
		grpc.StaticStreamWindowSize(streamWindow),
		grpc.StaticConnWindowSize(connectionWindow),
		grpc.MaxSendMsgSize(hardLimitFactor*o.MaxMessageBytes),
		grpc.MaxHeaderListSize(maxHeaderBytes),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.NumStreamWorkers(streamWorkers),
		grpc.ConnectionTimeout(handshakeTimeout),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minClientPing, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: serverPing, Timeout: pingTimeout}),
		grpc.ForceServerCodecV2(unread.Codec{CodecV2: encoding.GetCodecV2(grpcproto.Name)}),
		// Otherwise Stop returns while handlers still run, and the store would be closed under them.
		grpc.WaitForHandlers(true),
	)
}

// register registers all services.
func (s *Server) register(server *grpc.Server, reflected bool) {
	registrar := requests.Registrar{Server: server}
	compactordv1.RegisterSessionServiceServer(registrar, s.service)
	compactordv1.RegisterCompactionServiceServer(registrar, s.service)
	compactordv1.RegisterStoreServiceServer(registrar, s.service)
	healthv1.RegisterHealthServer(registrar, s.health)
	if reflected {
		reflection.Register(registrar)
	}
}

// Run serves on the listener until ctx ends, and then stops. While it stops, health is NOT_SERVING, watches end, and
// calls and compactions may go on until the drain timeout. Then it cancels the compactions and ends what still runs. It
// returns nil after a stop by ctx. Where the store is lost, it stops too, and returns storage.ErrLost. It closes the
// listener.
//
// Before it serves, it records the compactions that were interrupted by the end of earlier daemons.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	s.grpc = s.newGRPC()
	s.service.compactor.RecordInterrupted(ctx)
	s.readiness.serving.Store(true)
	stopped := make(chan struct{})
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(stopped)
		if err := s.grpc.Serve(s.unread.Listener(s.connections.listener(listener))); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	if s.web != nil {
		group.Go(s.serveHTTP)
	}
	if s.access != nil {
		guarding, end := context.WithCancel(context.WithoutCancel(ctx))
		group.Go(func() error {
			// Calls may go on for a while when the server stops, with the same rights.
			<-stopped
			end()
			return nil
		})
		group.Go(func() error {
			s.access.Run(guarding)
			return nil
		})
	}
	background, endBackground := context.WithCancel(groupCtx)
	for _, run := range s.service.background() {
		group.Go(func() error {
			run(background)
			return nil
		})
	}
	group.Go(func() error {
		select {
		case err := <-s.outages.lost:
			return err
		case <-groupCtx.Done():
		case <-stopped:
		}
		return nil
	})
	group.Go(func() error {
		select {
		case <-groupCtx.Done():
		case <-stopped:
		}
		endBackground()
		s.stop(context.WithoutCancel(ctx))
		return nil
	})
	return group.Wait()
}

// stopNow ends all calls.
func (s *Server) stopNow() {
	if s.web != nil {
		s.web.server.Stop()
	}
	s.grpc.Stop()
}

// stop stops the server: within the drain timeout, plus the time that the handlers need to notice a cancel.
func (s *Server) stop(ctx context.Context) {
	s.readiness.serving.Store(false)
	s.health.Shutdown()
	// Watches would never end by themselves. Their clients can go on with another daemon where they stopped.
	s.service.watchers.Close()
	graceful := make(chan struct{})
	go func() {
		defer close(graceful)
		if s.web != nil {
			s.web.server.GracefulStop(ctx)
		}
		s.grpc.GracefulStop()
		// Detached compactions have no call to wait for.
		s.service.operations.WaitAll()
	}()
	timer := time.NewTimer(s.DrainTimeout())
	defer timer.Stop()
	select {
	case <-graceful:
	case <-timer.C:
		// Cancelled compactions send their last event. A client that does not read it is disconnected.
		s.service.operations.CancelAll()
		timer.Reset(cancelTimeout)
		select {
		case <-graceful:
		case <-timer.C:
		}
		s.stopNow()
		<-graceful
	}
	s.service.Close()
}
