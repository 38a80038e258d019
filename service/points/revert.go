package points

import (
	"context"
	"strings"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
)

// Revert goes back to a point of the log.
func (p *Points) Revert(
	ctx context.Context, req *compactordv1.RevertToCheckpointRequest,
) (*compactordv1.RevertToCheckpointResponse, error) {
	if req.GetSummarize() && !req.GetDryRun() {
		return p.revertWithSummary(ctx, req)
	}
	future, err := messageFromFuture(req)
	if err != nil {
		return nil, err
	}
	answer := &compactordv1.RevertToCheckpointResponse{}
	err = p.Logs.Update(ctx, req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		if known, err := p.Logs.Recorded(ctx, row, req, answer); known || err != nil {
			return nil, err
		}
		r, err := p.reversal(ctx, row, req)
		if err != nil {
			return nil, err
		}
		if future == nil && r.toNewest(row) {
			answerUnchanged(row, answer)
			return nil, nil
		}
		w := p.Logs.Begin(row)
		err = p.revert(ctx, w, r, future, answer)
		if err != nil || req.GetDryRun() {
			return nil, err
		}
		return w, w.Remember(req, answer)
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// messageFromFuture returns the message that the revert appends for the model; nil where there is none.
func messageFromFuture(req *compactordv1.RevertToCheckpointRequest) (*compactordv1.Message, error) {
	if req.GetMessageFromFuture() == "" {
		return nil, nil
	}
	if wording.Blank(req.GetMessageFromFuture()) {
		return nil, apierror.InvalidField("message_from_future", "is blank")
	}
	return session.Future(strings.TrimSpace(req.GetMessageFromFuture())), nil
}

// reversal is a Revert before it is written.
type reversal struct {
	revert *compactordv1.Revert
	// at is the head at its point.
	at *storagev1.Head
	// aside are the indexes of the messages that it puts aside.
	aside []*compactordv1.IndexRange
	// firstRequest is the index of the first of them that starts a turn; nil where none does.
	firstRequest *uint32
}

// toNewest says whether the revert goes to the newest point, and so changes nothing.
func (r *reversal) toNewest(row *storagev1.Session) bool {
	return r.revert.GetPoint() == session.Point(row.GetHead())
}

// answerUnchanged fills the response of a revert that writes nothing. A record would be what the next undo undoes,
// instead of an earlier change.
func answerUnchanged(row *storagev1.Session, answer *compactordv1.RevertToCheckpointResponse) {
	answer.Record, answer.MessagesPutAside, answer.FirstRequestPutAside = nil, 0, nil
	answer.Point, answer.Report = session.Point(row.GetHead()), sessionlog.Report(row)
}

// reversal returns the reversal that a request asks for.
func (p *Points) reversal(
	ctx context.Context, row *storagev1.Session, req *compactordv1.RevertToCheckpointRequest,
) (*reversal, error) {
	revert, err := p.destination(ctx, row, req)
	if err != nil {
		return nil, err
	}
	return p.reversalTo(ctx, row, revert)
}

func (p *Points) reversalTo(
	ctx context.Context, row *storagev1.Session, revert *compactordv1.Revert,
) (*reversal, error) {
	at, err := p.Logs.RequestedHead(ctx, row, revert.GetPoint(), "point")
	if err != nil {
		return nil, err
	}
	r := &reversal{revert: revert, at: at, aside: session.PutAside(row.GetHead(), at)}
	revert.MessagesPutAside = session.CountIndexes(r.aside)
	err = p.Logs.EachMessage(ctx, row, r.aside, func(l *compactordv1.LoggedMessage) bool {
		if session.StartsTurn(l.GetMessage()) {
			r.firstRequest = &l.Index
		}
		return r.firstRequest == nil
	})
	return r, err
}

// revert adds the Revert to the write, and after it the message to the model, if there is one.
func (p *Points) revert(
	ctx context.Context, w *sessionlog.Write, r *reversal, future *compactordv1.Message,
	answer *compactordv1.RevertToCheckpointResponse,
) error {
	if future != nil {
		next := w.Head().GetNextIndex()
		r.revert.FutureIndex = &next
	}
	record, err := w.Record(ctx, &compactordv1.Record{Kind: &compactordv1.Record_Revert{Revert: r.revert}}, r.at)
	if err != nil {
		return err
	}
	if future != nil {
		if _, err := w.AppendOwn(ctx, future); err != nil {
			return err
		}
	}
	if answer.Report, err = w.Report(ctx); err != nil {
		return err
	}
	answer.Record, answer.Point = record, session.Point(w.Head())
	answer.MessagesPutAside, answer.FirstRequestPutAside = r.revert.GetMessagesPutAside(), r.firstRequest
	return nil
}
