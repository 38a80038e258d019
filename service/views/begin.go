package views

import (
	"context"
	"iter"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// beginning says where a page begins.
type beginning struct {
	// at is where the drawing begins. before is how many messages of the view come before, and leading reports whether
	// all of them have roles of leading messages.
	at      session.Place
	before  uint32
	leading bool
	// holds reports whether the client has the next message, which is as it was in its view. held is how many it has at
	// the most.
	holds func(session.Drawn) (bool, error)
	held  uint32
}

// begin returns where the page begins for a client with the view of a token. The caller calls end when the page is drawn.
func (r *Request) begin(
	ctx context.Context, log Log, held session.ViewToken, relation session.Delta,
) (b *beginning, end func(), err error) {
	end = func() {}
	b = &beginning{leading: true}
	switch relation {
	case session.DeltaAppended:
		switch {
		case held.Resume != nil:
			b.at, b.before, b.leading = held.Resume.At, held.Messages, held.Resume.Leading
		case held.NextIndex > 0:
			b.at, b.before = session.PlaceAfter(r.Head, held.NextIndex), held.Messages
			b.leading = held.NextIndex <= r.Head.GetLeadEnd()
		default:
			b.held, b.holds = held.Messages, func(session.Drawn) (bool, error) { return true, nil }
		}
	case session.DeltaChanged:
		b.held = held.Messages
		if r.marksApply(held) {
			b.holds = unchangedSince(r.Head, held)
			break
		}
		if b.holds, end, err = r.sameAs(ctx, log, held.Point); err != nil {
			return nil, nil, err
		}
	default:
	}
	return b, end, nil
}

// marksApply says that the records since the token compared views like the requested one, so that the head knows what
// they changed. A view with other thinking can show a difference that the session's did not, and so can a view of an
// earlier point by today's policy.
func (r *Request) marksApply(held session.ViewToken) bool {
	changed := r.Head.GetPolicyChange()
	return r.hasSessionsThinking() && changed == r.Row.GetHead().GetPolicyChange() && changed <= held.Point
}

// changedSince returns the index from which on messages have changed since the view of a token; the next index where none
// has.
func changedSince(h *storagev1.Head, held session.ViewToken) uint32 {
	changedFrom := h.GetNextIndex()
	for _, mark := range h.GetChanges() {
		if mark.GetSequence() > held.Point {
			changedFrom = min(changedFrom, mark.GetChangedFrom())
		}
	}
	if h.GetLastBlockMove() > held.Point && held.BlocksAt != nil {
		changedFrom = min(changedFrom, *held.BlocksAt)
	}
	if h.GetLastBlockExpiry() > held.Point {
		changedFrom = min(changedFrom, h.GetLeadEnd())
	}
	return changedFrom
}

// unchangedSince reports of messages whether they are before the first that has changed since the view of a token.
func unchangedSince(h *storagev1.Head, held session.ViewToken) func(session.Drawn) (bool, error) {
	changedFrom := changedSince(h, held)
	return func(d session.Drawn) (bool, error) {
		switch o := d.GetOrigin().(type) {
		case *compactordv1.ViewMessage_SummaryOf:
			return changedFrom >= session.KeptFrom(h), nil
		case *compactordv1.ViewMessage_Index:
			return o.Index < changedFrom, nil
		case *compactordv1.ViewMessage_LogRepair:
			return o.LogRepair.GetIndex() < changedFrom, nil
		case *compactordv1.ViewMessage_Folded:
			return o.Folded.GetStart() < changedFrom, nil
		default:
			return d.Place.Index < changedFrom, nil
		}
	}
}

// sameAs reports of messages whether the view at an earlier point has the same ones, which it draws beside them.
func (r *Request) sameAs(
	ctx context.Context, log Log, point uint32,
) (holds func(session.Drawn) (bool, error), end func(), err error) {
	head, err := log.HeadAt(ctx, r.Row, point)
	if err != nil {
		return nil, nil, err
	}
	drawing, err := log.Drawing(ctx, r.Row, head, r.MaxBytes)
	if err != nil {
		return nil, nil, err
	}
	next, end := iter.Pull2(drawing.View(ctx, r.options(), session.Place{}))
	return func(d session.Drawn) (bool, error) {
		then, err, ok := next()
		return ok && err == nil && proto.Equal(then.ViewMessage, d.ViewMessage), err
	}, end, nil
}
