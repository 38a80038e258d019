package service

import (
	"context"
	"strconv"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
)

// EndChild implements SessionService.
func (s *Service) EndChild(
	ctx context.Context, req *compactordv1.EndChildRequest,
) (*compactordv1.EndChildResponse, error) {
	ended, err := s.children.End(ctx, req)
	if err != nil {
		return nil, err
	}
	return &compactordv1.EndChildResponse{
		Session: sessionOf(ended.Child), Index: ended.Result.GetIndex(), Point: ended.Result.GetSequence(),
		AnswersCall: ended.Result.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_ANSWER, Report: ended.Report,
	}, nil
}

// maxDeletedChildren is the most sessions below a session that one call deletes with it.
const maxDeletedChildren = 10_000

// deleteWithChildren deletes a session after those below it, and returns how many of those there were.
func (s *Service) deleteWithChildren(ctx context.Context, id string) (deleted uint32, err error) {
	for {
		more, err := s.deleteChildren(ctx, id)
		deleted += more
		if err != nil {
			return deleted, err
		}
		err = s.deleteSession(ctx, id, s.refuseChildren(ctx))
		switch {
		case !apierror.Is(err, compactordv1.ErrorReason_ERROR_REASON_HAS_CHILDREN):
			return deleted, err
		case more == 0:
			// A child whose row is damaged is counted, and no walk finds it.
			return deleted, unreadChildren(id, deleted)
		}
		// A child has begun meanwhile.
	}
}

// unreadChildren refuses the deletion of a session of which children are left that cannot be read. It says how many of
// the sessions below it are deleted.
func unreadChildren(id string, deleted uint32) error {
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_HAS_CHILDREN,
		map[string]string{"session_id": id, "deleted_children": strconv.FormatUint(uint64(deleted), 10)},
		"the session stays: the data of a child is damaged, so that it is not found; %d other sessions below it are deleted", deleted)
}

// deleteChildren deletes the sessions below one, each after those below it, and returns how many.
func (s *Service) deleteChildren(ctx context.Context, id string) (deleted uint32, err error) {
	row, err := s.logs.Row(ctx, id)
	if err != nil {
		return 0, err
	}
	below, err := s.below(ctx, row)
	if err != nil {
		return 0, err
	}
	for i := len(below) - 1; i >= 0; i-- {
		// Another call may have deleted it.
		err := s.deleteSession(ctx, below[i].GetSessionId(), nil)
		if err != nil && !apierror.IsSessionNotFound(err) {
			return deleted, err
		}
		if err == nil {
			deleted++
		}
	}
	return deleted, nil
}

// below returns the rows of the sessions below one, each after its parent, without their policies.
func (s *Service) below(ctx context.Context, row *storagev1.Session) (rows []*storagev1.Session, err error) {
	for walk := s.children.Walk(row); ; {
		child, err := walk.Next(ctx)
		if err != nil || child == nil {
			return rows, err
		}
		if rows = append(rows, child); len(rows) > maxDeletedChildren {
			return nil, apierror.New(compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED,
				map[string]string{"limit": "max_deleted_children", "value": strconv.Itoa(maxDeletedChildren)},
				"children: more than %d sessions are below the session; delete some of them first", maxDeletedChildren)
		}
	}
}

// refuseChildren refuses the deletion of a session that has children.
func (s *Service) refuseChildren(ctx context.Context) func(row *storagev1.Session) error {
	return func(row *storagev1.Session) error {
		count, err := s.logs.Children(ctx, row)
		if err != nil || count == 0 {
			return err
		}
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_HAS_CHILDREN,
			map[string]string{"session_id": row.GetSessionId(), "children": strconv.Itoa(count)},
			"the session has %d children", count)
	}
}
