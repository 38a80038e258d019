package session

import (
	"sort"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// PutAside returns the ranges of indexes of the messages that are active at one head and not at another one of the same
// log, ascending. Two paths through a log have the same beginning. After the first message that is missing in the other
// path, all are.
func PutAside(before, after *storagev1.Head) []*compactordv1.IndexRange {
	var aside []*compactordv1.IndexRange
	for _, a := range before.GetActive() {
		end := a.GetEndIndex()
		if start := firstInactive(after, a.GetFirstIndex(), end); start < end {
			aside = append(aside, &compactordv1.IndexRange{Start: start, End: end})
		}
	}
	return aside
}

// firstInactive returns the first index from start on that is not active; end where all indexes before end are active.
func firstInactive(h *storagev1.Head, start, end uint32) uint32 {
	active := h.GetActive()
	for start < end {
		at := sort.Search(len(active), func(i int) bool { return active[i].GetEndIndex() > start })
		if at == len(active) || active[at].GetFirstIndex() > start {
			return start
		}
		start = min(end, active[at].GetEndIndex())
	}
	return end
}

// CountIndexes returns the number of indexes in ranges that do not overlap.
func CountIndexes(ranges []*compactordv1.IndexRange) uint32 {
	var count uint32
	for _, r := range ranges {
		count += r.GetEnd() - r.GetStart()
	}
	return count
}
