package listsync

import (
	"context"
	"strconv"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/intake"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
)

// maxNewMessages is the most messages that one sync appends, as in AppendMessages.
const maxNewMessages = 10_000

// append appends what is new in the list, and to an empty log the leading messages before that.
func (s *Syncer) append(
	ctx context.Context, w *sessionlog.Write, p *plan, view *session.ViewToken, done *compactordv1.SyncedMessages,
) error {
	if p.newLead && !done.GetInstructionsReplaced() {
		for _, lead := range p.list.leads {
			if err := p.list.appendPart(ctx, w, lead, nil, false, done); err != nil {
				return err
			}
		}
	}
	if done.GetRevert() != nil {
		// It may be a view of what was just put aside.
		view = nil
	}
	return p.list.appendPart(ctx, w, p.fresh, view, p.inside > 0, done)
}

// appends reports whether messages are new.
func (p *plan) appends() bool { return p.message < len(p.list.rest.Messages()) }

// prepare makes what is new ready to be appended, before the session is locked.
func (p *plan) prepare(ctx context.Context, estimator compactordv1.Estimator) error {
	if count := len(p.list.rest.Messages()) - p.message; count > maxNewMessages {
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED,
			map[string]string{"limit": "max_new_messages", "value": strconv.Itoa(maxNewMessages)},
			"elements: %d messages are new, and one call appends at most %d; sync a shorter list first", count, maxNewMessages)
	}
	p.fresh = p.list.rest.From(p.message, p.partsInside())
	p.fresh = p.fresh.With(renamedResults(p.fresh.Messages(), p.renamed(p.list.sent, p.pieces)))
	return p.fresh.CountAhead(ctx, estimator)
}

// partsInside returns how many parts of the first new message are not new.
func (p *plan) partsInside() int {
	if p.inside == 0 {
		return 0
	}
	m := p.list.rest.Messages()[p.message]
	left := p.inside
	for i, part := range m.GetParts() {
		if left == 0 {
			return i
		}
		if _, says := keyOf(m.GetRole(), part); says {
			left--
		}
	}
	return 0
}

// appendPart appends messages, and notes which elements they come from. cut reports that the first message lacks parts of
// its element.
func (l *list) appendPart(
	ctx context.Context, w *sessionlog.Write, part *intake.List, view *session.ViewToken, cut bool,
	done *compactordv1.SyncedMessages,
) error {
	findings, err := part.AppendTo(ctx, w, view, func(m *compactordv1.LoggedMessage, at int) {
		if !cut || at > 0 {
			m.Listed = l.elementsOf(part, at)
		}
	})
	done.Findings = append(done.Findings, findings...)
	done.AppendedMessages += uint32(len(part.Messages()))
	return err
}

// elementsOf returns the elements that a message came from; nil where an earlier message came from the same.
func (l *list) elementsOf(part *intake.List, at int) *compactordv1.ListedElements {
	first := part.Position(at)
	if part.OfSystem() || at > 0 && part.Position(at-1) == first {
		return nil
	}
	end := at + 1
	for end < len(part.Messages()) && part.Position(end) == first {
		end++
	}
	next := part.End()
	if end < len(part.Messages()) {
		next = part.Position(end)
	}
	return &compactordv1.ListedElements{
		Digest: unitDigest(l.digests[first:next]), Elements: uint32(next - first), Messages: uint32(end - at),
	}
}

// renamedResults returns messages whose results name the calls by the log's ids. A call among the messages takes the id
// from then on.
func renamedResults(messages []*compactordv1.Message, ids map[string]string) []*compactordv1.Message {
	renamed := make([]*compactordv1.Message, len(messages))
	for i, m := range messages {
		renamed[i] = m
		for _, id := range callsOf(m) {
			delete(ids, id)
		}
		for at, part := range m.GetParts() {
			id, known := ids[part.GetToolResult().GetCallId()]
			if part.GetToolResult() == nil || !known {
				continue
			}
			renamed[i] = proto.CloneOf(m)
			renamed[i].GetParts()[at].GetToolResult().CallId = id
		}
	}
	return renamed
}
