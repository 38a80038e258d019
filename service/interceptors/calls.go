package interceptors

import (
	"context"

	middleware "github.com/grpc-ecosystem/go-grpc-middleware/v2"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/compactord/compactord/service/calls"
	"github.com/compactord/compactord/service/sessionlog"
)

// beginning begins calls: with a span where they are traced, and with a request id. The answer has it where the client sent
// one, and where the call fails: other answers need not carry it.
type beginning struct {
	// tracer is nil where no call is traced.
	tracer trace.Tracer
}

func (b beginning) unary(
	ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler,
) (answer any, err error) {
	asked := asksForID(ctx)
	ctx, span := b.span(ctx, info.FullMethod)
	ctx, call := calls.Begin(ctx, sessionlog.NewID)
	id := metadata.Pairs(calls.RequestIDHeader, call.RequestID)
	// Both fail only where the call has no transport, as in a test of an interceptor.
	if asked {
		_ = grpc.SetHeader(ctx, id)
	}
	defer func() { endSpan(span, call, err) }()
	answer, err = handler(ctx, req)
	if err != nil && !asked {
		_ = grpc.SetTrailer(ctx, id)
	}
	return answer, err
}

func (b beginning) stream(
	srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler,
) (err error) {
	asked := asksForID(stream.Context())
	ctx, span := b.span(stream.Context(), info.FullMethod)
	ctx, call := calls.Begin(ctx, sessionlog.NewID)
	id := metadata.Pairs(calls.RequestIDHeader, call.RequestID)
	if asked {
		_ = stream.SetHeader(id)
	}
	defer func() { endSpan(span, call, err) }()
	err = handler(srv, &middleware.WrappedServerStream{ServerStream: stream, WrappedContext: ctx})
	if err != nil && !asked {
		stream.SetTrailer(id)
	}
	return err
}

// asksForID reports whether a client sent a request id, also one that cannot be used.
func asksForID(ctx context.Context) bool {
	return len(metadata.ValueFromIncomingContext(ctx, calls.RequestIDHeader)) > 0
}

// noteUnary notes the session of a call, once its request has passed the rules.
func noteUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	note(ctx, req)
	return handler(ctx, req)
}

func noteStream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return handler(srv, &notingStream{stream})
}

// notingStream notes the session of the requests that it receives. Those have passed the rules.
type notingStream struct{ grpc.ServerStream }

// RecvMsg receives a request.
func (s *notingStream) RecvMsg(req any) error {
	err := s.ServerStream.RecvMsg(req)
	if err == nil {
		note(s.Context(), req)
	}
	return err
}

func note(ctx context.Context, req any) {
	named, ok := req.(interface{ GetSessionId() string })
	if !ok || named.GetSessionId() == "" {
		return
	}
	if call := calls.Of(ctx); call != nil {
		call.SetSession(named.GetSessionId())
	}
}
