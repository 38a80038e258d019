package sessionlog

import (
	"context"
	"strconv"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/tenant"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
)

// CreateChild writes a new session whose row names a parent. It holds the parent's lock during the last commit, so that
// children which are created at the same time are all counted, and none is created while the parent is deleted. It returns
// storage.ErrExists where the child's id is in use, LIMIT_EXCEEDED where the parent has session.MaxChildren, and
// SESSION_NOT_FOUND where the parent was deleted.
func (l *Logs) CreateChild(ctx context.Context, w *Write) error {
	if err := w.planDue(ctx); err != nil {
		return err
	}
	return l.create(ctx, w, func(ctx context.Context) (unlock func(), err error) {
		if unlock, err = l.locks.lock(ctx, NameOf(ctx, w.Row().GetParent().GetSessionId())); err != nil {
			return nil, err
		}
		if err := l.admitChild(ctx, w.Row().GetParent()); err != nil {
			unlock()
			return nil, err
		}
		return unlock, nil
	})
}

// admitChild returns why a parent, whose lock is held, gets no further child; nil where it does.
func (l *Logs) admitChild(ctx context.Context, named *compactordv1.ParentSession) error {
	parent, err := l.Row(ctx, named.GetSessionId())
	if err != nil {
		return err
	}
	if parent.GetUid() != named.GetUid() {
		return apierror.SessionNotFound(named.GetSessionId())
	}
	count, err := l.Children(ctx, parent)
	if err != nil {
		return err
	}
	if count >= session.MaxChildren {
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED,
			map[string]string{"limit": "max_children", "value": strconv.Itoa(session.MaxChildren)},
			"child: the session has %d children; it can have %d", count, session.MaxChildren)
	}
	return nil
}

// Children returns how many children a session has, ended ones included.
func (l *Logs) Children(ctx context.Context, row *storagev1.Session) (int, error) {
	return l.store.Children(ctx, tenant.Of(ctx), row.GetUid())
}

// refuseEnded returns CHILD_ENDED where a write would add to the log of a child that has ended. How a compaction ended
// that was running then is still recorded, since it changes no view.
func (w *Write) refuseEnded() error {
	adds := len(w.commit.Messages) > 0
	for _, r := range w.commit.Records {
		adds = adds || r.GetRecord().GetAttempt() == nil
	}
	if w.before.GetEnded() == nil || !adds {
		return nil
	}
	id := w.before.GetSessionId()
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_CHILD_ENDED, map[string]string{"session_id": id},
		"the child %q has ended: its log takes no more messages or records", id)
}

// checkEnd returns what contradicts the log in how the row says that a child has ended; empty where nothing does.
func checkEnd(ctx context.Context, s storage.Store, row *storagev1.Session) (string, error) {
	if row.GetEnded() == nil {
		return "", nil
	}
	if row.GetParent() == nil {
		return "it has ended, and has no parent", nil
	}
	at := row.GetEnded().GetSequence()
	records, err := s.Records(ctx, storage.RefOf(row), at, at+1, 1)
	if err != nil {
		return "", err
	}
	if len(records) == 0 || records[0].GetRecord().GetChildEnd() == nil {
		return "it has ended, and record " + strconv.FormatUint(uint64(at), 10) + " is no end of a child", nil
	}
	return "", nil
}
