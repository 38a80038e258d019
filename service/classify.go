package service

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// ClassifyError implements CompactionService.
func (s *Service) ClassifyError(
	ctx context.Context, req *compactordv1.ClassifyErrorRequest,
) (*compactordv1.ClassifyErrorResponse, error) {
	window := req.GetContextWindow()
	if req.GetSessionId() != "" {
		row, err := s.logs.Row(ctx, req.GetSessionId())
		if err != nil {
			return nil, err
		}
		if window == 0 {
			window = row.GetResolvedPolicy().GetContextWindow()
		}
	}
	return s.overflow.Classify(req, window), nil
}
