package gemini

import (
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// pairCalls returns a renderedCall for each pair of a call and its result.
func pairCalls(messages []*compactordv1.Message, ids *dialect.CallIDs) map[*dialect.Pair]*renderedCall {
	calls := make(map[*dialect.Pair]*renderedCall)
	for _, m := range messages {
		for _, p := range m.GetParts() {
			if pair := ids.PairOf(p); pair != nil && p == pair.Call {
				calls[pair] = &renderedCall{}
			}
		}
	}
	return calls
}
