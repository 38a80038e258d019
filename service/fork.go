package service

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
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
	source, err := s.row(ctx, req.GetSessionId())
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
	answer.Session, answer.Report = sessionOf(p.commit.Session), report(p)
	if err := p.remember(req, answer); err != nil {
		return nil, err
	}
	err = s.store.CreateSession(ctx, &p.commit)
	if errors.Is(err, storage.ErrExists) {
		return answer, s.createdBefore(ctx, p.commit.Session.GetSessionId(), req, answer)
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
		c, err := s.checkpointInForce(ctx, source, at.CheckpointId)
		return c.GetPoint(), err
	default:
		return session.Point(source.GetHead()), nil
	}
}

// fork makes the new session: the row as of the point, the log up to there, and the new policy behind it.
func (s *Service) fork(
	ctx context.Context, source *storagev1.Session, point uint32, req *compactordv1.ForkSessionRequest,
) (*pending, error) {
	then, err := s.rowAt(ctx, source, point)
	if err != nil {
		return nil, err
	}
	p := &pending{before: then, commit: storage.Commit{Session: forked(then, req)}}
	p.commit.Session.CreatedAt = s.now()
	p.commit.Session.ChangedAt = p.commit.Session.GetCreatedAt()
	if p.commit.Messages, err = s.messagesBefore(ctx, source, then.GetHead().GetNextIndex()); err != nil {
		return nil, err
	}
	if p.commit.Records, err = s.recordsUpTo(ctx, source, point); err != nil {
		return nil, err
	}
	if req.GetPolicy() != nil {
		if err := s.changePolicy(ctx, p, req.GetPolicy()); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// forked is the row of the new session, but for its times.
func forked(then *storagev1.Session, req *compactordv1.ForkSessionRequest) *storagev1.Session {
	row := proto.CloneOf(then)
	row.SessionId, row.Uid, row.Revision = req.GetNewSessionId(), uuid.NewString(), 1
	row.Running = nil
	if row.GetSessionId() == "" {
		row.SessionId = newID()
	}
	if len(req.GetLabels()) > 0 {
		row.Labels = req.GetLabels()
	}
	if req.GetTitle() != "" {
		row.Title = req.GetTitle()
	}
	row.ForkedFrom = &compactordv1.ForkOrigin{
		SessionId: then.GetSessionId(), Uid: then.GetUid(), Point: session.Point(then.GetHead()),
	}
	return row
}

// rowAt is a session's row with the head and the policy of a point.
func (s *Service) rowAt(ctx context.Context, row *storagev1.Session, point uint32) (*storagev1.Session, error) {
	head, err := s.headAt(ctx, row, point, "point")
	if err != nil {
		return nil, err
	}
	change, err := storage.PolicyChangeOf(ctx, s.store, row, head)
	if err != nil {
		return nil, err
	}
	then := proto.CloneOf(row)
	then.Head, then.Policy, then.ResolvedPolicy = head, change.GetGiven(), change.GetResolved()
	return then, nil
}
