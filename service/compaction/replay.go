package compaction

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
)

// replays says whether the last request is to be replayed if the summary covers it.
func (p *planned) replays() bool {
	if p.reason() != compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW {
		return false
	}
	if p.req.Replay != nil {
		return p.req.GetReplay()
	}
	return p.policy.GetOverflow().GetReplay()
}

// toReplay returns the index of the message to replay after the cut; nil where there is none. It never returns the
// first request of a session, since then the summary would stand for nothing.
func (p *planned) toReplay(ctx context.Context, next *sessionlog.Write) (*uint32, error) {
	if !p.replays() {
		return nil, nil
	}
	last, err := p.lastRequest(ctx, next)
	if last == nil || err != nil {
		return nil, err
	}
	index := last.GetIndex()
	if index >= p.plan.GetCut().GetFirstKeptIndex() || session.Pinned(next.Head(), index) {
		return nil, nil
	}
	earlier, err := p.requestBefore(ctx, next, index)
	if !earlier || err != nil {
		return nil, err
	}
	return &index, nil
}

// lastRequest returns the last active message that starts a turn and that views can show, even if an earlier compaction
// covers it; nil where there is none.
func (c *Compactor) lastRequest(ctx context.Context, next *sessionlog.Write) (*compactordv1.LoggedMessage, error) {
	state, err := next.State(ctx)
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
	if slot == nil || !session.ActiveIndex(next.Head(), slot.GetIndex()) {
		return nil, nil
	}
	var last *compactordv1.LoggedMessage
	at := []*compactordv1.IndexRange{{Start: slot.GetIndex(), End: slot.GetIndex() + 1}}
	err = c.logs.EachMessage(ctx, next.Before(), at, func(l *compactordv1.LoggedMessage) bool {
		if session.IsRequest(l) {
			last = l
		}
		return false
	})
	return last, err
}

// requestBefore says whether an active message with a lower index starts a turn.
func (c *Compactor) requestBefore(ctx context.Context, next *sessionlog.Write, index uint32) (bool, error) {
	h, found := next.Head(), false
	var active []*compactordv1.IndexRange
	for start, end := session.ActiveRun(h, h.GetLeadEnd()); start < index; start, end = session.ActiveRun(h, end) {
		active = append(active, &compactordv1.IndexRange{Start: start, End: min(end, index)})
	}
	err := c.logs.EachMessage(ctx, next.Before(), active, func(l *compactordv1.LoggedMessage) bool {
		found = session.IsRequest(l)
		return !found
	})
	return found, err
}

// goOn appends the message that tells the agent to go on, where the policy wants it and it is needed: not before open
// calls are answered, and not after a request. It returns the message's index, or nil.
func (p *planned) goOn(ctx context.Context, next *sessionlog.Write, entry *compactordv1.CompactionEntry) (*uint32, error) {
	if !p.policy.GetOverflow().GetAutoContinue() ||
		p.reason() == compactordv1.CompactionReason_COMPACTION_REASON_MANUAL ||
		entry.ReplayedIndex != nil || len(next.Head().GetOpenCalls()) > 0 {
		return nil, nil
	}
	state, err := next.State(ctx)
	if err != nil || lastIsUser(state) {
		return nil, err
	}
	overflow := p.reason() == compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW
	l, err := next.AppendOwn(ctx, session.Continue(overflow))
	if err != nil {
		return nil, err
	}
	return proto.Uint32(l.GetIndex()), nil
}

// lastIsUser says whether the view shows its last message of the log as a USER message.
func lastIsUser(s *session.State) bool {
	for _, vm := range slices.Backward(s.View(session.ViewOptions{}).Messages) {
		if vm.GetSummaryOf() == "" && vm.GetContextBlock() == nil {
			return vm.GetMessage().GetRole() == compactordv1.Role_ROLE_USER
		}
	}
	return false
}
