package service

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// CreateCheckpoint implements SessionService.
func (s *Service) CreateCheckpoint(
	ctx context.Context, req *compactordv1.CreateCheckpointRequest,
) (*compactordv1.CreateCheckpointResponse, error) {
	return s.points.Checkpoint(ctx, req)
}

// RevertToCheckpoint implements SessionService.
func (s *Service) RevertToCheckpoint(
	ctx context.Context, req *compactordv1.RevertToCheckpointRequest,
) (*compactordv1.RevertToCheckpointResponse, error) {
	return s.points.Revert(ctx, req)
}

// ClearSession implements SessionService.
func (s *Service) ClearSession(
	ctx context.Context, req *compactordv1.ClearSessionRequest,
) (*compactordv1.ClearSessionResponse, error) {
	return s.points.Clear(ctx, req)
}
