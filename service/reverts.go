package service

import (
	"context"
	"strings"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/strategies"
)

// RevertToCheckpoint implements SessionService.
func (s *Service) RevertToCheckpoint(
	ctx context.Context, req *compactordv1.RevertToCheckpointRequest,
) (*compactordv1.RevertToCheckpointResponse, error) {
	if req.GetSummarize() && !req.GetDryRun() {
		return s.revertWithSummary(ctx, req)
	}
	future, err := messageFromFuture(req)
	if err != nil {
		return nil, err
	}
	answer := &compactordv1.RevertToCheckpointResponse{}
	err = s.logs.Update(ctx, req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		if known, err := s.logs.Recorded(ctx, row, req, answer); known || err != nil {
			return nil, err
		}
		r, err := s.reversal(ctx, row, req)
		if err != nil {
			return nil, err
		}
		if future == nil && r.toNewest(row) {
			stay(row, answer)
			return nil, nil
		}
		p := s.logs.Begin(row)
		err = s.revert(ctx, p, r, future, answer)
		if err != nil || req.GetDryRun() {
			return nil, err
		}
		return p, p.Remember(req, answer)
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// messageFromFuture is the message that a revert sends back; nil where there is none.
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
	// firstRequest is the first of them that starts a turn; nil where none does.
	firstRequest *uint32
}

// toNewest says whether it goes to the newest point of the log, where all is as it is.
func (r *reversal) toNewest(row *storagev1.Session) bool {
	return r.revert.GetPoint() == session.Point(row.GetHead())
}

// stay answers that nothing was written: an undo would undo it, and take what was done before along.
func stay(row *storagev1.Session, answer *compactordv1.RevertToCheckpointResponse) {
	answer.Record, answer.MessagesPutAside, answer.FirstRequestPutAside = nil, 0, nil
	answer.Point, answer.Report = session.Point(row.GetHead()), strategies.Report(row.GetHead(), row.GetResolvedPolicy())
}

// reversal works out what a request reverts.
func (s *Service) reversal(
	ctx context.Context, row *storagev1.Session, req *compactordv1.RevertToCheckpointRequest,
) (*reversal, error) {
	revert, err := s.destination(ctx, row, req)
	if err != nil {
		return nil, err
	}
	return s.reversalTo(ctx, row, revert)
}

func (s *Service) reversalTo(
	ctx context.Context, row *storagev1.Session, revert *compactordv1.Revert,
) (*reversal, error) {
	at, err := headAt(ctx, s.logs, row, revert.GetPoint(), "point")
	if err != nil {
		return nil, err
	}
	r := &reversal{revert: revert, at: at, aside: session.PutAside(row.GetHead(), at)}
	revert.MessagesPutAside = session.Indexes(r.aside)
	err = s.logs.EachMessage(ctx, row, r.aside, func(l *compactordv1.LoggedMessage) bool {
		if session.StartsTurn(l.GetMessage()) {
			r.firstRequest = &l.Index
		}
		return r.firstRequest == nil
	})
	return r, err
}

// revert adds the Revert to what is to be written, and behind it the message to the model, if there is one.
func (s *Service) revert(
	ctx context.Context, p *sessionlog.Write, r *reversal, future *compactordv1.Message,
	answer *compactordv1.RevertToCheckpointResponse,
) error {
	if future != nil {
		next := p.Head().GetNextIndex()
		r.revert.FutureIndex = &next
	}
	record, err := p.Record(ctx, &compactordv1.Record{Kind: &compactordv1.Record_Revert{Revert: r.revert}}, r.at)
	if err != nil {
		return err
	}
	if future != nil {
		if _, err := p.Say(ctx, future); err != nil {
			return err
		}
	}
	answer.Record, answer.Point, answer.Report = record, session.Point(p.Head()), p.Report()
	answer.MessagesPutAside, answer.FirstRequestPutAside = r.revert.GetMessagesPutAside(), r.firstRequest
	return nil
}

// ClearSession implements SessionService.
func (s *Service) ClearSession(
	ctx context.Context, req *compactordv1.ClearSessionRequest,
) (*compactordv1.ClearSessionResponse, error) {
	answer := &compactordv1.ClearSessionResponse{}
	err := s.logs.Update(ctx, req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		if known, err := s.logs.Recorded(ctx, row, req, answer); known || err != nil {
			return nil, err
		}
		p, err := s.clear(ctx, row, answer)
		if err != nil || p == nil {
			return nil, err
		}
		return p, p.Remember(req, answer)
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// clear makes the Revert to the end of the leading run; nil where nothing else is active, since no record hides or edits
// that run.
func (s *Service) clear(
	ctx context.Context, row *storagev1.Session, answer *compactordv1.ClearSessionResponse,
) (*sessionlog.Write, error) {
	point, err := s.endOfLead(ctx, row)
	if err != nil {
		return nil, err
	}
	r, err := s.reversalTo(ctx, row, &compactordv1.Revert{Point: point})
	if err != nil {
		return nil, err
	}
	if len(r.aside) == 0 {
		answer.Record, answer.MessagesPutAside, answer.Point = nil, 0, session.Point(row.GetHead())
		answer.Report = strategies.Report(row.GetHead(), row.GetResolvedPolicy())
		return nil, nil
	}
	p, reverted := s.logs.Begin(row), &compactordv1.RevertToCheckpointResponse{}
	if err := s.revert(ctx, p, r, nil, reverted); err != nil {
		return nil, err
	}
	answer.Record, answer.Point = reverted.GetRecord(), reverted.GetPoint()
	answer.Report, answer.MessagesPutAside = reverted.GetReport(), reverted.GetMessagesPutAside()
	return p, nil
}

// endOfLead is the point of the last message of the leading run; the empty session's where there is none.
func (s *Service) endOfLead(ctx context.Context, row *storagev1.Session) (uint32, error) {
	end := row.GetHead().GetLeadEnd()
	if end == 0 {
		return 0, nil
	}
	var point uint32
	last := []*compactordv1.IndexRange{{Start: end - 1, End: end}}
	err := s.logs.EachMessage(ctx, row, last, func(l *compactordv1.LoggedMessage) bool {
		point = l.GetSequence()
		return false
	})
	return point, err
}
