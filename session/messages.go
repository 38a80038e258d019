package session

import (
	"fmt"
	"math"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// StartsTurn says whether a message starts a turn, which is also whether it counts as a request of the user.
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

// IsRequest says whether a message is a request of the user that views show.
func IsRequest(l *compactordv1.LoggedMessage) bool {
	return StartsTurn(l.GetMessage()) && !Failed(l.GetMessage())
}

// Failed says whether a message ended in an error or was aborted, so that views leave it out.
func Failed(m *compactordv1.Message) bool {
	return m.GetStopReason() == compactordv1.StopReason_STOP_REASON_ERROR ||
		m.GetStopReason() == compactordv1.StopReason_STOP_REASON_ABORTED
}

// Leads says whether a message of this role can belong to the leading run.
func Leads(r compactordv1.Role) bool {
	return r == compactordv1.Role_ROLE_SYSTEM || r == compactordv1.Role_ROLE_DEVELOPER
}

// CallID is the id that views show for a call: the provider's own, else one made from its place.
func CallID(call *compactordv1.ToolCall, index, part uint32) string {
	if call.GetId() != "" {
		return call.GetId()
	}
	return fmt.Sprintf("call_%d_%d", index, part)
}

// Calls returns the calls of a message at that index, in order.
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

// ReportedTokens is the context that a usage reports: the total, else the sum. 0 counts as no report.
func ReportedTokens(u *compactordv1.Usage) uint32 {
	if u.GetTotalTokens() > 0 {
		return u.GetTotalTokens()
	}
	return saturate(inputSum(u) + uint64(u.GetOutputTokens()))
}

// AddUsage adds up what two requests took; nil is of one that told nothing. A total wins over the sum of the other figures,
// so where one has a total, the other counts with its sum.
func AddUsage(a, b *compactordv1.Usage) *compactordv1.Usage {
	if a == nil && b == nil {
		return nil
	}
	sum := &compactordv1.Usage{
		InputTokens:      plus(a.GetInputTokens(), b.GetInputTokens()),
		OutputTokens:     plus(a.GetOutputTokens(), b.GetOutputTokens()),
		CacheReadTokens:  plus(a.GetCacheReadTokens(), b.GetCacheReadTokens()),
		CacheWriteTokens: plus(a.GetCacheWriteTokens(), b.GetCacheWriteTokens()),
	}
	if a.GetTotalTokens() > 0 || b.GetTotalTokens() > 0 {
		sum.TotalTokens = plus(ReportedTokens(a), ReportedTokens(b))
	}
	return sum
}

func inputTokens(u *compactordv1.Usage) uint32 {
	return saturate(inputSum(u))
}

func inputSum(u *compactordv1.Usage) uint64 {
	return uint64(u.GetInputTokens()) + uint64(u.GetCacheReadTokens()) + uint64(u.GetCacheWriteTokens())
}

// plus adds figures without starting over at 0.
func plus(a, b uint32) uint32 { return saturate(uint64(a) + uint64(b)) }

// saturate keeps a sum of figures that a client may have made up from starting over at 0.
func saturate(tokens uint64) uint32 { return uint32(min(tokens, math.MaxUint32)) }
