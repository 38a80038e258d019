package service

import (
	"google.golang.org/grpc"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// WatchSession implements SessionService.
func (s *Service) WatchSession(
	req *compactordv1.WatchSessionRequest, stream grpc.ServerStreamingServer[compactordv1.WatchSessionResponse],
) error {
	return s.watching.Watch(req, stream)
}
