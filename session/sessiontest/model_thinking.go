package sessiontest

import (
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

func (m *Model) thinking(opts session.ViewOptions) compactordv1.ThinkingPolicy {
	for _, p := range []compactordv1.ThinkingPolicy{opts.Thinking, m.Policy.GetThinking()} {
		if p != compactordv1.ThinkingPolicy_THINKING_POLICY_UNSPECIFIED {
			return p
		}
	}
	return compactordv1.ThinkingPolicy_THINKING_POLICY_KEEP_VALID
}

func (m *Model) showsThinking(a *Active, opts session.ViewOptions) bool {
	switch m.thinking(opts) {
	case compactordv1.ThinkingPolicy_THINKING_POLICY_STRIP:
		return false
	case compactordv1.ThinkingPolicy_THINKING_POLICY_KEEP_ALL:
		return true
	case compactordv1.ThinkingPolicy_THINKING_POLICY_ADAPTIVE:
		return m.valid([]*Active{a})
	default:
		return m.valid(m.Loop(a))
	}
}

// Loop returns the ASSISTANT messages in the tool loop of an ASSISTANT message that did not fail.
func (m *Model) Loop(a *Active) []*Active {
	var loop []*Active
	for _, other := range m.Messages {
		if other.loop == a.loop && other.is(compactordv1.Role_ROLE_ASSISTANT) && !other.Failed() {
			loop = append(loop, other)
		}
	}
	return loop
}

// valid reports whether everything before the messages, of one loop, is as it was in the view of the first of them: no
// record in force and no late result has changed it, and it was not copied from a parent.
func (m *Model) valid(loop []*Active) bool {
	if first := slices.IndexFunc(m.Messages, func(b *Active) bool { return b.Copied }); first >= 0 {
		b := m.Messages[first]
		// What a child copied follows other messages than in its parent's log.
		if b.Sequence > loop[0].MadeFrom && slices.ContainsFunc(loop, func(l *Active) bool { return b.Index <= l.Index }) {
			return false
		}
	}
	for _, b := range m.Messages {
		if !b.Late || b.Sequence <= loop[0].MadeFrom {
			continue
		}
		if slices.ContainsFunc(loop, func(member *Active) bool { return b.Index <= member.Index }) {
			return false
		}
	}
	for sequence, record := range m.Records {
		vc := record.ViewChange()
		if vc == nil || vc.ChangedFrom == nil || int64(sequence) == m.ignored || sequence <= loop[0].MadeFrom {
			continue
		}
		for _, member := range loop {
			if vc.GetChangedFrom() <= member.Index {
				return false
			}
		}
	}
	return true
}

// currentLoopLostThinking reports whether the current tool loop at the end of the log holds thinking, shown or covered,
// that is no longer valid.
func (m *Model) currentLoopLostThinking() bool {
	return slices.ContainsFunc(m.Messages, func(a *Active) bool {
		return m.live(a) && a.is(compactordv1.Role_ROLE_ASSISTANT) && !a.Failed() &&
			slices.ContainsFunc(a.Message.GetParts(), isThinking) && !m.valid(m.Loop(a))
	})
}

// live reports whether the message belongs to the current tool loop at the end of the log.
func (m *Model) live(a *Active) bool {
	for _, other := range m.Messages {
		if other.loop > a.loop {
			return false
		}
	}
	return !m.Messages[len(m.Messages)-1].endsLoop()
}
