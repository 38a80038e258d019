// Package httpapi serves RPCs over HTTP/1.1 and HTTP/2, for clients that have no gRPC: shells, browsers, and languages
// without stubs.
//
// A Server takes the same services and the same interceptors as a gRPC server, and calls them itself: an RPC does the same
// over both, with the same access, limits, errors, log lines and metrics. The content type of a request says how it is
// spoken to:
//
//	application/json, application/proto            Connect, unary
//	application/connect+json, +proto               Connect, streams
//	application/grpc-web, +json, +proto            gRPC-Web, both
//	application/grpc, +json, +proto                gRPC, both, over HTTP/2
//	application/json for a stream                  a line of JSON for each message
//
// The protocols are connect-go's. It would receive a request before an interceptor runs, so that whoever can connect could
// make the daemon hold as much as a request may have. So it is given an empty one, and the interceptors find the body of the
// request in the context, where a requests.Receiver takes it within the bounds, once the caller is known.
package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

const (
	maxHeaderBytes = 64 << 10
	headerTimeout  = 20 * time.Second
	idleTimeout    = 2 * time.Minute
	maxStreams     = 1000
	// What HTTP/2 takes of requests that nothing has asked for yet.
	streamWindow     = 64 << 10
	connectionWindow = 1 << 20
	pingAfter        = time.Minute
	pingTimeout      = 20 * time.Second
	// lastWords is how long a client may take for the rest of an answer once its call has ended.
	lastWords = 5 * time.Second
)

// Options configure a Server.
type Options struct {
	// Unary and Stream are the interceptors of all calls, outermost first. A requests.Receiver and unread.Answers must be
	// among them.
	Unary  []grpc.UnaryServerInterceptor
	Stream []grpc.StreamServerInterceptor
	// Hosts are the names by which a request may ask for the server in its Host header, without a port, beside localhost
	// and all IP addresses. Another name is refused: it may be that of a web page which had it point to this machine.
	Hosts []string
	// Origins are the origins, such as https://example.com, of the web pages that may call. Pages of all others are refused.
	Origins []string
	// Pages are what is served beside RPCs, by GET; nil for nothing.
	Pages *http.ServeMux
	// Logger receives what is wrong with connections, at the level of debug.
	Logger *slog.Logger
}

// Server serves RPCs over HTTP. Its methods are those of a grpc.Server.
type Server struct {
	options Options
	http    *http.Server
	unary   grpc.UnaryServerInterceptor
	stream  grpc.StreamServerInterceptor
	// rpcs has the handlers of RPCs by their paths.
	rpcs    map[string]http.Handler
	errors  *connect.ErrorWriter
	running running
}

// New returns a server without services.
func New(o Options) *Server {
	s := &Server{
		options: o, unary: chainUnary(o.Unary), stream: chainStream(o.Stream), rpcs: make(map[string]http.Handler),
		errors: connect.NewErrorWriter(),
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	s.http = &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		Protocols:         &protocols,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: maxStreams, MaxReceiveBufferPerStream: streamWindow, MaxReceiveBufferPerConnection: connectionWindow,
			SendPingTimeout: pingAfter, PingTimeout: pingTimeout,
		},
		ConnContext: withAddress,
		// The server's own log would go to stderr, which may be blocked.
		ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
	}
	return s
}

// RegisterService registers a service. It must be called before Serve.
func (s *Server) RegisterService(desc *grpc.ServiceDesc, service any) {
	descriptors := methodsOf(desc.ServiceName)
	for _, method := range desc.Methods {
		path := "/" + desc.ServiceName + "/" + method.MethodName
		s.rpcs[path] = s.newUnary(path, descriptors[method.MethodName], method, service)
	}
	for _, stream := range desc.Streams {
		if stream.ClientStreams {
			// The contract has none, and browsers cannot make them.
			continue
		}
		path := "/" + desc.ServiceName + "/" + stream.StreamName
		s.rpcs[path] = s.newStream(path, descriptors[stream.StreamName], stream, service)
	}
}

// methodsOf returns the descriptors of a service's methods by name.
func methodsOf(service string) map[string]protoreflect.MethodDescriptor {
	methods := make(map[string]protoreflect.MethodDescriptor)
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service))
	if described, is := found.(protoreflect.ServiceDescriptor); err == nil && is {
		for i := range described.Methods().Len() {
			method := described.Methods().Get(i)
			methods[string(method.Name())] = method
		}
	}
	return methods
}

// Paths returns the paths of all RPCs.
func (s *Server) Paths() []string { return slices.Sorted(maps.Keys(s.rpcs)) }

// Serve serves on a listener, with TLS where its connections are those of the package tls. It closes the listener, and
// returns nil after a stop.
func (s *Server) Serve(listener net.Listener) error {
	if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve HTTP: %w", err)
	}
	return nil
}

// GracefulStop takes no more calls, and returns once those that run have ended. It stops waiting for idle connections when
// the context ends.
func (s *Server) GracefulStop(ctx context.Context) {
	// It returns an error only where its context ends, or the listener fails to close.
	_ = s.http.Shutdown(ctx)
	s.running.wait()
}

// Stop ends all calls, and returns once they have ended.
func (s *Server) Stop() {
	s.running.refuse()
	_ = s.http.Close()
	s.running.wait()
}

// addressKey is the context's key for the address of a connection. Each connection has one of its own.
type addressKey struct{}

func withAddress(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, addressKey{}, conn.RemoteAddr())
}
