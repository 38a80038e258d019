package service

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"buf.build/go/protovalidate"
	prommiddleware "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/logging"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// chain is the interceptors in their order, the same for unary and streaming calls:
//
//	backstop   a panic in an interceptor must not end the daemon
//	metrics    outside the log and all that refuses, so that refusals are counted
//	log        outside the error map, so that it sees the final status
//	errors     one mapping to statuses
//	recovery   inside metrics and log, so that a panic is counted and logged like any other failure
//	validate   the contract's rules on fields
type chain struct {
	unary  []grpc.UnaryServerInterceptor
	stream []grpc.StreamServerInterceptor
}

func newChain(logger *slog.Logger, metrics *prommiddleware.ServerMetrics) (*chain, error) {
	validator, err := protovalidate.New()
	if err != nil {
		return nil, fmt.Errorf("compile the contract's rules: %w", err)
	}
	backstop := recovery.WithRecoveryHandlerContext(func(_ context.Context, _ any) error {
		return status.Error(codes.Internal, "internal error")
	})
	recovered := recovery.WithRecoveryHandlerContext(func(ctx context.Context, cause any) error {
		logger.ErrorContext(ctx, "handler panicked", "panic", fmt.Sprintf("%T", cause), "stack", string(debug.Stack()))
		return fmt.Errorf("panic of type %T", cause)
	})
	// Payloads are conversations: only that a call ended is logged, never what was in it.
	logOptions := []logging.Option{logging.WithLogOnEvents(logging.FinishCall)}
	log := logging.LoggerFunc(func(ctx context.Context, level logging.Level, message string, fields ...any) {
		logger.Log(ctx, slog.Level(level), message, fields...)
	})
	return &chain{
		unary: []grpc.UnaryServerInterceptor{
			recovery.UnaryServerInterceptor(backstop),
			metrics.UnaryServerInterceptor(),
			logging.UnaryServerInterceptor(log, logOptions...),
			mapErrorsUnary(logger),
			recovery.UnaryServerInterceptor(recovered),
			validateUnary(validator),
		},
		stream: []grpc.StreamServerInterceptor{
			recovery.StreamServerInterceptor(backstop),
			metrics.StreamServerInterceptor(),
			logging.StreamServerInterceptor(log, logOptions...),
			mapErrorsStream(logger),
			recovery.StreamServerInterceptor(recovered),
			validateStream(validator),
		},
	}, nil
}

func mapErrorsUnary(logger *slog.Logger) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		resp, err := handler(ctx, req)
		return resp, mapError(ctx, logger, info.FullMethod, err)
	}
}

func mapErrorsStream(logger *slog.Logger) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		return mapError(stream.Context(), logger, info.FullMethod, handler(srv, stream))
	}
}

// mapError turns an error into the status that goes out. A bug is logged with its cause under the id that the client
// gets.
func mapError(ctx context.Context, logger *slog.Logger, method string, err error) error {
	if err == nil {
		return nil
	}
	if st, ok := status.FromError(err); ok && !isOurs(err) {
		return st.Err()
	}
	id := newID()
	e := asError(err, id)
	if e.Code == codes.Internal || e.Code == codes.DataLoss {
		logger.ErrorContext(ctx, "call failed by a bug or a broken store", "id", id, "method", method, "error", err)
	}
	return e.status().Err()
}

// isOurs tells our errors, which carry a status too, from those of gRPC itself.
func isOurs(err error) bool {
	return asError(err, "").Code != codes.Internal
}

func validateUnary(validator protovalidate.Validator) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		if err := validate(validator, req); err != nil {
			return nil, err
		}
		return handler(ctx, req)
	}
}

func validateStream(validator protovalidate.Validator) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		return handler(srv, &validatingStream{ServerStream: stream, validator: validator})
	}
}

type validatingStream struct {
	grpc.ServerStream
	validator protovalidate.Validator
}

// RecvMsg receives a message and validates it.
func (s *validatingStream) RecvMsg(m any) error {
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	return validate(s.validator, m)
}

func validate(validator protovalidate.Validator, req any) error {
	m, ok := req.(proto.Message)
	if !ok {
		return fmt.Errorf("request of type %T is no protobuf message", req)
	}
	// Health checks and reflection have no rules and pass.
	return validator.Validate(m)
}
