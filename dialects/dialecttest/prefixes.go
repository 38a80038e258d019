package dialecttest

import compactordv1 "github.com/compactord/compactord/proto/compactord/v1"

// ClosedPrefixes returns, ascending, the lengths at which a list can end: those at which all calls have their results.
// After a result that comes before its call there are none.
func ClosedPrefixes(messages []*compactordv1.Message) []int {
	closed := []int{0}
	open := make(map[string]int)
	total := 0
	for i, m := range messages {
		for _, p := range m.GetParts() {
			if call := p.GetToolCall(); call != nil {
				open[call.GetId()]++
				total++
			}
			if result := p.GetToolResult(); result != nil {
				if open[result.GetCallId()] == 0 {
					return closed
				}
				open[result.GetCallId()]--
				total--
			}
		}
		if total == 0 {
			closed = append(closed, i+1)
		}
	}
	return closed
}
