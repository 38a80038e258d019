package dialect

import (
	"slices"
	"strings"
	"unicode"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Carried is what rendering the rest of a list must know of the part before. It is not changed once it is made.
type Carried struct {
	// Messages is how many messages were rendered before. Before is what the list holds of them.
	Messages int
	Before   Before
	// Calls are the ids of their calls.
	Calls usedIDs
	// State is what else the dialect must know.
	State any
}

// carriedBytes is about how many bytes one takes without ids and state.
const carriedBytes = 128

// Size returns about how many bytes it takes. What it shares with others is counted as its own.
func (c *Carried) Size() int {
	size := carriedBytes + c.Calls.Size()
	if sized, ok := c.State.(interface{ Size() int }); ok {
		size += sized.Size()
	}
	return size
}

// Carry returns what the rest of a list must know after these messages.
func (o RenderOptions) Carry(messages []*compactordv1.Message, ids *CallIDs, state any) *Carried {
	return &Carried{Messages: o.first() + len(messages), Calls: usedIDs{ids.used.seal()}, State: state}
}

// first is the position in the whole list of the first message that is rendered.
func (o RenderOptions) first() int {
	if o.Before == nil {
		return 0
	}
	return o.Before.Messages
}

// usedBefore returns the ids of the calls of the part before, to go on from.
func (o RenderOptions) usedBefore() usedIDs {
	if o.Before == nil {
		return usedIDs{}
	}
	return o.Before.Calls
}

// inWholeList gives what was rendered the positions that it has in the whole list. It also sorts the report.
func (o RenderOptions) inWholeList(out *Rendered) {
	at := o.first()
	for i := range out.From {
		out.From[i].First += at
		out.From[i].End += at
	}
	for i := range out.Dropped {
		out.Dropped[i].Message += at
	}
	for i := range out.Repairs {
		out.Repairs[i].Message += at
	}
	slices.SortStableFunc(out.Dropped, func(a, b Dropped) int { return a.Message - b.Message })
	slices.SortStableFunc(out.Repairs, func(a, b Repair) int { return a.Message - b.Message })
	if o.Before != nil {
		out.Before = o.Before.Before
	}
	if out.After == nil {
		return
	}
	next := out.Before
	next.Messages += len(out.Messages)
	for _, raw := range slices.Concat(out.System, out.Messages) {
		next.Bytes += len(raw) + 1
	}
	out.After.Before = next
}

// Seams finds the places where a list can be cut so that its parts, rendered one after the other, are what the whole list
// is rendered as: before a message of the model with text or calls that answers the user or the results of all calls. At
// such a place each provider's list has a message of the user that is complete.
type Seams struct {
	// open are the calls without a result, by their ids in the log. calls is how many there are.
	open  map[string]int
	calls int
	last  compactordv1.Role
}

// Before reports whether the list can be cut before its next message.
func (s *Seams) Before(next *compactordv1.Message) bool {
	asked := s.last == compactordv1.Role_ROLE_USER || s.last == compactordv1.Role_ROLE_TOOL
	return asked && s.calls == 0 && next.GetRole() == compactordv1.Role_ROLE_ASSISTANT &&
		slices.ContainsFunc(next.GetParts(), isAlwaysRendered)
}

// Pass takes the next message.
func (s *Seams) Pass(m *compactordv1.Message) {
	if s.open == nil {
		s.open = make(map[string]int)
	}
	s.last = m.GetRole()
	for _, p := range m.GetParts() {
		switch {
		case p.GetToolCall() != nil:
			s.open[p.GetToolCall().GetId()]++
			s.calls++
		case p.GetToolResult() != nil && s.open[p.GetToolResult().GetCallId()] > 0:
			s.calls--
			if s.open[p.GetToolResult().GetCallId()]--; s.open[p.GetToolResult().GetCallId()] == 0 {
				delete(s.open, p.GetToolResult().GetCallId())
			}
		}
	}
}

// isAlwaysRendered reports whether each dialect renders a part of the model, whatever stands around it.
func isAlwaysRendered(p *compactordv1.Part) bool {
	if p.GetToolCall() != nil {
		return true
	}
	return strings.ContainsFunc(p.GetText().GetText(), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}
