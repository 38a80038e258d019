package session

import (
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Shown returns a message with the edits that views show it by, and the tokens that it then has. What goes by more than the
// message is not in it: which thinking is valid, and how a result that answers no call is quoted.
func (s *State) Shown(l *compactordv1.LoggedMessage) (*compactordv1.Message, uint32) {
	edits := s.EditsOf(l)
	if len(edits) == 0 || Pinned(s.Head, l.GetIndex()) {
		return l.GetMessage(), l.GetTokens()
	}
	e := editedMessage{counter: s.Counter, logged: l, sizes: l.GetPartSizes()}
	e.apply(edits)
	return e.message(), e.tokens()
}

// PutAway says whether an edit has replaced all of a result by a text that stands for it: one that is hidden, offloaded or
// compressed. One that was only cut or has lost its media still shows what the tool said.
func (s *State) PutAway(l *compactordv1.LoggedMessage) bool {
	return !Pinned(s.Head, l.GetIndex()) && slices.ContainsFunc(s.EditsOf(l), putsAway)
}

func putsAway(e *compactordv1.Edit) bool {
	switch e.GetKind() {
	case compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, compactordv1.EditKind_EDIT_KIND_OFFLOAD_RESULT,
		compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT:
		return true
	default:
		return false
	}
}
