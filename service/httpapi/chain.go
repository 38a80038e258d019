package httpapi

import (
	"context"

	"google.golang.org/grpc"
)

// chainUnary returns one interceptor that calls others in their order, as grpc.ChainUnaryInterceptor does.
func chainUnary(all []grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		for i := len(all) - 1; i >= 0; i-- {
			interceptor, next := all[i], handler
			handler = func(ctx context.Context, req any) (any, error) { return interceptor(ctx, req, info, next) }
		}
		return handler(ctx, req)
	}
}

// chainStream is chainUnary for streams.
func chainStream(all []grpc.StreamServerInterceptor) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		for i := len(all) - 1; i >= 0; i-- {
			interceptor, next := all[i], handler
			handler = func(srv any, stream grpc.ServerStream) error { return interceptor(srv, stream, info, next) }
		}
		return handler(srv, stream)
	}
}
