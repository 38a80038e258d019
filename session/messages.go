package session

import (
	"fmt"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// StartsTurn reports whether a message starts a turn. The same messages count as requests of the user.
func StartsTurn(m *compactordv1.Message) bool {
	if m.GetRole() != compactordv1.Role_ROLE_USER {
		return false
	}
	switch m.GetOrigin() {
	case compactordv1.Origin_ORIGIN_UNSPECIFIED, compactordv1.Origin_ORIGIN_CLIENT, compactordv1.Origin_ORIGIN_IMPORT:
		return true
	default:
		return false
	}
}

// IsRequest reports whether a message is a request of the user that views show.
func IsRequest(l *compactordv1.LoggedMessage) bool {
	return StartsTurn(l.GetMessage()) && !Failed(l.GetMessage())
}

// Failed reports whether a message ended in an error or was aborted. Views leave such messages out.
func Failed(m *compactordv1.Message) bool {
	return m.GetStopReason() == compactordv1.StopReason_STOP_REASON_ERROR ||
		m.GetStopReason() == compactordv1.StopReason_STOP_REASON_ABORTED
}

// Leads reports whether a message of this role can be a leading message.
func Leads(r compactordv1.Role) bool {
	return r == compactordv1.Role_ROLE_SYSTEM || r == compactordv1.Role_ROLE_DEVELOPER
}

// CallID returns the id that views show for a call: the provider's id, or one made from the call's place.
func CallID(call *compactordv1.ToolCall, index, part uint32) string {
	if call.GetId() != "" {
		return call.GetId()
	}
	return fmt.Sprintf("call_%d_%d", index, part)
}

// Calls returns the calls of a message with that index, in order.
func Calls(m *compactordv1.Message, index uint32) []*compactordv1.CallRef {
	var calls []*compactordv1.CallRef
	for i, p := range m.GetParts() {
		if call := p.GetToolCall(); call != nil {
			calls = append(calls, &compactordv1.CallRef{
				Index: index,
				Part:  uint32(i),
				Id:    CallID(call, index, uint32(i)),
				Name:  call.GetName(),
			})
		}
	}
	return calls
}

// result returns the one result of a TOOL message; nil for any other.
func result(m *compactordv1.Message) *compactordv1.ToolResult {
	if m.GetRole() != compactordv1.Role_ROLE_TOOL || len(m.GetParts()) == 0 {
		return nil
	}
	return m.GetParts()[0].GetToolResult()
}

func hasCalls(m *compactordv1.Message) bool { return countCalls(m) > 0 }

func countCalls(m *compactordv1.Message) int {
	n := 0
	for _, p := range m.GetParts() {
		if p.GetToolCall() != nil {
			n++
		}
	}
	return n
}

// TextPart returns a part with this text.
func TextPart(text string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}}
}
