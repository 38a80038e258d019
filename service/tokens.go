package service

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/tokens"
)

// CountTokens implements CompactionService.
func (s *Service) CountTokens(
	ctx context.Context, req *compactordv1.CountTokensRequest,
) (*compactordv1.CountTokensResponse, error) {
	ctx, permit, err := s.admittedCount(ctx, req)
	if err != nil {
		return nil, err
	}
	defer permit.Leave()
	switch what := req.GetWhat().(type) {
	case *compactordv1.CountTokensRequest_SessionId:
		row, err := s.logs.Row(ctx, what.SessionId)
		if err != nil {
			return nil, err
		}
		return tokens.OfSession(ctx, s.logs, row, req.GetEstimator())
	case *compactordv1.CountTokensRequest_Text:
		return tokens.OfText(ctx, req.GetEstimator(), what.Text)
	default:
		messages, err := s.intake.Counted(ctx, req.GetMessages())
		if err != nil {
			return nil, err
		}
		return tokens.OfMessages(ctx, req.GetEstimator(), messages)
	}
}
