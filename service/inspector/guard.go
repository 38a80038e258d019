package inspector

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/apierror"
)

// ReadingUnary refuses unary calls of the page that would change something. The request must have been received.
func ReadingUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := readingOnly(ctx, info.FullMethod, req); err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

// ReadingStream is ReadingUnary for streams.
func ReadingStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return handler(srv, &readingStream{ServerStream: stream, method: info.FullMethod})
}

type readingStream struct {
	grpc.ServerStream

	method string
}

// RecvMsg is part of grpc.ServerStream.
func (s *readingStream) RecvMsg(m any) error {
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	return readingOnly(s.Context(), s.method, m)
}

// readingOnly refuses a request of the page that is no reading, unless it only asks what would be done.
func readingOnly(ctx context.Context, method string, req any) error {
	if role, known := access.Roles[method]; known && role <= access.Read || !fromPage(ctx) {
		return nil
	}
	if dry, can := req.(interface{ GetDryRun() bool }); can && dry.GetDryRun() {
		return nil
	}
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_PERMISSION_DENIED, nil,
		"the page of the inspector reads only: start the daemon with --inspect-write to let it call %s",
		method[strings.LastIndexByte(method, '/')+1:])
}

// fromPage says whether a call comes from a page that the daemon itself serves, as browsers say. There is no other than the
// inspector. Other programs send no origin, and pages of other origins are held to their tokens alone.
func fromPage(ctx context.Context) bool {
	origins := metadata.ValueFromIncomingContext(ctx, "origin")
	hosts := metadata.ValueFromIncomingContext(ctx, ":authority")
	if len(origins) == 0 || len(hosts) == 0 {
		return false
	}
	_, host, _ := strings.Cut(origins[0], "://")
	return host == hosts[0]
}
