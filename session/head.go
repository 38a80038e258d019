package session

import (
	"slices"
	"sort"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// NewHead returns the head of an empty log, before its first record. The estimator counts its tokens.
func NewHead(e compactordv1.Estimator) *storagev1.Head {
	return &storagev1.Head{LeadOpen: true, ViewFormat: FirstViewFormat, Estimator: e}
}

// Point returns the newest point of a log.
func Point(h *storagev1.Head) uint32 { return h.GetNextSequence() - 1 }

// KeptFrom returns the first index of the kept part, after the leading messages and the summary.
func KeptFrom(h *storagev1.Head) uint32 {
	if c := h.GetCompaction(); c != nil {
		return c.GetFirstKeptIndex()
	}
	return h.GetLeadEnd()
}

// ActiveIndex reports whether the message with this index is active.
func ActiveIndex(h *storagev1.Head, index uint32) bool {
	active := h.GetActive()
	at := sort.Search(len(active), func(i int) bool { return active[i].GetEndIndex() > index })
	return at < len(active) && active[at].GetFirstIndex() <= index
}

// ActiveRun returns the first active index at or after the given one, and the end of the run of active indexes that
// begins there. Both are the log's next index where there is none.
func ActiveRun(h *storagev1.Head, index uint32) (start, end uint32) {
	for _, a := range h.GetActive() {
		if start = max(index, a.GetFirstIndex()); start < a.GetEndIndex() {
			return start, a.GetEndIndex()
		}
	}
	return h.GetNextIndex(), h.GetNextIndex()
}

// InForce reports whether the record with this sequence is in force: no Revert has put it aside.
func InForce(h *storagev1.Head, sequence uint32) bool {
	active := h.GetActive()
	at := sort.Search(len(active), func(i int) bool { return active[i].GetEndSequence() > sequence })
	return at < len(active) && active[at].GetFirstSequence() <= sequence
}

// Pinned reports whether the message with this index is pinned.
func Pinned(h *storagev1.Head, index uint32) bool {
	_, found := slices.BinarySearch(h.GetPins(), index)
	return found
}

// StateOf returns where the message with this index stands.
func StateOf(h *storagev1.Head, index uint32) compactordv1.MessageState {
	switch {
	case !ActiveIndex(h, index):
		return compactordv1.MessageState_MESSAGE_STATE_PUT_ASIDE
	case index < h.GetInstructions().GetReplaced():
		return compactordv1.MessageState_MESSAGE_STATE_REPLACED
	case index >= h.GetLeadEnd() && index < KeptFrom(h):
		return compactordv1.MessageState_MESSAGE_STATE_COVERED
	default:
		return compactordv1.MessageState_MESSAGE_STATE_ACTIVE
	}
}

// OutOfPlaceIndexes returns the indexes of the covered messages that the view shows after the summary, ascending.
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
