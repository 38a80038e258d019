package compaction

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// replays says whether the last request is to be shown again where the summary covers it.
func (p *planned) replays() bool {
	if p.reason() != compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW {
		return false
	}
	if p.req.Replay != nil {
		return p.req.GetReplay()
	}
	return p.policy.GetOverflow().GetReplay()
}

// toReplay returns the message that is to be shown again once the cut is made; nil where there is none. The first request
// of a session is none: the summary would stand for nothing beside it.
func (p *planned) toReplay(ctx context.Context, w *sessionlog.Write) (*uint32, error) {
	if !p.replays() {
		return nil, nil
	}
	last, err := p.lastRequest(ctx, w)
	if last == nil || err != nil {
		return nil, err
	}
	index := last.GetIndex()
	if index >= p.plan.GetCut().GetFirstKeptIndex() || session.Pinned(w.Head(), index) {
		return nil, nil
	}
	earlier, err := p.requestBefore(ctx, w, index)
	if !earlier || err != nil {
		return nil, err
	}
	return &index, nil
}

// lastRequest returns the last message on the active path that starts a turn and is shown, be it that an earlier
// compaction covers it; nil where there is none.
func (c *Compactor) lastRequest(ctx context.Context, w *sessionlog.Write) (*compactordv1.LoggedMessage, error) {
	state, err := w.State(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range slices.Backward(state.Kept) {
		if session.IsRequest(l) {
			return l, nil
		}
	}
	if l := state.ReplayedMessage(); l != nil {
		return l, nil
	}
	slot := state.Entry.GetSlots().GetLastUserRequest()
	if slot == nil || !session.ActiveIndex(w.Head(), slot.GetIndex()) {
		return nil, nil
	}
	var last *compactordv1.LoggedMessage
	at := []*compactordv1.IndexRange{{Start: slot.GetIndex(), End: slot.GetIndex() + 1}}
	err = c.logs.EachMessage(ctx, w.Before(), at, func(l *compactordv1.LoggedMessage) bool {
		if session.IsRequest(l) {
			last = l
		}
		return false
	})
	return last, err
}

// requestBefore says whether a message with a lower index on the active path starts a turn.
func (c *Compactor) requestBefore(ctx context.Context, w *sessionlog.Write, index uint32) (bool, error) {
	h, found := w.Head(), false
	var active []*compactordv1.IndexRange
	for start, end := session.ActiveRun(h, h.GetLeadEnd()); start < index; start, end = session.ActiveRun(h, end) {
		active = append(active, &compactordv1.IndexRange{Start: start, End: min(end, index)})
	}
	err := c.logs.EachMessage(ctx, w.Before(), active, func(l *compactordv1.LoggedMessage) bool {
		found = session.IsRequest(l)
		return !found
	})
	return found, err
}

// slotsOf takes the slots of a new summary from what it newly covers. What the compaction before replayed is covered by
// both, and no slot of that one tells it.
func slotsOf(before *session.State, covered, kept []*compactordv1.LoggedMessage) *compactordv1.Slots {
	if again := before.ReplayedMessage(); again != nil {
		covered = slices.Concat([]*compactordv1.LoggedMessage{again}, covered)
	}
	return strategies.SlotsOf(before.Entry.GetSlots(), covered, kept, before.Edits)
}

// goOn appends the message that tells the agent to go on, where the policy wants it and nothing else does so: open calls
// are answered first, and a request speaks for itself. It returns the message's index, or nil.
func (p *planned) goOn(ctx context.Context, w *sessionlog.Write, entry *compactordv1.CompactionEntry) (*uint32, error) {
	if !p.policy.GetOverflow().GetAutoContinue() ||
		p.reason() == compactordv1.CompactionReason_COMPACTION_REASON_MANUAL ||
		entry.ReplayedIndex != nil || len(w.Head().GetOpenCalls()) > 0 {
		return nil, nil
	}
	state, err := w.State(ctx)
	if err != nil || lastIsUser(state) {
		return nil, err
	}
	overflow := p.reason() == compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW
	l, err := w.Say(ctx, session.Continue(overflow))
	if err != nil {
		return nil, err
	}
	return proto.Uint32(l.GetIndex()), nil
}

// lastIsUser says whether the last message of the log that the view shows is shown as a USER message.
func lastIsUser(s *session.State) bool {
	for _, vm := range slices.Backward(s.View(session.ViewOptions{}).Messages) {
		if vm.GetSummaryOf() == "" {
			return vm.GetMessage().GetRole() == compactordv1.Role_ROLE_USER
		}
	}
	return false
}
