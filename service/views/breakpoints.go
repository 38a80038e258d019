package views

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// stableEnds are the messages after which a cache breakpoint pays: the leading run and the summary stay until the next
// change of views, and the whole view is the prefix of the next one.
func stableEnds(view []*compactordv1.ViewMessage) []int {
	lead, summary := -1, -1
	for i, vm := range view {
		if vm.GetSummaryOf() != "" {
			summary = i
		}
		if lead == i-1 && session.Leads(vm.GetMessage().GetRole()) {
			lead = i
		}
	}
	var ends []int
	for _, end := range []int{lead, summary, len(view) - 1} {
		if end >= 0 && (len(ends) == 0 || end > ends[len(ends)-1]) {
			ends = append(ends, end)
		}
	}
	return ends
}

// breakpoints are the rendered messages after which a breakpoint pays. A system prompt that stands apart has none.
func (r *Rendered) breakpoints() []uint32 {
	var at []uint32
	for _, end := range stableEnds(r.view.Messages) {
		for i, span := range r.From {
			if span.First <= end && end < span.End {
				at = append(at, uint32(i))
			}
		}
	}
	return at
}
