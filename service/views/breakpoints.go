package views

import (
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// stableEnds returns the positions in a view, or in a stretch of it, after which a cache breakpoint is useful. The leading
// messages and the summary stay until views next change, what comes before the LATEST blocks stays when those move, and the
// whole view is the start of the next one. last reports that the view ends there.
func stableEnds(view []*compactordv1.ViewMessage, last, withoutLead bool) []int {
	lead, summary, latest, end := -1, -1, -1, -1
	if last {
		// The next request lacks the extra blocks of this one.
		end = len(withoutExtra(view)) - 1
	}
	for i, vm := range view {
		if vm.GetSummaryOf() != "" {
			summary = i
		}
		if lead == i-1 && leads(vm) {
			lead = i
		}
		if latest < 0 && isLatest(vm) {
			latest = i - 1
		}
	}
	if withoutLead {
		lead = -1
	}
	var ends []int
	for _, end := range []int{lead, summary, latest, end} {
		if end >= 0 && (len(ends) == 0 || end > ends[len(ends)-1]) {
			ends = append(ends, end)
		}
	}
	return ends
}

// leads reports whether a message belongs to the leading ones, if all before it do.
func leads(vm *compactordv1.ViewMessage) bool {
	return session.Leads(vm.GetMessage().GetRole()) ||
		vm.GetContextBlock().GetPlace() == compactordv1.BlockPlace_BLOCK_PLACE_LEADING
}

func isLatest(vm *compactordv1.ViewMessage) bool {
	return vm.GetContextBlock().GetPlace() == compactordv1.BlockPlace_BLOCK_PLACE_LATEST
}

// withoutLead reports whether the end of the leading messages gets no breakpoint, since the view of a head has another three
// ends: that of its summary, that before its LATEST blocks, and its own.
func withoutLead(h *storagev1.Head) bool {
	return h.GetCompaction() != nil && session.HasLatestBlocks(h)
}

// breakpoints returns the rendered messages after which a breakpoint is useful. A system prompt outside of the messages
// has none. Of a message that was merged with extra blocks, the one before it has it.
func (r *Rendered) breakpoints() []uint32 {
	var at []uint32
	for _, end := range r.ends {
		for i, span := range r.From {
			if span.First > r.first+end || r.first+end >= span.End {
				continue
			}
			position := r.Before.Messages + i
			if uint32(position) >= r.stays {
				position--
			}
			if position >= 0 && (len(at) == 0 || at[len(at)-1] < uint32(position)) {
				at = append(at, uint32(position))
			}
		}
	}
	return at
}
