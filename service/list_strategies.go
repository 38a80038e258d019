package service

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// ListStrategies implements CompactionService.
func (s *Service) ListStrategies(
	_ context.Context, req *compactordv1.ListStrategiesRequest,
) (*compactordv1.ListStrategiesResponse, error) {
	return strategies.Catalogue(s.strategies, strategies.Limits{
		Window: req.GetContextWindow(), MaxOutput: req.GetMaxOutputTokens(), MaxInput: req.GetMaxInputTokens(),
	})
}
