package session

import (
	"slices"
	"sort"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// State is a head with what its view shows. Nothing in it is changed once it is made.
type State struct {
	Head    *storagev1.Head
	Policy  *compactordv1.Policy
	Counter Counter
	// Lead is the leading run of SYSTEM and DEVELOPER messages.
	Lead []*compactordv1.LoggedMessage
	// Entry is the effective compaction; nil where there is none.
	Entry *compactordv1.CompactionEntry
	// OutOfPlace are the pinned messages, and the replayed one, that the summary covers, in the order of the log.
	OutOfPlace []*compactordv1.LoggedMessage
	// Kept are the active messages from KeptFrom on, in order.
	Kept []*compactordv1.LoggedMessage
	// Edits are those in force, by message index; for each message the older first.
	Edits map[uint32][]*compactordv1.Edit
}

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

// WithAppended is the state after messages were appended, which left the head h.
func (s *State) WithAppended(h *storagev1.Head, messages []*compactordv1.LoggedMessage) *State {
	next := *s
	next.Head = h
	lead := 0
	for lead < len(messages) && messages[lead].GetIndex() < h.GetLeadEnd() {
		lead++
	}
	next.Lead = slices.Concat(s.Lead, messages[:lead])
	next.Kept = slices.Concat(s.Kept, messages[lead:])
	return &next
}

// WithMetrics returns a copy of the state's head with the figures of its view computed from the messages.
func (s *State) WithMetrics() *storagev1.Head {
	h := proto.CloneOf(s.Head)
	v := s.View(ViewOptions{})
	h.ViewTokens, h.ViewBytes, h.ViewToolGroups = v.Tokens, v.Bytes, v.ToolGroups
	h.ViewMessages, h.ViewMediaTokens, h.ViewMediaBytes = uint32(len(v.Messages)), v.MediaTokens, v.MediaBytes
	h.ViewMedia = v.Media
	h.PrunableTokens = s.prunableTokens()
	h.LeadTokens, h.PinnedTokens = 0, 0
	for _, l := range s.Lead {
		h.LeadTokens += l.GetTokens()
	}
	// The next compaction can take back what this one replays.
	var outOfPlace uint32
	for _, vm := range v.Messages {
		if !vm.GetOutOfPlace() {
			continue
		}
		outOfPlace += vm.GetTokens()
		if index, ofLog := shownIndex(vm); ofLog && !Replayed(h, index) {
			h.PinnedTokens += vm.GetTokens()
		}
	}
	// Where no cut is valid there is no compaction, and all but the leading run stays where it is.
	h.TailIndex, h.TailTokens = nil, v.Tokens-h.GetLeadTokens()-outOfPlace
	if places := s.CutPlaces(); len(places) > 0 {
		tail := s.Kept[places[len(places)-1]].GetIndex()
		h.TailIndex = &tail
		h.TailTokens = v.tokensFrom(tail)
	}
	h.PinnedKeptTokens, h.PinnedTailTokens = pinnedInPlace(h, v)
	return h
}

// HeadAfter returns a copy of the state's head as the record leaves it that led to this state, with all that depends on
// the view: its figures, and the breaker that judges a compaction by them.
func (s *State) HeadAfter(r *compactordv1.Record) *storagev1.Head {
	h := s.WithMetrics()
	h.Breaker = breakerAfter(h, s.Policy, r)
	return h
}

// pinnedInPlace sums the pinned messages that the view shows in their place behind the leading run, before the smallest
// valid kept part and in it.
func pinnedInPlace(h *storagev1.Head, v *View) (before, tail uint32) {
	for _, vm := range v.Messages {
		index, ofLog := shownIndex(vm)
		switch {
		case !ofLog || vm.GetOutOfPlace() || index < h.GetLeadEnd() || !Pinned(h, index):
		case h.TailIndex == nil || index >= h.GetTailIndex():
			tail += vm.GetTokens()
		default:
			before += vm.GetTokens()
		}
	}
	return before, tail
}

// shownIndex is the message of the log that a message of the view is, or that it quotes.
func shownIndex(vm *compactordv1.ViewMessage) (uint32, bool) {
	switch o := vm.GetOrigin().(type) {
	case *compactordv1.ViewMessage_Index:
		return o.Index, true
	case *compactordv1.ViewMessage_Mend:
		return o.Mend.GetIndex(), o.Mend.GetKind() == compactordv1.MendKind_MEND_KIND_STRAY_RESULT
	default:
		return 0, false
	}
}

func (s *State) prunableTokens() uint32 {
	d := s.drawing(ViewOptions{})
	var tokens uint32
	for _, l := range s.Kept {
		if l.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_ANSWER && !d.collapsed(l.GetAnswers().GetIndex()) &&
			!Pinned(s.Head, l.GetIndex()) && !s.PutAway(l) {
			_, shown := s.Shown(l)
			tokens += shown
		}
	}
	return tokens
}
