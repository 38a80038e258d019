// Package relay serves the inspector to a browser on this machine, and behind it the RPCs of a service that is reached over
// a gRPC connection: a daemon, or the service in the same process. The browser calls as it would call a daemon with
// --inspect, see the package httpapi, and the relay repeats each call over the connection, by the connection's own token.
//
// A relay is for one user and one run of a program. Callers need the token that New makes, and may only read, or ask what a
// call would do, and where the page writes, do what it offers: all else is refused, whatever the connection itself may do.
package relay

import (
	"context"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net"
	"net/http"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/httpapi"
	"github.com/compactord/compactord/service/inspector"
	"github.com/compactord/compactord/service/requests"
	"github.com/compactord/compactord/service/unread"
)

// maxRequest is the largest request in bytes. Those that read are small.
const maxRequest = 1 << 20

// inflightFactor is how many times the largest request the requests in flight may take. JSON of many small values takes
// several times its size.
const inflightFactor = 64

// Relay serves the inspector.
type Relay struct {
	server  *httpapi.Server
	answers *unread.Answers
	token   string
}

// New returns a relay to a connection. writing says whether the page offers to change sessions. The logger receives what is wrong
// with connections.
func New(to grpc.ClientConnInterface, writing inspector.Writing, logger *slog.Logger) (*Relay, error) {
	budget, err := requests.NewBudget(inflightFactor*maxRequest, nil)
	if err != nil {
		return nil, err
	}
	answers, err := unread.New(unread.Options{Logger: logger})
	if err != nil {
		return nil, err
	}
	r := &Relay{answers: answers, token: access.NewToken()}
	receiver := &requests.Receiver{MaxBytes: maxRequest, Budget: budget}
	pages := http.NewServeMux()
	inspector.Add(pages, writing)
	r.server = httpapi.New(httpapi.Options{
		Unary:  []grpc.UnaryServerInterceptor{toStatusUnary, r.admitUnary, receiver.Unary, answers.Unary()},
		Stream: []grpc.StreamServerInterceptor{toStatusStream, r.admitStream, receiver.Stream, answers.Stream()},
		Pages:  pages, Logger: logger,
	})
	for _, service := range []*grpc.ServiceDesc{&compactordv1.SessionService_ServiceDesc, &compactordv1.CompactionService_ServiceDesc} {
		described, err := forwarding(service, to, writing)
		if err != nil {
			return nil, err
		}
		r.server.RegisterService(described, nil)
	}
	return r, nil
}

// Token is what callers must send.
func (r *Relay) Token() string { return r.token }

// Run serves on the listener until the context ends, and closes it. It returns nil then.
func (r *Relay) Run(ctx context.Context, listener net.Listener) error {
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error { return r.server.Serve(r.answers.Listener(listener)) })
	group.Go(func() error {
		<-running.Done()
		r.server.Stop()
		return nil
	})
	return group.Wait()
}

// admit refuses callers without the token.
func (r *Relay) admit(ctx context.Context) error {
	if !r.knows(metadata.ValueFromIncomingContext(ctx, "authorization")) {
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_UNAUTHENTICATED, nil,
			"the call has no token that this page accepts: open the address that the command has printed")
	}
	return nil
}

// actions are the RPCs by which the page changes sessions.
var actions = map[string]bool{
	compactordv1.CompactionService_Compact_FullMethodName:          true,
	compactordv1.CompactionService_CancelCompaction_FullMethodName: true,
	compactordv1.CompactionService_Prune_FullMethodName:            true,
	compactordv1.SessionService_CreateCheckpoint_FullMethodName:    true,
	compactordv1.SessionService_RevertToCheckpoint_FullMethodName:  true,
	compactordv1.SessionService_PinMessages_FullMethodName:         true,
	compactordv1.SessionService_UnpinMessages_FullMethodName:       true,
}

// check refuses what changes something, but for what a page that writes offers.
func check(method string, request any, writing inspector.Writing) error {
	dry, is := request.(interface{ GetDryRun() bool })
	role, known := access.Roles[method]
	if known && role <= access.Read || is && dry.GetDryRun() || bool(writing) && actions[method] {
		return nil
	}
	says := "this page may only read"
	if writing {
		says = "this page may only read, and do what it offers"
	}
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_PERMISSION_DENIED, map[string]string{"role": access.Read.String()}, "%s", says)
}

func (r *Relay) knows(authorization []string) bool {
	return len(authorization) == 1 && subtle.ConstantTimeCompare([]byte(authorization[0]), []byte("Bearer "+r.token)) == 1
}

func (r *Relay) admitUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := r.admit(ctx); err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

func (r *Relay) admitStream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if err := r.admit(stream.Context()); err != nil {
		return err
	}
	return handler(srv, stream)
}

func toStatusUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	answer, err := handler(ctx, req)
	return answer, toStatus(err)
}

func toStatusStream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return toStatus(handler(srv, stream))
}

// toStatus gives errors of the interceptors the status that clients know them by. Those of the connection have one.
func toStatus(err error) error {
	var own *apierror.Error
	if errors.As(err, &own) {
		return own.GRPCStatus().Err()
	}
	return err
}
