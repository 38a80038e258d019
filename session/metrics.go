package session

import (
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// WithMetrics returns a copy of the state's head with the figures of its view, computed from the messages.
func (s *State) WithMetrics() *storagev1.Head {
	h := proto.CloneOf(s.Head)
	drawn := s.draw(ViewOptions{})
	messages := drawn.sized()
	v := drawn.viewOf(messages)
	h.ViewToolGroups, h.ViewMedia = v.ToolGroups, v.Media
	h.ViewMediaTokens, h.ViewMediaBytes = v.MediaTokens, v.MediaBytes
	h.PrunableTokens = s.prunableTokens()
	h.LeadTokens = s.leadTokens()
	s.setBlockFigures(h)
	h.TailIndex = nil
	if places := s.CutPlaces(); len(places) > 0 {
		h.TailIndex = proto.Uint32(s.Kept[places[len(places)-1]].GetIndex())
	}
	m := &meter{head: h}
	for i := range messages {
		m.add(messages[i].ViewMessage, messages[i].Bytes)
	}
	m.figures().into(h)
	return h
}

// leadTokens returns the tokens of the instructions and leading messages that views show.
func (s *State) leadTokens() uint32 {
	var tokens uint32
	for _, m := range s.Instructions {
		tokens = plus(tokens, MessageTokens(s.Counter, m))
	}
	for _, l := range s.LeadInForce() {
		tokens = plus(tokens, l.GetTokens())
	}
	return tokens
}

// HeadAfter returns a copy of the state's head after the record that led to this state, with everything that depends on
// the view: its figures, and the breaker, which uses them.
func (s *State) HeadAfter(r *compactordv1.Record) *storagev1.Head {
	h := s.WithMetrics()
	h.Breaker = breakerAfter(h, s.Policy, r)
	return h
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
		if l.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_ANSWER && !b.removed(l.GetAnswers().GetIndex()) &&
			!Pinned(s.Head, l.GetIndex()) && !s.ReplacedWhole(l) {
			tokens += s.ShownTokens(l)
		}
	}
	return tokens
}
