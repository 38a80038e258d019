package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	prommiddleware "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/interceptors"
)

// Limits of a Server.
const (
	// DefaultMaxMessageBytes is the size of the largest request or answer: it carries tool outputs of many megabytes.
	DefaultMaxMessageBytes = 64 << 20
	// DefaultDrainTimeout is how long a stopping server lets calls finish.
	DefaultDrainTimeout = 10 * time.Second
	hardLimitFactor     = 2
	// farewellTimeout is how long clients may take to hear that their compactions were cancelled by a stop.
	farewellTimeout = 2 * time.Second
	maxHeaderBytes  = 64 << 10
	maxStreams      = 1000
	// A client may ask for a sign of life this often, and the server asks this often itself.
	minClientPing = 10 * time.Second
	serverPing    = 1 * time.Minute
	pingTimeout   = 20 * time.Second
)

// ServerOptions are what a Server is made of beside its service.
type ServerOptions struct {
	Options
	// MaxMessageBytes bounds requests and answers. Default DefaultMaxMessageBytes.
	MaxMessageBytes int
	// DrainTimeout bounds the graceful stop. Default DefaultDrainTimeout.
	DrainTimeout time.Duration
	// Reflection says whether the server describes its API to tools such as grpcurl.
	Reflection bool
}

// Server serves a Service over gRPC, with health and reflection.
type Server struct {
	service *Service
	grpc    *grpc.Server
	health  *health.Server
	drain   time.Duration
}

// NewServer builds a server. It must be run or stopped.
func NewServer(o ServerOptions) (*Server, error) {
	if o.Metrics == nil {
		o.Metrics = prometheus.NewRegistry()
	}
	service, err := New(o.Options)
	if err != nil {
		return nil, err
	}
	if o.MaxMessageBytes == 0 {
		o.MaxMessageBytes = DefaultMaxMessageBytes
	}
	if o.DrainTimeout == 0 {
		o.DrainTimeout = DefaultDrainTimeout
	}
	metrics := prommiddleware.NewServerMetrics(prommiddleware.WithServerHandlingTimeHistogram())
	if err := o.Metrics.Register(metrics); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	chain, err := interceptors.New(o.Logger, metrics, o.MaxMessageBytes, service.hooks.Now)
	if err != nil {
		return nil, err
	}
	s := &Server{
		service: service,
		health:  health.NewServer(),
		drain:   o.DrainTimeout,
		grpc: grpc.NewServer(
			grpc.ChainUnaryInterceptor(chain.Unary...),
			grpc.ChainStreamInterceptor(chain.Stream...),
			// gRPC refuses what is over its own limit before an interceptor can name the limit, so that one is higher.
			grpc.MaxRecvMsgSize(hardLimitFactor*o.MaxMessageBytes),
			grpc.MaxSendMsgSize(hardLimitFactor*o.MaxMessageBytes),
			grpc.MaxHeaderListSize(maxHeaderBytes),
			grpc.MaxConcurrentStreams(maxStreams),
			grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minClientPing, PermitWithoutStream: true}),
			grpc.KeepaliveParams(keepalive.ServerParameters{Time: serverPing, Timeout: pingTimeout}),
			grpc.ForceServerCodecV2(interceptors.NewLenientCodec()),
			// Without it Stop returns while handlers still run, and the store would be closed under them.
			grpc.WaitForHandlers(true),
		),
	}
	compactordv1.RegisterSessionServiceServer(s.grpc, service)
	compactordv1.RegisterCompactionServiceServer(s.grpc, service)
	healthv1.RegisterHealthServer(s.grpc, s.health)
	if o.Reflection {
		reflection.Register(s.grpc)
	}
	metrics.InitializeMetrics(s.grpc)
	return s, nil
}

// Run serves on the listener until ctx ends, then stops: health says NOT_SERVING, watchers are ended, calls and
// compactions may finish until the drain timeout, then compactions are cancelled and what still runs is cut off. It
// returns nil after a stop that was asked for. The listener is closed.
//
// Before anything is served, it records which compactions of earlier daemons were cut off.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	s.service.compactor.RecordInterrupted(ctx)
	stopped := make(chan struct{})
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(stopped)
		if err := s.grpc.Serve(listener); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		select {
		case <-groupCtx.Done():
		case <-stopped:
		}
		s.stop()
		return nil
	})
	return group.Wait()
}

// stop ends the server within the drain timeout and what its handlers need to notice.
func (s *Server) stop() {
	s.health.Shutdown()
	// They would never end by themselves, and go on with another daemon where they left off.
	s.service.watchers.Close()
	graceful := make(chan struct{})
	go func() {
		defer close(graceful)
		s.grpc.GracefulStop()
		// Those that are detached have no call that could be waited for.
		s.service.operations.WaitAll()
	}()
	timer := time.NewTimer(s.drain)
	defer timer.Stop()
	select {
	case <-graceful:
	case <-timer.C:
		// Compactions say that they were cancelled; a client that does not listen is cut off.
		s.service.operations.CancelAll()
		timer.Reset(farewellTimeout)
		select {
		case <-graceful:
		case <-timer.C:
		}
		s.grpc.Stop()
		<-graceful
	}
	s.service.Close()
}
