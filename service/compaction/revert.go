package compaction

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/operations"
	"github.com/compactord/compactord/service/sessionlog"
)

// BeginRevert writes a revert with a summary into its session's row, where other daemons use the store too: they leave the
// session alone meanwhile, and can cancel the revert. Its commit removes it from the row. The caller calls end afterwards,
// however the revert ended.
func (c *Compactor) BeginRevert(
	ctx context.Context, op *operations.Operation, req *compactordv1.RevertToCheckpointRequest, uid string,
) (end func(), err error) {
	if !c.logs.Shared() {
		return func() {}, nil
	}
	n := &inRow{
		Compactor: c, sessionID: req.GetSessionId(), uid: uid, id: op.ID, req: req,
		answer: &compactordv1.RevertToCheckpointResponse{}, cancel: op.Cancel,
	}
	err = c.logs.Update(ctx, n.sessionID, func(row *storagev1.Session) (*sessionlog.Write, error) {
		if row.GetUid() != uid {
			return nil, apierror.SessionNotFound(n.sessionID)
		}
		if other, err := c.runsElsewhere(ctx, row, ""); err != nil {
			return nil, err
		} else if other != nil {
			return nil, operations.RunsAlready(other.GetOperationId())
		}
		next := c.logs.BeginInternal(row)
		next.Row().Running = append(next.Row().GetRunning(), &storagev1.RunningCompaction{
			OperationId: op.ID, StartedAt: timestamppb.New(c.Hooks.Now()), Opening: c.logs.Opening(), Revert: true,
		})
		return next, nil
	})
	if err != nil {
		n.takeBack(ctx)
		return nil, err
	}
	stop := n.heed(ctx)
	return func() {
		stop()
		n.takeBack(ctx)
	}, nil
}
