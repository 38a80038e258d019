package listsync

import (
	"bytes"
	"context"
	"errors"
	"strconv"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
)

// maxTries is how often a list is compared anew with a session that others write to meanwhile.
const maxTries = 5

// Outcome is what a sync has done: either what must be sent first, or what was written.
type Outcome struct {
	Lacking *compactordv1.LackingElements
	Synced  *compactordv1.SyncedMessages
	// Pruned is the entry of policy.on_user_message; nil where there is none.
	Pruned *compactordv1.PruneEntry
}

// errMoved means that another call has written to the session since the list was compared with it.
var errMoved = errors.New("the session has changed")

// Sync brings the log of a session in line with the list of a request.
func (s *Syncer) Sync(ctx context.Context, req *compactordv1.SyncMessagesRequest) (*Outcome, error) {
	l, err := s.read(ctx, req)
	if err != nil {
		return nil, err
	}
	row, err := s.Logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	knows := session.Point(row.GetHead())
	if req.KnownPoint != nil {
		if knows = req.GetKnownPoint(); knows > session.Point(row.GetHead()) {
			return nil, apierror.InvalidField("known_point", "is after the end of the log")
		}
	}
	view := viewOf(req.GetViewToken(), row)
	for range maxTries {
		p, err := s.plan(ctx, row, l, req.GetDialect())
		if err != nil {
			return nil, err
		}
		if p.lacking != nil {
			return &Outcome{Lacking: p.lacking}, nil
		}
		if err := p.refuseConflict(row, knows); err != nil {
			return nil, err
		}
		if err := p.prepare(ctx, row.GetEstimator()); err != nil {
			return nil, err
		}
		outcome, err := s.commit(ctx, row, p, view)
		if !errors.Is(err, errMoved) {
			return outcome, err
		}
		if row, err = s.Logs.Row(ctx, req.GetSessionId()); err != nil {
			return nil, err
		}
	}
	return nil, conflict(row, nil)
}

// viewOf returns the token of the last view that the client got, from which the model's answers were made; nil where it
// does not fit.
func viewOf(token string, row *storagev1.Session) *session.ViewToken {
	t, err := session.ParseViewToken(token)
	if err != nil || t.UID != row.GetUid() || t.Point > session.Point(row.GetHead()) || t.Point < row.GetHead().GetLastRevert() {
		return nil
	}
	return &t
}

// refuseConflict refuses to put aside, or to go on after, what the client does not know of.
func (p *plan) refuseConflict(row *storagev1.Session, knows uint32) error {
	for _, lacked := range p.aside {
		if lacked.required() && lacked.sequence > knows {
			return conflict(row, &lacked.index)
		}
	}
	if row.GetHead().GetLastRevert() > knows && (!p.clean() || p.appends()) {
		return conflict(row, nil)
	}
	return nil
}

func conflict(row *storagev1.Session, index *uint32) *apierror.Error {
	metadata := map[string]string{"next_index": decimal(row.GetHead().GetNextIndex())}
	if index == nil {
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_SYNC_CONFLICT, metadata,
			"another client has changed the session meanwhile; read it again before the next sync")
	}
	metadata["index"] = decimal(*index)
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_SYNC_CONFLICT, metadata,
		"elements: another client has appended message %d, which the list lacks; read the session again before the next sync",
		*index)
}

func decimal(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// commit writes what a plan says, if the session is as it was.
func (s *Syncer) commit(
	ctx context.Context, planned *storagev1.Session, p *plan, view *session.ViewToken,
) (outcome *Outcome, err error) {
	err = s.Logs.Update(ctx, planned.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		if row.GetUid() != p.uid || session.Point(row.GetHead()) != p.point {
			return nil, errMoved
		}
		var w *sessionlog.Write
		outcome, w, err = s.write(ctx, row, p, view)
		return w, err
	})
	return outcome, err
}

// write returns the write of a plan; nil where there is nothing to write.
func (s *Syncer) write(
	ctx context.Context, row *storagev1.Session, p *plan, view *session.ViewToken,
) (*Outcome, *sessionlog.Write, error) {
	done := &compactordv1.SyncedMessages{BeginsWithView: p.view, KnownElements: uint32(p.known())}
	outcome := &Outcome{Synced: done}
	if p.clean() && !p.newLead && !p.appends() {
		done.NextIndex, done.Point = row.GetHead().GetNextIndex(), session.Point(row.GetHead())
		done.Report = sessionlog.Report(row)
		return outcome, s.noted(row, p), nil
	}
	w := s.Logs.Begin(row)
	if err := s.revert(ctx, row, w, p, done); err != nil {
		return nil, nil, err
	}
	if err := s.replaceLead(ctx, w, p, done); err != nil {
		return nil, nil, err
	}
	if err := s.append(ctx, w, p, view, done); err != nil {
		return nil, nil, err
	}
	var err error
	if outcome.Pruned, err = s.Intake.Compactor.OnUserMessage(ctx, w); err != nil {
		return nil, nil, err
	}
	if done.Report, err = w.Report(ctx); err != nil {
		return nil, nil, err
	}
	done.NextIndex, done.Point = w.Head().GetNextIndex(), session.Point(w.Head())
	w.Row().Synced = p.list.synced(w.Head())
	return outcome, w, nil
}

// known returns how many elements at the start of the list the session has.
func (p *plan) known() int {
	if !p.appends() {
		return len(p.list.digests)
	}
	return max(p.knownBefore, p.list.rest.Position(p.message))
}

// noted returns a write that only notes that the log holds the list; nil where the row says so.
func (s *Syncer) noted(row *storagev1.Session, p *plan) *sessionlog.Write {
	last, synced := row.GetSynced(), p.list.synced(row.GetHead())
	if goesOn(row, p.list) && last.GetElements() == synced.GetElements() &&
		bytes.Equal(last.GetLeadingHash(), synced.GetLeadingHash()) {
		return nil
	}
	w := s.Logs.BeginInternal(row)
	w.Row().Synced = synced
	return w
}

// revert goes back to the point before the first message that the list lacks.
func (s *Syncer) revert(
	ctx context.Context, row *storagev1.Session, w *sessionlog.Write, p *plan, done *compactordv1.SyncedMessages,
) error {
	if p.clean() {
		return nil
	}
	point := p.target()
	at, err := s.Logs.RequestedHead(ctx, row, point, "elements")
	if err != nil {
		return err
	}
	done.MessagesPutAside = session.CountIndexes(session.PutAside(row.GetHead(), at))
	done.Revert, err = w.Record(ctx, &compactordv1.Record{Kind: &compactordv1.Record_Revert{Revert: &compactordv1.Revert{
		Point: point, MessagesPutAside: done.GetMessagesPutAside(), KeepsContext: true,
	}}}, at)
	return err
}

// replaceLead replaces the instructions, unless the log is empty, so that they are appended.
func (s *Syncer) replaceLead(
	ctx context.Context, w *sessionlog.Write, p *plan, done *compactordv1.SyncedMessages,
) error {
	if !p.newLead || w.Head().GetActiveMessages() == 0 && w.Head().GetInstructions() == nil {
		return nil
	}
	_, err := w.Record(ctx, &compactordv1.Record{Kind: &compactordv1.Record_Instructions{
		Instructions: &compactordv1.InstructionsChange{Messages: p.lead, Replaced: w.Head().GetLeadEnd()},
	}}, nil)
	done.InstructionsReplaced = err == nil
	return err
}
