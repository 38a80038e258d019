package service

import (
	"cmp"
	"context"
	"errors"

	"github.com/google/uuid"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
)

// ForkSession implements SessionService. The log up to the point never changes, so it is read without regard to what is
// appended to it meanwhile.
func (s *Service) ForkSession(
	ctx context.Context, req *compactordv1.ForkSessionRequest,
) (*compactordv1.ForkSessionResponse, error) {
	answer := &compactordv1.ForkSessionResponse{}
	if req.GetNewSessionId() != "" {
		// Before the log is copied for nothing, and where the session that was forked may be gone by now.
		err := s.createdBefore(ctx, req.GetNewSessionId(), req, answer)
		if !apierror.IsSessionNotFound(err) {
			return answer, err
		}
	}
	source, err := s.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	point, err := s.forkPoint(ctx, source, req)
	if err != nil {
		return nil, err
	}
	p, err := s.fork(ctx, source, point, req)
	if err != nil {
		return nil, err
	}
	answer.Session, answer.Report = sessionOf(p.Row()), p.Report()
	if err := p.Remember(req, answer); err != nil {
		return nil, err
	}
	err = s.logs.Create(ctx, p)
	if errors.Is(err, storage.ErrExists) {
		return answer, s.createdBefore(ctx, p.Row().GetSessionId(), req, answer)
	}
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// forkPoint is the point that a request forks at.
func (s *Service) forkPoint(
	ctx context.Context, source *storagev1.Session, req *compactordv1.ForkSessionRequest,
) (uint32, error) {
	switch at := req.GetAt().(type) {
	case *compactordv1.ForkSessionRequest_Point:
		return at.Point, nil
	case *compactordv1.ForkSessionRequest_CheckpointId:
		c, err := s.points.CheckpointInForce(ctx, source, at.CheckpointId)
		return c.GetPoint(), err
	default:
		return session.Point(source.GetHead()), nil
	}
}

// fork makes the new session: the row as of the point, the log up to there, and the new policy behind it.
func (s *Service) fork(
	ctx context.Context, source *storagev1.Session, point uint32, req *compactordv1.ForkSessionRequest,
) (*sessionlog.Write, error) {
	if last := session.Point(source.GetHead()); point > last {
		return nil, apierror.PointOutOfRange("point", point, last)
	}
	p, err := s.logs.Copy(ctx, source, point)
	if err != nil {
		return nil, err
	}
	rename(p.Row(), p.Before(), req)
	if req.GetPolicy() != nil {
		if err := s.changePolicy(ctx, p, req.GetPolicy()); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// rename makes the row of a copy that of the new session.
func rename(row, then *storagev1.Session, req *compactordv1.ForkSessionRequest) {
	row.SessionId, row.Uid = cmp.Or(req.GetNewSessionId(), sessionlog.NewID()), uuid.NewString()
	if len(req.GetLabels()) > 0 {
		row.Labels = req.GetLabels()
	}
	if req.GetTitle() != "" {
		row.Title = req.GetTitle()
	}
	row.ForkedFrom = &compactordv1.ForkOrigin{
		SessionId: then.GetSessionId(), Uid: then.GetUid(), Point: session.Point(then.GetHead()),
	}
}
