// Package interceptors has what every call passes before its handler and behind it: logs, metrics, errors, limits, and the
// rules of the contract on requests.
package interceptors

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"buf.build/go/protovalidate"
	prommiddleware "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	middleware "github.com/grpc-ecosystem/go-grpc-middleware/v2"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/logging"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/selector"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
)

// Chain is the interceptors in their order, the same for unary and streaming calls:
//
//	backstop   a panic in an interceptor must not end the daemon
//	arrival    when the call came, and with it who ended it
//	metrics    outside the log and all that refuses, so that refusals are counted
//	log        outside the error map, so that it sees the final status
//	errors     one mapping to statuses
//	recovery   inside metrics and log, so that a panic is counted and logged like any other failure
//	deadline   no unary call goes on for ever, whatever its client said
//	limit      the size of requests, before anything is spent on them
//	known      fields that the contract does not have
//	validate   the contract's rules on fields
type Chain struct {
	Unary  []grpc.UnaryServerInterceptor
	Stream []grpc.StreamServerInterceptor
}

// contractRules is one validator for all servers of a process: it compiles the rules of a message when it first meets one.
var contractRules = sync.OnceValues(func() (protovalidate.Validator, error) { return protovalidate.New() })

// New returns the interceptors of a server.
func New(
	logger *slog.Logger, metrics *prommiddleware.ServerMetrics, maxMessageBytes int, now func() time.Time,
) (*Chain, error) {
	validator, err := contractRules()
	if err != nil {
		return nil, fmt.Errorf("compile the contract's rules: %w", err)
	}
	backstop := recovery.WithRecoveryHandlerContext(func(_ context.Context, _ any) error {
		return status.Error(codes.Internal, "internal error")
	})
	recovered := recovery.WithRecoveryHandlerContext(func(ctx context.Context, cause any) error {
		return apierror.Recovered(ctx, logger, "handler", sessionlog.NewID(), cause)
	})
	// Payloads are conversations: only that a call ended is logged, never what was in it.
	logOptions := []logging.Option{logging.WithLogOnEvents(logging.FinishCall), logging.WithLevels(callLevel)}
	log := logging.LoggerFunc(func(ctx context.Context, level logging.Level, message string, fields ...any) {
		logger.Log(ctx, slog.Level(level), "call", append(fields, "event", message)...)
	})
	mapped := errorMap{logger}
	return &Chain{
		Unary: []grpc.UnaryServerInterceptor{
			recovery.UnaryServerInterceptor(backstop),
			arriveUnary(now),
			metrics.UnaryServerInterceptor(),
			selector.UnaryServerInterceptor(logging.UnaryServerInterceptor(log, logOptions...), ourServices),
			mapped.unary,
			recovery.UnaryServerInterceptor(recovered),
			capDeadline(unaryTime),
			checkUnary(limitTo(maxMessageBytes), knownFields, validator.Validate),
		},
		Stream: []grpc.StreamServerInterceptor{
			recovery.StreamServerInterceptor(backstop),
			arriveStream(now),
			metrics.StreamServerInterceptor(),
			selector.StreamServerInterceptor(logging.StreamServerInterceptor(log, logOptions...), ourServices),
			mapped.stream,
			recovery.StreamServerInterceptor(recovered),
			checkStream(limitTo(maxMessageBytes), knownFields, validator.Validate),
		},
	}, nil
}

// callLevel is the level at which a call's end is logged: what only the client can fix is no error of the daemon.
func callLevel(code codes.Code) logging.Level {
	switch code {
	case codes.Internal, codes.DataLoss, codes.Unknown:
		return logging.LevelError
	case codes.Unavailable, codes.ResourceExhausted, codes.DeadlineExceeded:
		return logging.LevelWarn
	default:
		return logging.LevelInfo
	}
}

// ourServices leaves health checks and reflection out of the log: they come every few seconds and tell nothing.
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
