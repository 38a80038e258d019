package quota

import (
	"context"
	"strings"

	"google.golang.org/grpc"
)

// ours begins the names of the RPCs that count. Probes and reflection do not.
const ours = "/compactord."

// Unary counts a unary call, or refuses it. It must stand after the access of the caller.
func (q *Quotas) Unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if q != nil && strings.HasPrefix(info.FullMethod, ours) {
		if err := q.begin(ctx); err != nil {
			return nil, err
		}
	}
	return handler(ctx, req)
}

// Stream counts a stream, or refuses it, like Unary.
func (q *Quotas) Stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if q == nil || !strings.HasPrefix(info.FullMethod, ours) {
		return handler(srv, stream)
	}
	if err := q.begin(stream.Context()); err != nil {
		return err
	}
	leave, err := q.beginStream(stream.Context())
	if err != nil {
		return err
	}
	defer leave()
	return handler(srv, stream)
}
