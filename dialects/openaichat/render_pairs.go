package openaichat

import (
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// pairs says which messages hold the results of which.
type pairs struct {
	// of holds, for a message with calls, the positions of their results.
	of map[int][]int
	// isAnswer holds the positions of results that answer a call.
	isAnswer map[int]bool
	// legacy holds the calls of exchanges by function_call, at the positions of the call and of its result.
	legacy map[int]*compactordv1.ToolCall
}

func pairCalls(messages []*compactordv1.Message, ids *dialect.CallIDs) *pairs {
	p := &pairs{of: make(map[int][]int), isAnswer: make(map[int]bool), legacy: make(map[int]*compactordv1.ToolCall)}
	for i, m := range messages {
		for _, part := range m.GetParts() {
			pair := ids.PairOf(part)
			if pair == nil || part != pair.Result {
				continue
			}
			p.of[pair.CallAt] = append(p.of[pair.CallAt], i)
			p.isAnswer[i] = true
			if call := legacyCall(messages[pair.CallAt]); call != nil && isNoted(m.GetAttachments(), noteRole, roleFunction) {
				p.legacy[pair.CallAt], p.legacy[i] = call, call
			}
		}
	}
	return p
}

// legacyCall returns the one call of a message if it was made by function_call.
func legacyCall(m *compactordv1.Message) *compactordv1.ToolCall {
	var only *compactordv1.ToolCall
	for _, p := range m.GetParts() {
		if p.GetToolCall() == nil {
			continue
		}
		if only != nil || fieldOf(p) != "function_call" {
			return nil
		}
		only = p.GetToolCall()
	}
	return only
}
