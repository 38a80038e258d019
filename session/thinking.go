package session

import (
	"slices"
	"sort"
	"strings"

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

// dropsThinking reports whether the view leaves out the thinking of a message.
func (b *viewBuilder) dropsThinking(l *compactordv1.LoggedMessage) bool {
	if l.GetMessage().GetRole() != compactordv1.Role_ROLE_ASSISTANT {
		return false
	}
	switch b.thinking {
	case compactordv1.ThinkingPolicy_THINKING_POLICY_STRIP:
		return true
	case compactordv1.ThinkingPolicy_THINKING_POLICY_KEEP_ALL:
		return false
	case compactordv1.ThinkingPolicy_THINKING_POLICY_ADAPTIVE:
		return !unchangedSince(b.head, l.GetIndex(), l.GetViewPoint())
	default:
		// All blocks of a tool loop are wanted, or none: so the view that the loop began with decides.
		return !unchangedSince(b.head, l.GetIndex(), l.GetLoopViewPoint())
	}
}

// unchangedSince reports whether everything before an index is as it was in the view of an earlier point. Providers bind
// a thinking block to all content before it.
func unchangedSince(h *storagev1.Head, index, point uint32) bool {
	marks := h.GetChanges()
	// Both figures ascend, so the first newer mark has the lowest changed_from.
	newer := sort.Search(len(marks), func(i int) bool { return marks[i].GetSequence() > point })
	return newer == len(marks) || marks[newer].GetChangedFrom() > index
}

// disablesThinking reports whether the model must be asked without thinking, since the current tool loop lost its own.
func disablesThinking(h *storagev1.Head, policy compactordv1.ThinkingPolicy) bool {
	return policy == compactordv1.ThinkingPolicy_THINKING_POLICY_KEEP_VALID && currentLoopLostThinking(h)
}

// currentLoopLostThinking reports whether the current tool loop at the end of the log holds thinking that views leave out.
// Every change since the loop's first view reaches back to the loop's start. The result does not depend on the messages
// of the view, so it is the same for a delta.
func currentLoopLostThinking(h *storagev1.Head) bool {
	marks := h.GetChanges()
	return h.GetLoopThinking() && len(marks) > 0 && marks[len(marks)-1].GetSequence() > h.GetLoopViewPoint()
}

func hasThinking(m *compactordv1.Message) bool {
	return slices.ContainsFunc(m.GetParts(), func(p *compactordv1.Part) bool { return p.GetThinking() != nil })
}

// pushMark adds a change, and removes those that it makes irrelevant: earlier ones with the same or a higher
// changed_from.
func pushMark(h *storagev1.Head, sequence, changedFrom uint32) {
	for n := len(h.GetChanges()); n > 0 && h.GetChanges()[n-1].GetChangedFrom() >= changedFrom; n-- {
		h.Changes = h.GetChanges()[:n-1]
	}
	h.Changes = append(h.Changes, &storagev1.ChangeMark{Sequence: sequence, ChangedFrom: changedFrom})
}

// SignedCall reports whether a part is a call with a thought signature. A provider signs a call with its arguments, so
// these must come back as they were.
func SignedCall(p *compactordv1.Part) bool {
	return p.GetToolCall() != nil && slices.ContainsFunc(p.GetAttachments(), func(a *compactordv1.Attachment) bool {
		switch a.GetKey() {
		case "thoughtSignature", "thought_signature", "signature":
			return a.GetJson() != "" && a.GetJson() != "null"
		case "extra_content":
			// OpenAI Chat has a field of Google's in it.
			return strings.Contains(a.GetJson(), `"thought_signature"`)
		default:
			return false
		}
	})
}

// ThinksAdaptively reports whether a view with these options is for a model that decides before each answer whether it
// thinks.
func ThinksAdaptively(p *compactordv1.Policy, opts ViewOptions) bool {
	return thinkingPolicy(p, opts.Thinking) == compactordv1.ThinkingPolicy_THINKING_POLICY_ADAPTIVE
}

// SameThinking reports whether a view with these options shows thinking as the policy alone says.
func SameThinking(p *compactordv1.Policy, opts ViewOptions) bool {
	return thinkingPolicy(p, opts.Thinking) == thinkingPolicy(p, compactordv1.ThinkingPolicy_THINKING_POLICY_UNSPECIFIED)
}
