package sessionlog

import (
	"context"
	"fmt"
	"strconv"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session"
)

// CheckpointInForce returns the checkpoint with an id, if its point is still part of the conversation.
func (l *Logs) CheckpointInForce(
	ctx context.Context, row *storagev1.Session, id uint32,
) (*compactordv1.Checkpoint, error) {
	last := row.GetHead().GetLastCheckpoint()
	if id == 0 || id > last {
		return nil, apierror.New(compactordv1.ErrorReason_ERROR_REASON_CHECKPOINT_NOT_FOUND,
			map[string]string{"checkpoint_id": checkpointFigure(id), "last_checkpoint": checkpointFigure(last)},
			"checkpoint_id: there is no checkpoint %d; %s", id, lastCheckpoint(last))
	}
	r, err := l.CheckpointRecord(ctx, row, id)
	if err != nil {
		return nil, err
	}
	c := r.GetCheckpoint()
	if !session.InForce(row.GetHead(), r.GetSequence()) {
		return nil, apierror.New(compactordv1.ErrorReason_ERROR_REASON_CHECKPOINT_PUT_ASIDE,
			map[string]string{"checkpoint_id": checkpointFigure(id), "point": checkpointFigure(c.GetPoint())},
			"checkpoint_id: a revert went back to before checkpoint %d; its point, %d, can still be named", id, c.GetPoint())
	}
	return c, nil
}

// lastCheckpoint says in words which checkpoint is the last.
func lastCheckpoint(id uint32) string {
	if id == 0 {
		return "the session has none"
	}
	return fmt.Sprintf("the last one is %d", id)
}

func checkpointFigure(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
