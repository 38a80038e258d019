package openaichat

import (
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// pairs says which messages hold the results of which.
type pairs struct {
	// of are, for a message with calls, the positions of their results.
	of map[int][]int
	// isAnswer holds the positions of results that answer a call.
	isAnswer map[int]bool
	// legacy holds the calls of exchanges by function_call, at the positions of the call and of its result.
	legacy map[int]*compactordv1.ToolCall
}

func pairCalls(messages []*compactordv1.Message, ids *dialect.CallIDs) *pairs {
	a := &pairs{of: make(map[int][]int), isAnswer: make(map[int]bool), legacy: make(map[int]*compactordv1.ToolCall)}
	callers := make(map[string]int)
	for i, m := range messages {
		for _, p := range m.GetParts() {
			id, _ := ids.Of(p)
			if p.GetToolCall() != nil {
				callers[id] = i
			}
			if p.GetToolResult() == nil {
				continue
			}
			caller, open := callers[id]
			if !open {
				continue
			}
			// One result answers a call; another stays where it is.
			delete(callers, id)
			a.of[caller] = append(a.of[caller], i)
			a.isAnswer[i] = true
			if call := legacyCall(messages[caller]); call != nil && isNoted(m.GetAttachments(), noteRole, "function") {
				a.legacy[caller], a.legacy[i] = call, call
			}
		}
	}
	return a
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
