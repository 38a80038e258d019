package views

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// stableEnds returns the positions in a view, or in a stretch of it, after which a cache breakpoint is useful. The leading
// messages and the summary stay until views next change, and the whole view is the start of the next one. last reports
// that the view ends there.
func stableEnds(view []*compactordv1.ViewMessage, last bool) []int {
	lead, summary, end := -1, -1, -1
	if last {
		end = len(view) - 1
	}
	for i, vm := range view {
		if vm.GetSummaryOf() != "" {
			summary = i
		}
		if lead == i-1 && session.Leads(vm.GetMessage().GetRole()) {
			lead = i
		}
	}
	var ends []int
	for _, end := range []int{lead, summary, end} {
		if end >= 0 && (len(ends) == 0 || end > ends[len(ends)-1]) {
			ends = append(ends, end)
		}
	}
	return ends
}

// breakpoints returns the rendered messages after which a breakpoint is useful. A system prompt outside of the messages
// has none.
func (r *Rendered) breakpoints() []uint32 {
	var at []uint32
	for _, end := range r.ends {
		for i, span := range r.From {
			if span.First <= r.first+end && r.first+end < span.End {
				at = append(at, uint32(r.Before.Messages+i))
			}
		}
	}
	return at
}
