// Package interceptors has the interceptors of every call: logs, metrics, errors, access, limits, and the contract's
// rules for requests.
package interceptors

import (
	"context"
	"log/slog"
	"strings"
	"time"

	prommiddleware "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	middleware "github.com/grpc-ecosystem/go-grpc-middleware/v2"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/selector"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/audit"
	"github.com/compactord/compactord/service/quota"
	"github.com/compactord/compactord/service/requests"
	"github.com/compactord/compactord/service/sessionlog"
)

// Chain is the interceptors, outermost first, in the same order for unary and streaming calls:
//
//	backstop   a panic in an interceptor must not end the daemon
//	calls      gives the call an id, which all lines of the log and the answer have, and a span where it is traced
//	arrival    notes when the call arrived, so that a deadline can be told from a cancel
//	metrics    before the log and the checks, so that refused calls are counted
//	log        before errors, so that it sees the final status
//	audit      as the log; a unary call has its line before the client has the answer
//	errors     turns errors into statuses
//	recovery   after metrics and log, so that a panic is counted and logged like any other failure
//	access     refuses callers before anything of their request is received; after metrics and log, so that both show it
//	quotas     refuses calls of tenants that take too much, likewise
//	receive    counts the request, reserves memory for it, and decodes it, before other work; checks its policy's size
//	deadline   the daemon's time limit for unary calls, which depends on the request
//	pool       a large unary request waits until there is room for its work, of which its rules are a part
//	rules      the contract's rules for fields, within that limit; for streams they run where the request is received
//	session    notes the session for the log
type Chain struct {
	Unary  []grpc.UnaryServerInterceptor
	Stream []grpc.StreamServerInterceptor
}

// Admission decides who may call, and puts the access.Caller into the context: an access.Guard or access.Open.
type Admission interface {
	Unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error)
	Stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error
}

var (
	_ Admission = (*access.Guard)(nil)
	_ Admission = access.Open{}
)

// New returns the interceptors of a server.
func New(
	logger *slog.Logger, metrics *prommiddleware.ServerMetrics, admission Admission, quotas *quota.Quotas,
	receiver *requests.Receiver, log *audit.Log, now func() time.Time, traces trace.TracerProvider,
) *Chain {
	backstop := recovery.WithRecoveryHandlerContext(func(_ context.Context, _ any) error {
		return status.Error(codes.Internal, "internal error")
	})
	recovered := recovery.WithRecoveryHandlerContext(func(ctx context.Context, cause any) error {
		return apierror.Recovered(ctx, logger, "handler", sessionlog.NewID(), cause)
	})
	logged := lines{logger}
	mapped := errorMap{logger}
	audited, begun := auditing{log, now}, tracedBy(traces)
	return &Chain{
		Unary: []grpc.UnaryServerInterceptor{
			recovery.UnaryServerInterceptor(backstop),
			begun.unary,
			arriveUnary(now),
			metrics.UnaryServerInterceptor(),
			selector.UnaryServerInterceptor(logged.unary, ourServices),
			selector.UnaryServerInterceptor(audited.unary, ourServices),
			mapped.unary,
			recovery.UnaryServerInterceptor(recovered),
			admission.Unary,
			quotas.Unary,
			receiver.Unary,
			capDeadline(unaryTime),
			receiver.EnterUnary,
			requests.CheckUnary,
			noteUnary,
		},
		Stream: []grpc.StreamServerInterceptor{
			recovery.StreamServerInterceptor(backstop),
			begun.stream,
			arriveStream(now),
			metrics.StreamServerInterceptor(),
			selector.StreamServerInterceptor(logged.stream, ourServices),
			selector.StreamServerInterceptor(audited.stream, ourServices),
			mapped.stream,
			recovery.StreamServerInterceptor(recovered),
			admission.Stream,
			quotas.Stream,
			receiver.Stream,
			noteStream,
		},
	}
}

// ourServices excludes health checks and reflection from the log: they come every few seconds and are of no interest.
var ourServices = selector.MatchFunc(func(_ context.Context, call interceptors.CallMeta) bool {
	return strings.HasPrefix(call.Service, "compactord.")
})

func arriveUnary(now func() time.Time) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		return handler(apierror.WithArrival(ctx, now), req)
	}
}

func arriveStream(now func() time.Time) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		return handler(srv, &middleware.WrappedServerStream{
			ServerStream: stream, WrappedContext: apierror.WithArrival(stream.Context(), now),
		})
	}
}
