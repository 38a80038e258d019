package service

import (
	"context"
	"errors"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/calls"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
)

// CreateSession implements SessionService.
func (s *Service) CreateSession(
	ctx context.Context, req *compactordv1.CreateSessionRequest,
) (*compactordv1.CreateSessionResponse, error) {
	id := req.GetSessionId()
	if id == "" {
		id = sessionlog.NewID()
	}
	given, err := s.policies.OfSession(ctx, req.GetPolicy())
	if err != nil {
		return nil, err
	}
	resolved, err := s.policies.ResolveGiven(ctx, given)
	if err != nil {
		return nil, err
	}
	w, err := s.logs.BeginSession(ctx, id, req.GetEstimator(), given, resolved)
	if err != nil {
		return nil, err
	}
	w.Row().Labels, w.Row().Title = req.GetLabels(), req.GetTitle()
	answer := &compactordv1.CreateSessionResponse{
		Session: sessionOf(w.Row()), Warnings: s.policies.Warnings(given, resolved),
	}
	if err := w.Remember(req, answer); err != nil {
		return nil, err
	}
	err = s.logs.Create(ctx, w)
	if errors.Is(err, storage.ErrExists) {
		return answer, s.createdBefore(ctx, id, req, answer)
	}
	if err != nil {
		return nil, err
	}
	calls.SetEffect(ctx, calls.Effect{Made: id})
	return answer, nil
}

// createdBefore handles a request for a new session whose id is in use. It fills answer with that session, if an
// earlier copy of the request created it; else it returns an error.
func (s *Service) createdBefore(ctx context.Context, id string, req sessionlog.Identified, answer proto.Message) error {
	row, err := s.logs.Row(ctx, id)
	if err != nil {
		return err
	}
	if known, err := s.logs.Recorded(ctx, row, req, answer); known || err != nil {
		return err
	}
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_SESSION_EXISTS,
		map[string]string{"session_id": id}, "session %q exists already", id)
}

// GetSession implements SessionService.
func (s *Service) GetSession(
	ctx context.Context, req *compactordv1.GetSessionRequest,
) (*compactordv1.GetSessionResponse, error) {
	row, err := s.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	children, err := s.logs.Children(ctx, row)
	if err != nil {
		return nil, err
	}
	answer := &compactordv1.GetSessionResponse{Session: sessionOf(row), Report: sessionlog.Report(row)}
	answer.Session.Children = uint32(children)
	return answer, nil
}

// ListSessions implements SessionService.
func (s *Service) ListSessions(
	ctx context.Context, req *compactordv1.ListSessionsRequest,
) (*compactordv1.ListSessionsResponse, error) {
	order := storage.ByCreation
	if req.GetOrder() == compactordv1.SessionOrder_SESSION_ORDER_CHANGED {
		order = storage.ByChange
	}
	query := storage.SessionQuery{
		Labels: req.GetLabels(), Order: order,
		Cursor: req.GetPageToken(), Limit: int(pageSize(req.GetPageSize())),
	}
	if req.GetParentSessionId() != "" {
		parent, err := s.logs.Row(ctx, req.GetParentSessionId())
		if err != nil {
			return nil, err
		}
		query.Parent = parent.GetUid()
	}
	read := s.logs.Rows
	if req.GetForkedFromSessionId() != "" {
		origin, err := s.logs.Row(ctx, req.GetForkedFromSessionId())
		if err != nil {
			return nil, err
		}
		read = forks{s.logs, origin}.rows
	}
	return s.pageOfSessions(ctx, query, read)
}

// rowsOf returns a page of rows, and the cursor of the next one.
type rowsOf func(ctx context.Context, q storage.SessionQuery) (rows []*storagev1.Session, next string, err error)

// pageOfSessions returns the sessions of the rows that read returns, as many as fit into an answer.
func (s *Service) pageOfSessions(
	ctx context.Context, query storage.SessionQuery, read rowsOf,
) (*compactordv1.ListSessionsResponse, error) {
	for {
		rows, next, err := read(ctx, query)
		if errors.Is(err, storage.ErrNotFound) {
			return nil, apierror.InvalidToken("page_token")
		}
		if err != nil {
			return nil, err
		}
		listed, fit, err := s.listed(ctx, rows)
		if err != nil {
			return nil, err
		}
		// Labels and policies can be large. The store's cursor fits whole pages only, so ask again for a page with as many
		// sessions as fit.
		if fit == len(rows) {
			return &compactordv1.ListSessionsResponse{Sessions: listed, NextPageToken: next}, nil
		}
		query.Limit = fit
	}
}

// listed returns the sessions of as many of the first rows as fit into an answer, at least one, and the number of these
// rows. It leaves out sessions that were deleted meanwhile.
func (s *Service) listed(ctx context.Context, rows []*storagev1.Session) (all []*compactordv1.Session, fit int, err error) {
	size := 0
	for i, row := range rows {
		err := s.logs.AddPolicy(ctx, row)
		if errors.Is(err, storage.ErrNotFound) {
			continue
		}
		if errors.Is(err, storage.ErrCorrupt) {
			s.logs.LeaveOut(ctx, row.GetSessionId(), err)
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		each := sessionOf(row)
		bytes := proto.Size(each)
		if bytes > DefaultMaxAnswerBytes {
			// Stored by an earlier version, whose policies had no bound.
			each.Policy, each.ResolvedPolicy, each.PoliciesLeftOut = nil, nil, true
			bytes = proto.Size(each)
		}
		if size += bytes; i > 0 && size > DefaultMaxAnswerBytes {
			return all, i, nil
		}
		all = append(all, each)
	}
	return all, len(rows), nil
}

// DeleteSession implements SessionService.
func (s *Service) DeleteSession(
	ctx context.Context, req *compactordv1.DeleteSessionRequest,
) (*compactordv1.DeleteSessionResponse, error) {
	answer := &compactordv1.DeleteSessionResponse{}
	switch req.GetChildren() {
	case compactordv1.ChildrenOnDelete_CHILDREN_ON_DELETE_REFUSE:
		return answer, s.deleteSession(ctx, req.GetSessionId(), s.refuseChildren(ctx))
	case compactordv1.ChildrenOnDelete_CHILDREN_ON_DELETE_DELETE:
		var err error
		answer.DeletedChildren, err = s.deleteWithChildren(ctx, req.GetSessionId())
		calls.SetEffect(ctx, calls.Effect{Deleted: answer.GetDeletedChildren()})
		return answer, err
	default:
		return answer, s.deleteSession(ctx, req.GetSessionId(), nil)
	}
}

// deleteSession deletes a session, if allow does not refuse that, and ends what runs for it.
func (s *Service) deleteSession(ctx context.Context, id string, allow func(*storagev1.Session) error) error {
	uid, err := s.logs.Delete(ctx, id, allow)
	if err != nil && !s.isGone(ctx, id, uid) {
		return err
	}
	// An operation of the session can write nothing any more, and clients could no longer find it by the session's id.
	if op := s.operations.Find(uid, ""); op != nil {
		op.Cancel(apierror.ErrDeleted)
		// The session is deleted even where the client does not wait for this.
		_ = op.Wait(ctx)
	}
	return err
}

// isGone reports whether an incarnation of a session can no longer be read, after a deletion that a failing disk answered
// with an error.
func (s *Service) isGone(ctx context.Context, id, uid string) bool {
	if uid == "" {
		return false
	}
	row, err := s.logs.Row(ctx, id)
	return apierror.IsSessionNotFound(err) || err == nil && row.GetUid() != uid
}

func sessionOf(row *storagev1.Session) *compactordv1.Session {
	h := row.GetHead()
	answer := &compactordv1.Session{
		SessionId: row.GetSessionId(), Uid: row.GetUid(), CreatedAt: row.GetCreatedAt(), ChangedAt: row.GetChangedAt(),
		Labels: row.GetLabels(), Title: row.GetTitle(), Estimator: row.GetEstimator(),
		Policy: row.GetPolicy(), ResolvedPolicy: row.GetResolvedPolicy(),
		NextIndex: h.GetNextIndex(), Point: session.Point(h), ActiveMessages: h.GetActiveMessages(),
		CompactionId: h.GetCompaction().GetId(), ForkedFrom: row.GetForkedFrom(),
		LastCheckpoint: h.GetLastCheckpoint(), PinnedMessages: uint32(len(h.GetPins())),
		Parent: row.GetParent(), Ended: row.GetEnded(),
	}
	if c := h.GetCompaction(); c != nil {
		answer.FirstKeptIndex = &c.FirstKeptIndex
	}
	return answer
}
