package session

import (
	"slices"
	"sort"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// NewHead returns the head of an empty log, before its first record, whose tokens are counted by an estimator.
func NewHead(e compactordv1.Estimator) *storagev1.Head {
	return &storagev1.Head{LeadOpen: true, ViewFormat: ViewFormat, Estimator: e}
}

// Point is the newest point of a log.
func Point(h *storagev1.Head) uint32 { return h.GetNextSequence() - 1 }

// KeptFrom is the first index that the view shows in its place after lead and summary.
func KeptFrom(h *storagev1.Head) uint32 {
	if c := h.GetCompaction(); c != nil {
		return c.GetFirstKeptIndex()
	}
	return h.GetLeadEnd()
}

// ActiveIndex says whether the message with this index is on the active path.
func ActiveIndex(h *storagev1.Head, index uint32) bool {
	active := h.GetActive()
	at := sort.Search(len(active), func(i int) bool { return active[i].GetEndIndex() > index })
	return at < len(active) && active[at].GetFirstIndex() <= index
}

// ActiveRun returns the first active index at or after the given one, and the end of the run of active ones that it
// begins or is in; both the log's end where there is none.
func ActiveRun(h *storagev1.Head, index uint32) (start, end uint32) {
	for _, a := range h.GetActive() {
		if start = max(index, a.GetFirstIndex()); start < a.GetEndIndex() {
			return start, a.GetEndIndex()
		}
	}
	return h.GetNextIndex(), h.GetNextIndex()
}

// InForce says whether the record with this sequence has not been put aside.
func InForce(h *storagev1.Head, sequence uint32) bool {
	active := h.GetActive()
	at := sort.Search(len(active), func(i int) bool { return active[i].GetEndSequence() > sequence })
	return at < len(active) && active[at].GetFirstSequence() <= sequence
}

// Pinned says whether the message with this index is pinned.
func Pinned(h *storagev1.Head, index uint32) bool {
	_, found := slices.BinarySearch(h.GetPins(), index)
	return found
}

// StateOf says where the message with this index stands.
func StateOf(h *storagev1.Head, index uint32) compactordv1.MessageState {
	switch {
	case !ActiveIndex(h, index):
		return compactordv1.MessageState_MESSAGE_STATE_PUT_ASIDE
	case index >= h.GetLeadEnd() && index < KeptFrom(h):
		return compactordv1.MessageState_MESSAGE_STATE_COVERED
	default:
		return compactordv1.MessageState_MESSAGE_STATE_ACTIVE
	}
}

// OutOfPlaceIndexes are the covered messages that the view shows after the summary, ascending.
func OutOfPlaceIndexes(h *storagev1.Head) []uint32 {
	if h.GetCompaction() == nil {
		return nil
	}
	var shown []uint32
	for _, index := range h.GetPins() {
		if h.GetLeadEnd() <= index && index < KeptFrom(h) {
			shown = append(shown, index)
		}
	}
	if c := h.GetCompaction(); c.ReplayedIndex != nil && c.GetReplayedIndex() < KeptFrom(h) {
		shown = append(shown, c.GetReplayedIndex())
	}
	slices.Sort(shown)
	return slices.Compact(shown)
}
