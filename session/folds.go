package session

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// A fold shows one text in place of a range of messages. Each of them has a FOLD edit; the first one, which carries the
// fold, has the text.

// Carries reports whether a FOLD edit is that of the message at which views show the fold's text.
func Carries(fold *compactordv1.Edit) bool { return fold.GetIndex() == fold.GetFoldStart() }

// foldIn returns the FOLD edit in force: the newest, since a fold can be part of a later, larger one; nil where there is
// none.
func foldIn(edits []*compactordv1.Edit) *compactordv1.Edit {
	for i := len(edits) - 1; i >= 0; i-- {
		if edits[i].GetKind() == compactordv1.EditKind_EDIT_KIND_FOLD {
			return edits[i]
		}
	}
	return nil
}

// FoldOf returns the FOLD edit in force of a message of the kept part, also while the message is pinned; nil where there
// is none.
func (s *State) FoldOf(l *compactordv1.LoggedMessage) *compactordv1.Edit {
	return foldIn(s.Edits[l.GetIndex()])
}

// Folded reports whether a fold's text stands for a message of the kept part. It does not while the message is pinned.
func (s *State) Folded(l *compactordv1.LoggedMessage) bool {
	return !Pinned(s.Head, l.GetIndex()) && s.FoldOf(l) != nil
}

// InsideFold reports whether a message of the kept part is folded and is not the first message of its fold, also while it
// is pinned. Neither a cut nor another fold can divide a fold there.
func (s *State) InsideFold(l *compactordv1.LoggedMessage) bool {
	f := s.FoldOf(l)
	return f != nil && !Carries(f)
}

// withoutFolds returns the edits of a message that a summary covers. The text of its fold is not shown there.
func withoutFolds(edits []*compactordv1.Edit) []*compactordv1.Edit {
	if foldIn(edits) == nil {
		return edits
	}
	var others []*compactordv1.Edit
	for _, e := range edits {
		if e.GetKind() != compactordv1.EditKind_EDIT_KIND_FOLD {
			others = append(others, e)
		}
	}
	return others
}

// fold makes a message what views show in its place: the text of the fold that it carries, or nothing.
func (e *editedMessage) fold(f *compactordv1.Edit) {
	e.edited = &compactordv1.Message{Role: e.logged.GetMessage().GetRole()}
	e.sizes, e.kinds = nil, []compactordv1.EditKind{compactordv1.EditKind_EDIT_KIND_FOLD}
	if !Carries(f) {
		return
	}
	text := TextPart(f.GetReplacement())
	e.edited.Parts, e.sizes = []*compactordv1.Part{text}, []uint32{partSize(e.counter, text)}
}

// fold adds the text of a fold at the message that carries it.
func (b *viewBuilder) fold(l *compactordv1.LoggedMessage, f *compactordv1.Edit) {
	if !Carries(f) {
		return
	}
	e := editedMessage{counter: b.counter, logged: l}
	e.fold(f)
	b.add(&compactordv1.ViewMessage{
		Message: e.message(),
		Origin: &compactordv1.ViewMessage_Folded{
			Folded: &compactordv1.IndexRange{Start: f.GetFoldStart(), End: f.GetFoldEnd()},
		},
		Edits:  e.kinds,
		Tokens: e.tokens(),
	})
}
