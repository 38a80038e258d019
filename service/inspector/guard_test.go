package inspector_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/inspector"
)

// from returns the context of a call of a page.
func from(t *testing.T, origin string) context.Context {
	t.Helper()
	return metadata.NewIncomingContext(t.Context(), metadata.Pairs("origin", origin, ":authority", "localhost:7442"))
}

// received is a stream whose request has come.
type received struct {
	grpc.ServerStream

	context func() context.Context
}

func (r received) Context() context.Context { return r.context() }
func (received) RecvMsg(any) error          { return nil }

// unary and stream call an RPC as both interceptors see it, and return its status.
func unary(ctx context.Context, method string, req any) codes.Code {
	_, err := inspector.ReadingUnary(ctx, req, &grpc.UnaryServerInfo{FullMethod: method},
		func(context.Context, any) (any, error) { return nil, nil })
	return status.Code(err)
}

func stream(ctx context.Context, method string, req any) codes.Code {
	return status.Code(inspector.ReadingStream(nil, received{context: func() context.Context { return ctx }}, &grpc.StreamServerInfo{FullMethod: method},
		func(_ any, stream grpc.ServerStream) error { return stream.RecvMsg(req) }))
}

// A page that reads can call what needs no more than the role of a reader, and ask what would be done. Others are not held
// to that.
func TestThePageReadsOnly(t *testing.T) {
	own := from(t, "http://localhost:7442")
	for method, role := range access.Roles {
		want := codes.OK
		if role > access.Read {
			want = codes.PermissionDenied
		}
		require.Equal(t, want, unary(own, method, nil), method)
		require.Equal(t, want, stream(own, method, nil), method)
		require.Equal(t, codes.OK, unary(from(t, "https://app.example.com"), method, nil), method)
		require.Equal(t, codes.OK, unary(t.Context(), method, nil), method)
	}
	require.Equal(t, codes.PermissionDenied, unary(own, "/compactord.v1.SessionService/Unknown", nil))

	const compact, revert = compactordv1.CompactionService_Compact_FullMethodName, compactordv1.SessionService_RevertToCheckpoint_FullMethodName
	require.Equal(t, codes.PermissionDenied, stream(own, compact, &compactordv1.CompactRequest{}))
	require.Equal(t, codes.OK, stream(own, compact, &compactordv1.CompactRequest{DryRun: true}))
	require.Equal(t, codes.PermissionDenied, unary(own, revert, &compactordv1.RevertToCheckpointRequest{}))
	require.Equal(t, codes.OK, unary(own, revert, &compactordv1.RevertToCheckpointRequest{DryRun: true}))
}
