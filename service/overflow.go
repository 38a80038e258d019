package service

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
)

// replays says whether the last request is to be shown again where the summary covers it.
func (c *compaction) replays() bool {
	if c.reason() != compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW {
		return false
	}
	if c.req.Replay != nil {
		return c.req.GetReplay()
	}
	return c.policy.GetOverflow().GetReplay()
}

// toReplay returns the message that is to be shown again once the cut is made; nil where there is none. The first request
// of a session is none: the summary would stand for nothing beside it.
func (c *compaction) toReplay(ctx context.Context, p *sessionlog.Write) (*uint32, error) {
	if !c.replays() {
		return nil, nil
	}
	last, err := c.service.lastRequest(ctx, p)
	if last == nil || err != nil {
		return nil, err
	}
	index := last.GetIndex()
	if index >= c.plan.GetCut().GetFirstKeptIndex() || session.Pinned(p.Head(), index) {
		return nil, nil
	}
	earlier, err := c.service.requestBefore(ctx, p, index)
	if !earlier || err != nil {
		return nil, err
	}
	return &index, nil
}

// lastRequest returns the last message on the active path that starts a turn and is shown, be it that an earlier
// compaction covers it; nil where there is none.
func (s *Service) lastRequest(ctx context.Context, p *sessionlog.Write) (*compactordv1.LoggedMessage, error) {
	state, err := p.State(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range slices.Backward(state.Kept) {
		if isRequest(l) {
			return l, nil
		}
	}
	if l := state.ReplayedMessage(); l != nil {
		return l, nil
	}
	slot := state.Entry.GetSlots().GetLastUserRequest()
	if slot == nil || !session.ActiveIndex(p.Head(), slot.GetIndex()) {
		return nil, nil
	}
	var last *compactordv1.LoggedMessage
	at := []*compactordv1.IndexRange{{Start: slot.GetIndex(), End: slot.GetIndex() + 1}}
	err = s.logs.EachMessage(ctx, p.Before(), at, func(l *compactordv1.LoggedMessage) bool {
		if isRequest(l) {
			last = l
		}
		return false
	})
	return last, err
}

// requestBefore says whether a message with a lower index on the active path starts a turn.
func (s *Service) requestBefore(ctx context.Context, p *sessionlog.Write, index uint32) (bool, error) {
	h, found := p.Head(), false
	var active []*compactordv1.IndexRange
	for start, end := session.ActiveRun(h, h.GetLeadEnd()); start < index; start, end = session.ActiveRun(h, end) {
		active = append(active, &compactordv1.IndexRange{Start: start, End: min(end, index)})
	}
	err := s.logs.EachMessage(ctx, p.Before(), active, func(l *compactordv1.LoggedMessage) bool {
		found = isRequest(l)
		return !found
	})
	return found, err
}

func isRequest(l *compactordv1.LoggedMessage) bool {
	return session.StartsTurn(l.GetMessage()) && !session.Failed(l.GetMessage())
}

// slotsOf takes the slots of a new summary from what it newly covers. What the compaction before replayed is covered by
// both, and no slot of that one tells it.
func slotsOf(before *session.State, covered, kept []*compactordv1.LoggedMessage) *compactordv1.Slots {
	if again := before.ReplayedMessage(); again != nil {
		covered = slices.Concat([]*compactordv1.LoggedMessage{again}, covered)
	}
	return session.SlotsOf(before.Entry.GetSlots(), covered, kept, before.Edits)
}

// goOn appends the message that tells the agent to go on, where the policy wants it and nothing else does so: open calls
// are answered first, and a request speaks for itself. It returns the message's index, or nil.
func (c *compaction) goOn(ctx context.Context, p *sessionlog.Write, entry *compactordv1.CompactionEntry) (*uint32, error) {
	if !c.policy.GetOverflow().GetAutoContinue() ||
		c.reason() == compactordv1.CompactionReason_COMPACTION_REASON_MANUAL ||
		entry.ReplayedIndex != nil || len(p.Head().GetOpenCalls()) > 0 {
		return nil, nil
	}
	state, err := p.State(ctx)
	if err != nil || lastIsUser(state) {
		return nil, err
	}
	overflow := c.reason() == compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW
	l, err := p.Say(ctx, session.Continue(overflow))
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
