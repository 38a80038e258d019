package points

import (
	"context"
	"strconv"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
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

func decimal(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
