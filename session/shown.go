package session

import (
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Shown returns a message as the edits in views leave it, and its tokens. It still has its thinking, which View drops
// where it is no longer valid. A stray result still is a result, which View quotes.
func (s *State) Shown(l *compactordv1.LoggedMessage) (*compactordv1.Message, uint32) {
	edits := s.EditsOf(l)
	if len(edits) == 0 || Pinned(s.Head, l.GetIndex()) {
		return l.GetMessage(), l.GetTokens()
	}
	e := editedMessage{counter: s.Counter, logged: l, sizes: l.GetPartSizes()}
	e.apply(edits)
	return e.message(), e.tokens()
}

// ShownTokens returns the tokens of what Shown returns.
func (s *State) ShownTokens(l *compactordv1.LoggedMessage) uint32 {
	edits := s.Edits[l.GetIndex()]
	if len(l.GetArrivalEdits())+len(edits) > 0 && !Pinned(s.Head, l.GetIndex()) {
		if known := s.Known.drawn(s.Counter, l, edits); known != nil {
			return known.shown.GetTokens()
		}
	}
	_, tokens := s.Shown(l)
	return tokens
}

// ShownFrom returns the messages that a view shows after the summary of a cut at a position in Kept, as it shows them:
// those shown out of place, and those from the position on.
func (s *State) ShownFrom(position int) []*compactordv1.LoggedMessage {
	kept := slices.Concat(s.OutOfPlace, s.Kept[position:])
	for i, l := range kept {
		shown, tokens := s.Shown(l)
		kept[i] = &compactordv1.LoggedMessage{Index: l.GetIndex(), Message: shown, Tokens: tokens}
	}
	return kept
}

// ReplacedWhole reports whether an edit has replaced a whole result by a placeholder: it is hidden, offloaded or
// compressed, or the message is folded. A result that was only truncated, or lost its media, still shows what the tool
// returned.
func (s *State) ReplacedWhole(l *compactordv1.LoggedMessage) bool {
	return !Pinned(s.Head, l.GetIndex()) && slices.ContainsFunc(s.EditsOf(l), replacesWhole)
}

func replacesWhole(e *compactordv1.Edit) bool {
	switch e.GetKind() {
	case compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, compactordv1.EditKind_EDIT_KIND_OFFLOAD_RESULT,
		compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT, compactordv1.EditKind_EDIT_KIND_FOLD:
		return true
	default:
		return false
	}
}
