package session

import (
	"slices"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Shown returns a message with the edits that views show it by, and the tokens that it then has. What goes by more than the
// message is not in it: which thinking is valid, and how a result that answers no call is quoted.
func (s *State) Shown(l *compactordv1.LoggedMessage) (*compactordv1.Message, uint32) {
	edits := s.EditsOf(l)
	if len(edits) == 0 || Pinned(s.Head, l.GetIndex()) {
		return l.GetMessage(), l.GetTokens()
	}
	e := editing{counter: s.Counter, logged: l, sizes: l.GetPartSizes()}
	e.apply(edits)
	return e.message(), e.tokens()
}

// PutAway says whether an edit has replaced all of a result by a text that stands for it: one that is hidden, offloaded or
// compressed. One that was only cut or has lost its media still shows what the tool said.
func (s *State) PutAway(l *compactordv1.LoggedMessage) bool {
	return !Pinned(s.Head, l.GetIndex()) && slices.ContainsFunc(s.EditsOf(l), func(e *compactordv1.Edit) bool {
		return putsAway(e.GetKind())
	})
}

func putsAway(k compactordv1.EditKind) bool {
	switch k {
	case compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, compactordv1.EditKind_EDIT_KIND_OFFLOAD_RESULT,
		compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT:
		return true
	default:
		return false
	}
}

// tokensOnArrival is what a message that has just arrived has by the edits of its arrival: what is shown shorter from the
// first view on never filled the context. In a pinned group it is shown whole.
func tokensOnArrival(h *storagev1.Head, l *compactordv1.LoggedMessage) uint32 {
	tokens := l.GetTokens()
	if Pinned(h, l.GetIndex()) {
		return tokens
	}
	for _, e := range l.GetArrivalEdits() {
		tokens -= min(tokens, e.GetTokensFreed())
	}
	return tokens
}

// prunableOnArrival is what hiding a result that has just arrived, and is not pinned, could free.
func prunableOnArrival(h *storagev1.Head, l *compactordv1.LoggedMessage) uint32 {
	if slices.ContainsFunc(ArrivalKinds(l), putsAway) {
		return 0
	}
	return tokensOnArrival(h, l)
}
