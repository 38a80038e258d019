package session

import (
	"math"
	"slices"

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
	h.PrunableTokens = s.prunableTokens(0)
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

// headSince is HeadAfter where the state before the record is known.
func (s *State) headSince(before *State, r *compactordv1.Record) *storagev1.Head {
	h := s.metricsSince(before, r)
	if h == nil {
		h = s.WithMetrics()
	}
	h.Breaker = breakerAfter(h, s.Policy, r)
	return h
}

// metricsSince is WithMetrics after a prune, of which only what its edits can change is drawn; nil where that is not enough.
// Where they are before the tail, the tail stays where it is: it begins outside of all tool groups and folds.
func (s *State) metricsSince(before *State, r *compactordv1.Record) *storagev1.Head {
	was := before.Head
	if r.GetPrune() == nil || was.TailIndex == nil || was.GetViewTokens() >= math.MaxInt32 ||
		slices.ContainsFunc(r.GetPrune().GetEdits(), func(e *compactordv1.Edit) bool { return e.GetIndex() >= was.GetTailIndex() }) {
		return nil
	}
	h := proto.CloneOf(s.Head)
	from := firstChanged(r)
	if change := r.GetPrune().GetViewChange(); change.ChangedFrom != nil {
		// From there on, thinking is no longer valid.
		from = min(from, change.GetChangedFrom())
	}
	less, more := before.partialMetrics(was, from), s.partialMetrics(h, from)
	sums, gone, added := all(&more.Figures), all(&less.Figures), FiguresOf(was)
	for i, whole := range all(&added) {
		*sums[i] += *whole - *gone[i]
	}
	more.into(h)
	h.ViewToolGroups = was.GetViewToolGroups() + more.ToolGroups - less.ToolGroups
	h.ViewMedia = was.GetViewMedia() + more.Media - less.Media
	h.ViewMediaTokens = was.GetViewMediaTokens() + more.MediaTokens - less.MediaTokens
	h.ViewMediaBytes = was.GetViewMediaBytes() + more.MediaBytes - less.MediaBytes
	h.PrunableTokens = was.GetPrunableTokens() + more.prunable - less.prunable
	return h
}

// partialMetrics are the figures of a part of a view.
type partialMetrics struct {
	*View
	Figures

	prunable uint32
}

// partialMetrics returns the figures of the view without the leading and the kept messages before an index.
func (s *State) partialMetrics(h *storagev1.Head, from uint32) partialMetrics {
	drawn := s.drawFrom(ViewOptions{}, from)
	messages := drawn.sized()
	m := &meter{head: h}
	for i := range messages {
		m.add(messages[i].ViewMessage, messages[i].Bytes)
	}
	return partialMetrics{drawn.viewOf(messages), m.figures(), s.prunableTokens(from)}
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

// prunableTokens are the tokens of results that edits could still hide, from an index on.
func (s *State) prunableTokens(from uint32) uint32 {
	b := s.newViewBuilder(ViewOptions{})
	var tokens uint32
	for _, l := range s.Kept[firstAt(s.Kept, from):] {
		if l.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_ANSWER && !b.removed(l.GetAnswers().GetIndex()) &&
			!Pinned(s.Head, l.GetIndex()) && !s.ReplacedWhole(l) {
			tokens += s.ShownTokens(l)
		}
	}
	return tokens
}
