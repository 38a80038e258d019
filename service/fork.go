package service

import (
	"cmp"
	"context"
	"errors"

	"github.com/google/uuid"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/calls"
	"github.com/compactord/compactord/service/children"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
)

// ForkSession implements SessionService. The log up to the point never changes, so what is appended meanwhile does not
// matter.
func (s *Service) ForkSession(
	ctx context.Context, req *compactordv1.ForkSessionRequest,
) (*compactordv1.ForkSessionResponse, error) {
	answer := &compactordv1.ForkSessionResponse{}
	if req.GetNewSessionId() != "" {
		// Answer a repeated request before the log is copied, and even if the source was deleted meanwhile.
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
	ctx, permit, err := s.admittedFork(ctx, source, req.GetChild())
	if err != nil {
		return nil, err
	}
	defer permit.Leave()
	w, create, err := s.begin(ctx, source, point, req)
	if err != nil {
		return nil, err
	}
	if answer.Report, err = w.Report(ctx); err != nil {
		return nil, err
	}
	answer.Session = sessionOf(w.Row())
	answer.Warnings = s.policies.Warnings(w.Row().GetPolicy(), w.Row().GetResolvedPolicy())
	if err := w.Remember(req, answer); err != nil {
		return nil, err
	}
	err = create(ctx, w)
	if errors.Is(err, storage.ErrExists) {
		return answer, s.createdBefore(ctx, w.Row().GetSessionId(), req, answer)
	}
	if err != nil {
		return nil, err
	}
	calls.SetEffect(ctx, calls.Effect{Made: w.Row().GetSessionId()})
	return answer, nil
}

// forkPoint returns the point to fork at.
func (s *Service) forkPoint(
	ctx context.Context, source *storagev1.Session, req *compactordv1.ForkSessionRequest,
) (uint32, error) {
	switch at := req.GetAt().(type) {
	case *compactordv1.ForkSessionRequest_Point:
		return at.Point, nil
	case *compactordv1.ForkSessionRequest_CheckpointId:
		c, err := s.logs.CheckpointInForce(ctx, source, at.CheckpointId)
		return c.GetPoint(), err
	default:
		return session.Point(source.GetHead()), nil
	}
}

// begin returns the write of the new session, and what creates it: as a fork, or as a child.
func (s *Service) begin(
	ctx context.Context, source *storagev1.Session, point uint32, req *compactordv1.ForkSessionRequest,
) (w *sessionlog.Write, create func(context.Context, *sessionlog.Write) error, err error) {
	if last := session.Point(source.GetHead()); point > last {
		return nil, nil, apierror.PointOutOfRange("point", point, last)
	}
	id := cmp.Or(req.GetNewSessionId(), sessionlog.NewID())
	if req.GetChild() == nil {
		w, err = s.fork(ctx, source, point, id, req)
		return w, s.logs.Create, err
	}
	sees := req.GetChild().GetSees()
	parent, err := children.Parent(source, point, id, sees)
	if err != nil {
		return nil, nil, err
	}
	if sees == compactordv1.ChildSees_CHILD_SEES_EVERYTHING {
		w, err = s.fork(ctx, source, point, id, req)
	} else {
		w, err = s.beginChild(ctx, source, point, id, req)
	}
	if err != nil {
		return nil, nil, err
	}
	w.Row().Title, w.Row().Parent = req.GetTitle(), parent
	return w, s.logs.CreateChild, nil
}

// beginChild returns the write of a child that sees only what the request says.
func (s *Service) beginChild(
	ctx context.Context, source *storagev1.Session, point uint32, id string, req *compactordv1.ForkSessionRequest,
) (*sessionlog.Write, error) {
	then, err := s.logs.RowAt(ctx, source, point)
	if err != nil {
		return nil, err
	}
	w, err := s.children.Begin(ctx, then, id, req.GetPolicy(), req.GetChild())
	if err != nil {
		return nil, err
	}
	w.Row().Labels = then.GetLabels()
	if len(req.GetLabels()) > 0 {
		w.Row().Labels = req.GetLabels()
	}
	return w, nil
}

// fork returns the write of a copy: the row as it was at the point, the log up to there, and then the new policy.
func (s *Service) fork(
	ctx context.Context, source *storagev1.Session, point uint32, id string, req *compactordv1.ForkSessionRequest,
) (*sessionlog.Write, error) {
	w, err := s.logs.Copy(ctx, source, point)
	if err != nil {
		return nil, err
	}
	rename(w.Row(), w.Before(), id, req)
	if req.GetPolicy() != nil {
		if err := s.changePolicy(ctx, w, req.GetPolicy()); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// rename turns the row of a copy into that of the new session.
func rename(row, then *storagev1.Session, id string, req *compactordv1.ForkSessionRequest) {
	row.SessionId, row.Uid = id, uuid.NewString()
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
