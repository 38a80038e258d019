package listsync

import (
	"context"
	"errors"
	"strconv"

	"google.golang.org/protobuf/proto"

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
	if err := l.rest.CountAhead(ctx, row.GetEstimator()); err != nil {
		return nil, err
	}
	knows := session.Point(row.GetHead())
	if req.KnownPoint != nil {
		if knows = req.GetKnownPoint(); knows > session.Point(row.GetHead()) {
			return nil, apierror.InvalidField("known_point", "is after the end of the log")
		}
	}
	view := viewOf(req.GetViewToken(), row)
	done := &compactordv1.SyncedMessages{}
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
		outcome, err := s.commit(ctx, p, req.GetSessionId(), view, done)
		if !errors.Is(err, errMoved) {
			return outcome, err
		}
		if done.GetRevert() != nil {
			knows = max(knows, done.GetRevert().GetSequence())
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
		if !lacked.own && !lacked.optional && lacked.sequence > knows {
			return conflict(row, &lacked.index)
		}
	}
	if row.GetHead().GetLastRevert() > knows && (!p.clean() || p.appends()) {
		return conflict(row, nil)
	}
	return nil
}

func (p *plan) appends() bool { return p.message < len(p.list.rest.Messages()) }

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

// commit writes what a plan says, if the session is as it was: first the step back, then what is new. Where the daemon
// ends between the two, the next sync of the list appends the rest.
func (s *Syncer) commit(
	ctx context.Context, p *plan, id string, view *session.ViewToken, done *compactordv1.SyncedMessages,
) (outcome *Outcome, err error) {
	if !p.clean() {
		if err := s.update(ctx, p, id, func(row *storagev1.Session) (*sessionlog.Write, error) {
			return s.revert(ctx, row, p, done)
		}); err != nil {
			return nil, err
		}
		// The view may be one of what was just put aside.
		p.point, p.aside, view = done.GetRevert().GetSequence(), nil, nil
	}
	err = s.update(ctx, p, id, func(row *storagev1.Session) (w *sessionlog.Write, err error) {
		outcome, w, err = s.write(ctx, row, p, view, done)
		return w, err
	})
	return outcome, err
}

// update commits a write, if the session is at the point of the plan.
func (s *Syncer) update(
	ctx context.Context, p *plan, id string, change func(row *storagev1.Session) (*sessionlog.Write, error),
) error {
	return s.Logs.Update(ctx, id, func(row *storagev1.Session) (*sessionlog.Write, error) {
		if row.GetUid() != p.uid || session.Point(row.GetHead()) != p.point {
			return nil, errMoved
		}
		return change(row)
	})
}

// write returns the write of a plan that goes back no more; nil where there is nothing to write.
func (s *Syncer) write(
	ctx context.Context, row *storagev1.Session, p *plan, view *session.ViewToken, before *compactordv1.SyncedMessages,
) (*Outcome, *sessionlog.Write, error) {
	done := &compactordv1.SyncedMessages{
		BeginsWithView: p.view, KnownElements: uint32(p.known()), Revert: before.GetRevert(),
		MessagesPutAside: before.GetMessagesPutAside(),
	}
	outcome := &Outcome{Synced: done}
	if !p.newLead && !p.appends() {
		done.NextIndex, done.Point = row.GetHead().GetNextIndex(), session.Point(row.GetHead())
		done.Report = sessionlog.Report(row)
		return outcome, s.noted(row, p), nil
	}
	w := s.Logs.Begin(row)
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
	synced := p.list.synced(row.GetHead())
	if last := row.GetSynced(); last.GetElements() == synced.GetElements() && proto.Equal(last, &storagev1.SyncedList{
		Elements: synced.GetElements(), Leading: synced.GetLeading(), LeadingHash: synced.GetLeadingHash(),
		Hash: synced.GetHash(), NextIndex: last.GetNextIndex(), Point: last.GetPoint(),
	}) {
		return nil
	}
	w := s.Logs.BeginInternal(row)
	w.Row().Synced = synced
	return w
}

// revert returns the write that goes back to the point before the first message that the list lacks.
func (s *Syncer) revert(
	ctx context.Context, row *storagev1.Session, p *plan, done *compactordv1.SyncedMessages,
) (*sessionlog.Write, error) {
	point := p.target()
	at, err := s.Logs.RequestedHead(ctx, row, point, "elements")
	if err != nil {
		return nil, err
	}
	w, aside := s.Logs.Begin(row), session.CountIndexes(session.PutAside(row.GetHead(), at))
	record, err := w.Record(ctx, &compactordv1.Record{Kind: &compactordv1.Record_Revert{Revert: &compactordv1.Revert{
		Point: point, MessagesPutAside: aside, KeepsContext: true,
	}}}, at)
	if err != nil {
		return nil, err
	}
	done.Revert, done.MessagesPutAside = record, done.GetMessagesPutAside()+aside
	_, err = w.Report(ctx)
	return w, err
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
