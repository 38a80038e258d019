package session

import (
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func thinkingPolicy(p *compactordv1.Policy, override compactordv1.ThinkingPolicy) compactordv1.ThinkingPolicy {
	if override == compactordv1.ThinkingPolicy_THINKING_POLICY_UNSPECIFIED {
		override = p.GetThinking()
	}
	if override == compactordv1.ThinkingPolicy_THINKING_POLICY_UNSPECIFIED {
		return compactordv1.ThinkingPolicy_THINKING_POLICY_KEEP_VALID
	}
	return override
}

// dropsThinking says whether the thinking of a message is left out.
func (d *drawing) dropsThinking(l *compactordv1.LoggedMessage) bool {
	if l.GetMessage().GetRole() != compactordv1.Role_ROLE_ASSISTANT {
		return false
	}
	switch d.thinking {
	case compactordv1.ThinkingPolicy_THINKING_POLICY_STRIP:
		return true
	case compactordv1.ThinkingPolicy_THINKING_POLICY_KEEP_ALL:
		return false
	default:
		return !thinkingValid(d.head, l)
	}
}

// thinkingValid says whether nothing before the message has changed since the view that its tool loop began with:
// providers bind a thinking block to all before it, and want a tool loop's blocks all or not at all.
func thinkingValid(h *storagev1.Head, l *compactordv1.LoggedMessage) bool {
	for _, mark := range h.GetChanges() {
		if mark.GetSequence() > l.GetLoopViewPoint() && mark.GetChangedFrom() <= l.GetIndex() {
			return false
		}
	}
	return true
}

// inLiveLoop says whether the message belongs to the tool loop that goes on at the end of the log.
func (d *drawing) inLiveLoop(l *compactordv1.LoggedMessage) bool {
	return d.head.LoopStart != nil && l.GetIndex() >= d.head.GetLoopStart()
}

// pushMark adds a change. One that a later change reaches under can no longer decide anything.
func pushMark(h *storagev1.Head, sequence, changedFrom uint32) {
	for n := len(h.GetChanges()); n > 0 && h.GetChanges()[n-1].GetChangedFrom() >= changedFrom; n-- {
		h.Changes = h.GetChanges()[:n-1]
	}
	h.Changes = append(h.Changes, &storagev1.ChangeMark{Sequence: sequence, ChangedFrom: changedFrom})
}
