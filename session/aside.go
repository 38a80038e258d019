package session

import (
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// PutAside returns the ranges of indexes of the messages that are active at one head and not at another of the same log,
// ascending.
func PutAside(before, after *storagev1.Head) []*compactordv1.IndexRange {
	var aside []*compactordv1.IndexRange
	stay := after.GetActive()
	for _, a := range before.GetActive() {
		from, end := a.GetFirstIndex(), a.GetEndIndex()
		for from < end {
			for len(stay) > 0 && stay[0].GetEndIndex() <= from {
				stay = stay[1:]
			}
			if len(stay) > 0 && stay[0].GetFirstIndex() <= from {
				from = min(end, stay[0].GetEndIndex())
				continue
			}
			to := end
			if len(stay) > 0 {
				to = min(end, stay[0].GetFirstIndex())
			}
			aside = append(aside, &compactordv1.IndexRange{Start: from, End: to})
			from = to
		}
	}
	return aside
}

// Indexes counts the indexes in ranges that do not overlap.
func Indexes(ranges []*compactordv1.IndexRange) uint32 {
	var count uint32
	for _, r := range ranges {
		count += r.GetEnd() - r.GetStart()
	}
	return count
}
