package service

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// PlanCompaction implements CompactionService.
func (s *Service) PlanCompaction(
	ctx context.Context, req *compactordv1.PlanCompactionRequest,
) (*compactordv1.PlanCompactionResponse, error) {
	return s.compactor.Plan(ctx, req)
}

// CommitCompaction implements CompactionService.
func (s *Service) CommitCompaction(
	ctx context.Context, req *compactordv1.CommitCompactionRequest,
) (*compactordv1.CommitCompactionResponse, error) {
	return s.compactor.Commit(ctx, req)
}

// Prune implements CompactionService.
func (s *Service) Prune(
	ctx context.Context, req *compactordv1.PruneRequest,
) (*compactordv1.PruneResponse, error) {
	if req.GetHistory() != nil {
		return s.pruneInline(ctx, req)
	}
	return s.compactor.Prune(ctx, req)
}
