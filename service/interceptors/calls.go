package interceptors

import (
	"context"

	middleware "github.com/grpc-ecosystem/go-grpc-middleware/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/compactord/compactord/service/calls"
	"github.com/compactord/compactord/service/sessionlog"
)

// beginUnary gives a call its request id. The answer has it where the client sent one, and where the call fails: other
// answers need not carry it.
func beginUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	asked := asksForID(ctx)
	ctx, call := calls.Begin(ctx, sessionlog.NewID)
	id := metadata.Pairs(calls.RequestIDHeader, call.RequestID)
	// Both fail only where the call has no transport, as in a test of an interceptor.
	if asked {
		_ = grpc.SetHeader(ctx, id)
	}
	answer, err := handler(ctx, req)
	if err != nil && !asked {
		_ = grpc.SetTrailer(ctx, id)
	}
	return answer, err
}

func beginStream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	asked := asksForID(stream.Context())
	ctx, call := calls.Begin(stream.Context(), sessionlog.NewID)
	id := metadata.Pairs(calls.RequestIDHeader, call.RequestID)
	if asked {
		_ = stream.SetHeader(id)
	}
	err := handler(srv, &middleware.WrappedServerStream{ServerStream: stream, WrappedContext: ctx})
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
