package session

import (
	"slices"
	"sort"

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
	marks := h.GetChanges()
	// Both figures of the marks ascend, so the first newer one reaches back the furthest.
	newer := sort.Search(len(marks), func(i int) bool { return marks[i].GetSequence() > l.GetLoopViewPoint() })
	return newer == len(marks) || marks[newer].GetChangedFrom() > l.GetIndex()
}

// liveLoopLostThinking says whether the tool loop that goes on at the end of the log holds thinking that views leave
// out. Whatever changed since its first view reaches back to its start. It does not ask what is drawn, so a delta knows
// it too.
func liveLoopLostThinking(h *storagev1.Head) bool {
	marks := h.GetChanges()
	return h.GetLoopThinking() && len(marks) > 0 && marks[len(marks)-1].GetSequence() > h.GetLoopViewPoint()
}

func hasThinking(m *compactordv1.Message) bool {
	return slices.ContainsFunc(m.GetParts(), func(p *compactordv1.Part) bool { return p.GetThinking() != nil })
}

// pushMark adds a change. One that a later change reaches under can no longer decide anything.
func pushMark(h *storagev1.Head, sequence, changedFrom uint32) {
	for n := len(h.GetChanges()); n > 0 && h.GetChanges()[n-1].GetChangedFrom() >= changedFrom; n-- {
		h.Changes = h.GetChanges()[:n-1]
	}
	h.Changes = append(h.Changes, &storagev1.ChangeMark{Sequence: sequence, ChangedFrom: changedFrom})
}
