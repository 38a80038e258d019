package service

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/tokens"
)

// CountTokens implements CompactionService.
func (s *Service) CountTokens(
	ctx context.Context, req *compactordv1.CountTokensRequest,
) (*compactordv1.CountTokensResponse, error) {
	e := req.GetEstimator()
	if what, ok := req.GetWhat().(*compactordv1.CountTokensRequest_SessionId); ok {
		row, err := s.logs.Row(ctx, what.SessionId)
		if err != nil {
			return nil, err
		}
		return tokens.OfSession(ctx, s.logs, row, e)
	}
	switch e {
	case compactordv1.Estimator_ESTIMATOR_UNSPECIFIED:
		e = compactordv1.Estimator_ESTIMATOR_CHARS4
	case compactordv1.Estimator_ESTIMATOR_CALIBRATED:
		return nil, apierror.InvalidField("estimator", "CALIBRATED needs a session: what its reports have shown is in its log")
	default:
	}
	if what, ok := req.GetWhat().(*compactordv1.CountTokensRequest_Text); ok {
		return tokens.OfText(ctx, e, what.Text)
	}
	messages, err := s.intake.Counted(req.GetMessages())
	if err != nil {
		return nil, err
	}
	return tokens.OfMessages(ctx, e, messages)
}
