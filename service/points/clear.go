package points

import (
	"context"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
)

// Clear goes back to the end of the leading messages.
func (p *Points) Clear(
	ctx context.Context, req *compactordv1.ClearSessionRequest,
) (*compactordv1.ClearSessionResponse, error) {
	answer := &compactordv1.ClearSessionResponse{}
	err := p.Logs.Update(ctx, req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		if known, err := p.Logs.Recorded(ctx, row, req, answer); known || err != nil {
			return nil, err
		}
		w, err := p.clear(ctx, row, answer)
		if err != nil || w == nil {
			return nil, err
		}
		return w, w.Remember(req, answer)
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// clear writes the Revert to the end of the leading messages. It returns nil where no other message is active: no record
// hides or edits the leading messages.
func (p *Points) clear(
	ctx context.Context, row *storagev1.Session, answer *compactordv1.ClearSessionResponse,
) (*sessionlog.Write, error) {
	point, err := p.endOfLead(ctx, row)
	if err != nil {
		return nil, err
	}
	r, err := p.reversalTo(ctx, row, &compactordv1.Revert{Point: point, KeepsContext: true})
	if err != nil {
		return nil, err
	}
	if len(r.aside) == 0 {
		answer.Record, answer.MessagesPutAside, answer.Point = nil, 0, session.Point(row.GetHead())
		answer.Report = sessionlog.Report(row)
		return nil, nil
	}
	w, reverted := p.Logs.Begin(row), &compactordv1.RevertToCheckpointResponse{}
	if err := p.revert(ctx, w, r, nil, reverted); err != nil {
		return nil, err
	}
	answer.Record, answer.Point = reverted.GetRecord(), reverted.GetPoint()
	answer.Report, answer.MessagesPutAside = reverted.GetReport(), reverted.GetMessagesPutAside()
	return w, nil
}

// endOfLead returns the point of the last leading message; 0, the point of the empty session, where there is
// none.
func (p *Points) endOfLead(ctx context.Context, row *storagev1.Session) (uint32, error) {
	end := row.GetHead().GetLeadEnd()
	if end == 0 {
		return 0, nil
	}
	var point uint32
	last := []*compactordv1.IndexRange{{Start: end - 1, End: end}}
	err := p.Logs.EachMessage(ctx, row, last, func(l *compactordv1.LoggedMessage) bool {
		point = l.GetSequence()
		return false
	})
	return point, err
}
