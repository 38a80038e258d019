package points

import (
	"context"
	"fmt"
	"strconv"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/service/views"
	"github.com/compactord/compactord/session"
)

// Checkpoint creates a checkpoint at the end of the log.
func (p *Points) Checkpoint(
	ctx context.Context, req *compactordv1.CreateCheckpointRequest,
) (*compactordv1.CreateCheckpointResponse, error) {
	answer := &compactordv1.CreateCheckpointResponse{}
	err := p.Logs.Update(ctx, req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		if known, err := p.Logs.Recorded(ctx, row, req, answer); known || err != nil {
			return nil, err
		}
		w := p.Logs.Begin(row)
		marker, err := p.announce(ctx, w, req)
		if err != nil {
			return nil, err
		}
		checkpoint := session.NextCheckpoint(w.Head(), req.GetTitle())
		checkpoint.MarkerIndex = marker
		r, err := w.Record(ctx, &compactordv1.Record{
			Kind: &compactordv1.Record_Checkpoint{Checkpoint: checkpoint},
		}, nil)
		if err != nil {
			return nil, err
		}
		if answer.Report, err = w.Report(ctx); err != nil {
			return nil, err
		}
		answer.Checkpoint, answer.Point = r.GetCheckpoint(), session.Point(w.Head())
		return w, w.Remember(req, answer)
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// announce adds the announcement of the next checkpoint to the write and returns its index; nil where the request does
// not want one.
func (p *Points) announce(
	ctx context.Context, w *sessionlog.Write, req *compactordv1.CreateCheckpointRequest,
) (*uint32, error) {
	if !req.GetAnnounce() {
		return nil, nil
	}
	if err := views.CallsAnswered(w.Head()); err != nil {
		return nil, err
	}
	marker, err := w.AppendOwn(ctx, session.Marker(w.Head().GetLastCheckpoint()+1))
	if err != nil {
		return nil, err
	}
	return &marker.Index, nil
}

// CheckpointInForce returns the checkpoint with an id, if a revert can go back to it.
func (p *Points) CheckpointInForce(
	ctx context.Context, row *storagev1.Session, id uint32,
) (*compactordv1.Checkpoint, error) {
	last := row.GetHead().GetLastCheckpoint()
	if id == 0 || id > last {
		return nil, apierror.New(compactordv1.ErrorReason_ERROR_REASON_CHECKPOINT_NOT_FOUND,
			map[string]string{"checkpoint_id": decimal(id), "last_checkpoint": decimal(last)},
			"checkpoint_id: there is no checkpoint %d; %s", id, lastCheckpoint(last))
	}
	r, err := p.Logs.CheckpointRecord(ctx, row, id)
	if err != nil {
		return nil, err
	}
	c := r.GetCheckpoint()
	if !session.InForce(row.GetHead(), r.GetSequence()) {
		return nil, apierror.New(compactordv1.ErrorReason_ERROR_REASON_CHECKPOINT_PUT_ASIDE,
			map[string]string{"checkpoint_id": decimal(id), "point": decimal(c.GetPoint())},
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

func decimal(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
