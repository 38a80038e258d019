package compaction

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/service/tenant"
	"github.com/compactord/compactord/storage"
)

// inRow is an operation of this daemon that its session's row names while it runs.
type inRow struct {
	*Compactor

	sessionID, uid, id string
	// req is the request that it carries out, and answer an empty answer to it.
	req    sessionlog.Identified
	answer proto.Message
	cancel context.CancelCauseFunc
}

func (j *job) inRow() *inRow {
	return &inRow{
		Compactor: j.Compactor, sessionID: j.req.GetSessionId(), uid: j.uid, id: j.id, req: j.req,
		answer: &compactordv1.CompactResponse{}, cancel: j.cancel,
	}
}

// takeBack removes the operation from the session's row, if that names it: a failing disk may have taken a write that has
// failed. Where it cannot, the next compaction of the session, the next opening of the store or this daemon records what
// became of it.
func (n *inRow) takeBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptTimeout)
	defer cancel()
	err := n.logs.Update(ctx, n.sessionID, func(row *storagev1.Session) (*sessionlog.Write, error) {
		if row.GetUid() != n.uid || !sessionlog.Names(row, n.id) {
			return nil, nil
		}
		next := n.logs.BeginInternal(row)
		next.RemoveRunning(n.id)
		return next, nil
	})
	if err != nil && !apierror.IsSessionNotFound(err) {
		n.noteLeft(ctx)
		n.Logger.WarnContext(ctx, "beginning of an operation not taken back", "operation_id", n.id, "error", err)
	}
}

// noteLeft notes that the session's row may go on to name the operation.
func (n *inRow) noteLeft(ctx context.Context) {
	if n.logs.Shared() {
		n.left.add(storage.Ref{Tenant: tenant.Of(ctx), SessionID: n.sessionID, UID: n.uid})
	}
}

// heed cancels the operation where another daemon asks for that, or has taken this one for dead. Its caller calls end.
func (n *inRow) heed(ctx context.Context) (end func()) {
	if !n.logs.Shared() {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(heedEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if why := n.askedToEnd(ctx); why != nil {
				n.cancel(why)
				return
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// askedToEnd returns why the operation has to end; nil where it may go on. What else is wrong, the commit says.
func (n *inRow) askedToEnd(ctx context.Context) error {
	row, err := n.logs.Row(ctx, n.sessionID)
	readable := err == nil
	if apierror.IsSessionNotFound(err) || readable && row.GetUid() != n.uid {
		return apierror.ErrDeleted
	}
	if !readable {
		return nil
	}
	for _, r := range row.GetRunning() {
		if r.GetOperationId() != n.id {
			continue
		}
		switch r.GetCancel() {
		case storagev1.CancelCause_CANCEL_CAUSE_CALL:
			return apierror.ErrCancelled
		case storagev1.CancelCause_CANCEL_CAUSE_PREEMPTED:
			return apierror.ErrPreempted
		default:
			return nil
		}
	}
	known, err := n.logs.Recorded(ctx, row, n.req, n.answer)
	if unknown := err == nil && !known; unknown {
		return apierror.ErrTakenForDead
	}
	// Another daemon has done what the same request asks for. The commit answers with that.
	return nil
}
