package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
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
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
)

// chain is the interceptors in their order, the same for unary and streaming calls:
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
type chain struct {
	unary  []grpc.UnaryServerInterceptor
	stream []grpc.StreamServerInterceptor
}

// contractRules is one validator for all servers of a process: it compiles the rules of a message when it first meets one.
var contractRules = sync.OnceValues(func() (protovalidate.Validator, error) { return protovalidate.New() })

func newChain(
	logger *slog.Logger, metrics *prommiddleware.ServerMetrics, maxMessageBytes int, now func() time.Time,
) (*chain, error) {
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
	return &chain{
		unary: []grpc.UnaryServerInterceptor{
			recovery.UnaryServerInterceptor(backstop),
			arriveUnary(now),
			metrics.UnaryServerInterceptor(),
			selector.UnaryServerInterceptor(logging.UnaryServerInterceptor(log, logOptions...), ourServices),
			mapErrorsUnary(logger),
			recovery.UnaryServerInterceptor(recovered),
			capDeadline(unaryTime),
			checkUnary(limitTo(maxMessageBytes), knownFields, validator.Validate),
		},
		stream: []grpc.StreamServerInterceptor{
			recovery.StreamServerInterceptor(backstop),
			arriveStream(now),
			metrics.StreamServerInterceptor(),
			selector.StreamServerInterceptor(logging.StreamServerInterceptor(log, logOptions...), ourServices),
			mapErrorsStream(logger),
			recovery.StreamServerInterceptor(recovered),
			checkStream(limitTo(maxMessageBytes), knownFields, validator.Validate),
		},
	}, nil
}

// callLevel is the level at which a call's end is logged: what only the client can mend is no error of the daemon.
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
	if endedAtDeadline(ctx, err) {
		err = apierror.ErrCallDeadline
	}
	if st, ok := status.FromError(err); ok && !isOurs(err) {
		return st.Err()
	}
	id := sessionlog.NewID()
	var panicked *apierror.PanicError
	if errors.As(err, &panicked) {
		id = cmp.Or(panicked.ID, id)
	}
	e := apierror.From(err, id)
	apierror.LogBug(ctx, logger, id, method, e)
	return e.GRPCStatus().Err()
}

// endedAtDeadline says that a call failed with nothing but the end of its context, which came with its deadline.
func endedAtDeadline(ctx context.Context, err error) bool {
	var told *apierror.Error
	if errors.As(err, &told) || !errors.Is(apierror.EndOf(ctx), apierror.ErrCallDeadline) {
		return false
	}
	code := status.Code(err)
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		code == codes.Canceled || code == codes.DeadlineExceeded
}

// isOurs tells our errors, which carry a status too, from those of gRPC itself.
func isOurs(err error) bool {
	e := &apierror.Error{}
	return errors.As(err, &e) || apierror.From(err, "").Code() != codes.Internal
}

// maxUnaryTime is the longest that a unary call may take. Compact streams have the limits of the policy's summaries.
const maxUnaryTime = 2 * time.Minute

// maxSummarizingTime is the longest that a unary call may take that has a summary written: the most that a policy allows
// for it, and what any call has.
const maxSummarizingTime = 6*time.Hour + maxUnaryTime

// unaryTime is the longest that a unary call may take.
func unaryTime(req any) time.Duration {
	if r, ok := req.(*compactordv1.RevertToCheckpointRequest); ok && r.GetSummarize() {
		return maxSummarizingTime
	}
	return maxUnaryTime
}

func capDeadline(most func(req any) time.Duration) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		limit := most(req)
		ctx, cancel := context.WithTimeoutCause(ctx, limit, apierror.DaemonLimit(limit))
		defer cancel()
		return handler(ctx, req)
	}
}

// check refuses requests.
type check func(req proto.Message, options ...protovalidate.ValidationOption) error

// limitTo refuses requests over the limit with its name and value, which gRPC's own refusal has no room for.
func limitTo(maxBytes int) check {
	return func(req proto.Message, _ ...protovalidate.ValidationOption) error {
		size := proto.Size(req)
		if size <= maxBytes {
			return nil
		}
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED,
			map[string]string{"limit": "max_message_bytes", "value": strconv.Itoa(maxBytes)},
			"the request has %d bytes and at most %d are taken", size, maxBytes)
	}
}

// knownFields refuses fields that this daemon's contract does not have: a newer client must learn that they do nothing.
func knownFields(req proto.Message, _ ...protovalidate.ValidationOption) error {
	if isUndecodable(req) {
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_INVALID_FIELD, nil,
			"the request does not decode as %s: broken bytes, or text that is not UTF-8",
			req.ProtoReflect().Descriptor().FullName())
	}
	if field, what := strangeField(req.ProtoReflect()); field != "" {
		return apierror.InvalidField(field, what)
	}
	return nil
}

// strangeField returns the path of the first field that is unknown, by its number, or that is a time or span out of
// protobuf's range, and what is wrong with it; empty where there is none.
func strangeField(m protoreflect.Message) (path, what string) {
	if unknown := m.GetUnknown(); len(unknown) > 0 {
		number, _, _ := protowire.ConsumeTag(unknown)
		return strconv.Itoa(int(number)), "this daemon does not know this field"
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap() || f.Kind() != protoreflect.MessageKind:
		case f.IsList():
			for i := range v.List().Len() {
				if inner, w := strangeField(v.List().Get(i).Message()); w != "" {
					path, what = fmt.Sprintf("%s[%d].%s", f.Name(), i, inner), w
					return false
				}
			}
		default:
			if w := outOfTime(v.Message()); w != "" {
				path, what = string(f.Name()), w
				return false
			}
			if inner, w := strangeField(v.Message()); w != "" {
				path, what = fmt.Sprintf("%s.%s", f.Name(), inner), w
				return false
			}
		}
		return true
	})
	return path, what
}

// outOfTime says what is wrong with a time or span that JSON could not show again.
func outOfTime(m protoreflect.Message) string {
	switch t := m.Interface().(type) {
	case *timestamppb.Timestamp:
		if !t.IsValid() {
			return "a time must lie in the years 1 to 9999, with 0 to 999,999,999 nanoseconds"
		}
	case *durationpb.Duration:
		if !t.IsValid() {
			return "a span must be within 10,000 years, with nanoseconds of the same sign"
		}
	}
	return ""
}

func checkUnary(checks ...check) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		if err := checkAll(checks, req); err != nil {
			return nil, err
		}
		return handler(ctx, req)
	}
}

func checkStream(checks ...check) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		return handler(srv, &checkedStream{ServerStream: stream, checks: checks})
	}
}

type checkedStream struct {
	grpc.ServerStream
	checks []check
}

// RecvMsg receives a message and checks it.
func (s *checkedStream) RecvMsg(m any) error {
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	return checkAll(s.checks, m)
}

// checkContract refuses a request that breaks the contract.
func checkContract(req proto.Message) error {
	if err := knownFields(req); err != nil {
		return err
	}
	return protovalidate.Validate(req)
}

// checkAll checks a request. Health checks and reflection have no rules and pass.
func checkAll(checks []check, req any) error {
	m, ok := req.(proto.Message)
	if !ok {
		return fmt.Errorf("request of type %T is no protobuf message", req)
	}
	for _, c := range checks {
		if err := c(m); err != nil {
			return err
		}
	}
	return nil
}
