package session

import (
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// WithMetrics returns a copy of the state's head with the figures of its view, computed from the messages.
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
	// The next compaction can remove what this one replays.
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
	// Without a valid cut there is no compaction, so all messages after the leading ones stay where they are.
	h.TailIndex, h.TailTokens = nil, v.Tokens-h.GetLeadTokens()-outOfPlace
	if places := s.CutPlaces(); len(places) > 0 {
		tail := s.Kept[places[len(places)-1]].GetIndex()
		h.TailIndex = &tail
		h.TailTokens = v.tokensFrom(tail)
	}
	h.PinnedKeptTokens, h.PinnedTailTokens = pinnedInPlace(h, v)
	return h
}

// HeadAfter returns a copy of the state's head after the record that led to this state, with everything that depends on
// the view: its figures, and the breaker, which uses them.
func (s *State) HeadAfter(r *compactordv1.Record) *storagev1.Head {
	h := s.WithMetrics()
	h.Breaker = breakerAfter(h, s.Policy, r)
	return h
}

// pinnedInPlace returns the tokens of the pinned messages that the view shows in their place after the leading
// messages: those before the smallest valid kept part, and those in it.
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

// shownIndex returns the index of the log's message that a message of the view shows or quotes; false where it does
// neither.
func shownIndex(vm *compactordv1.ViewMessage) (uint32, bool) {
	switch o := vm.GetOrigin().(type) {
	case *compactordv1.ViewMessage_Index:
		return o.Index, true
	case *compactordv1.ViewMessage_LogRepair:
		return o.LogRepair.GetIndex(), o.LogRepair.GetKind() == compactordv1.LogRepairKind_LOG_REPAIR_KIND_STRAY_RESULT
	default:
		return 0, false
	}
}

func (s *State) prunableTokens() uint32 {
	b := s.newViewBuilder(ViewOptions{})
	var tokens uint32
	for _, l := range s.Kept {
		if l.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_ANSWER && !b.collapsed(l.GetAnswers().GetIndex()) &&
			!Pinned(s.Head, l.GetIndex()) && !s.ReplacedWhole(l) {
			_, shown := s.Shown(l)
			tokens += shown
		}
	}
	return tokens
}

// tokensFrom returns the tokens that the view shows in their place from an index on, without repairs before the message
// at the index.
func (v *View) tokensFrom(index uint32) uint32 {
	var tokens uint32
	counting := false
	for _, vm := range v.Messages {
		if i, ok := vm.GetOrigin().(*compactordv1.ViewMessage_Index); ok && i.Index >= index && !vm.GetOutOfPlace() {
			counting = true
		}
		if counting {
			tokens += vm.GetTokens()
		}
	}
	return tokens
}
