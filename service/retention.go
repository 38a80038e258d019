package service

import (
	"context"
	"errors"
	"time"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/retention"
	"github.com/compactord/compactord/service/sessionlog"
)

// retained are the sessions that retention looks at.
type retained struct {
	*sessionlog.Logs
	service *Service
}

// IsChild implements retention.Sessions.
func (k retained) IsChild(ctx context.Context, row *storagev1.Session) (bool, error) {
	if row.GetParent() == nil {
		return false, nil
	}
	parent, err := k.Row(ctx, row.GetParent().GetSessionId())
	if apierror.IsSessionNotFound(err) {
		return false, nil
	}
	if err != nil {
		// It cannot be said of a parent that is damaged. What is below it stays.
		return true, context.Cause(ctx)
	}
	return parent.GetUid() == row.GetParent().GetUid(), nil
}

// Expire implements retention.Sessions.
func (k retained) Expire(ctx context.Context, row *storagev1.Session, changedBefore time.Time) (deleted uint32, err error) {
	below, err := k.service.below(ctx, row)
	if err != nil {
		return 0, err
	}
	for _, each := range append(below, row) {
		if k.inUse(ctx, each) || !changedBefore.IsZero() && each.GetChangedAt().AsTime().After(changedBefore) {
			return 0, retention.ErrKept
		}
	}
	for i := len(below) - 1; i >= 0; i-- {
		err := k.service.deleteSession(ctx, below[i].GetSessionId(), k.unchanged(ctx, below[i], k.service.refuseChildren(ctx)))
		if err != nil && !apierror.IsSessionNotFound(err) {
			return deleted, err
		}
		if err == nil {
			deleted++
		}
	}
	err = k.service.deleteSession(ctx, row.GetSessionId(), k.unchanged(ctx, row, k.service.refuseChildren(ctx)))
	if apierror.Is(err, compactordv1.ErrorReason_ERROR_REASON_HAS_CHILDREN) {
		// A child has begun meanwhile, or the data of one is damaged.
		err = errors.Join(retention.ErrKept, err)
	}
	return deleted, err
}

// inUse reports whether a session is compacted or watched. Compactions of other daemons are in its row.
func (k retained) inUse(ctx context.Context, row *storagev1.Session) bool {
	return len(row.GetRunning()) > 0 || k.service.operations.Find(row.GetUid(), "") != nil ||
		k.service.watchers.Watched(sessionlog.NameOf(ctx, row.GetSessionId()), row.GetUid())
}

// unchanged refuses the deletion of a session that was written since its row was read, or that is in use by now.
func (k retained) unchanged(
	ctx context.Context, seen *storagev1.Session, also func(*storagev1.Session) error,
) func(*storagev1.Session) error {
	return func(row *storagev1.Session) error {
		if row.GetUid() != seen.GetUid() || row.GetRevision() != seen.GetRevision() || k.inUse(ctx, row) {
			return retention.ErrKept
		}
		return also(row)
	}
}
