package sessiontest

import (
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// foldOf returns the newest FOLD edit of a message, also while it is pinned; nil where there is none.
func (m *Model) foldOf(a *Active) *compactordv1.Edit {
	var newest *compactordv1.Edit
	for _, e := range m.edits[a.Index] {
		if e.GetKind() == compactordv1.EditKind_EDIT_KIND_FOLD {
			newest = e
		}
	}
	return newest
}

// Folded reports whether the text of a fold stands for a message.
func (m *Model) Folded(a *Active) bool { return !m.pins[a.Index] && m.foldOf(a) != nil }

// insideFold reports whether a message of the same fold comes before this one.
func (m *Model) insideFold(a *Active) bool {
	f := m.foldOf(a)
	return f != nil && f.GetFoldStart() < a.Index
}

// foldText returns the message that shows the text of a fold, at the first message of the fold.
func (m *Model) foldText(a *Active) []*compactordv1.ViewMessage {
	f := m.foldOf(a)
	if f == nil || m.insideFold(a) {
		return nil
	}
	shown := &compactordv1.Message{
		Role: a.Message.GetRole(), Parts: []*compactordv1.Part{text(f.GetReplacement())},
	}
	return []*compactordv1.ViewMessage{m.shown(shown, &compactordv1.ViewMessage{
		Origin: &compactordv1.ViewMessage_Folded{
			Folded: &compactordv1.IndexRange{Start: f.GetFoldStart(), End: f.GetFoldEnd()},
		},
		Edits: []compactordv1.EditKind{compactordv1.EditKind_EDIT_KIND_FOLD},
	})}
}

// Foldable returns the kept messages from start to end (exclusive) if they can be folded: whole turns, or whole tool
// groups of one turn, none of them pinned, and no part of another fold without the rest. Otherwise it returns nil.
func (m *Model) Foldable(start, end uint32) []*Active {
	var within []*Active
	next := m.log.Messages(m.Point)
	for _, a := range m.Kept() {
		switch {
		case a.Index >= end:
			next = min(next, a.Index)
		case a.Index >= start:
			within = append(within, a)
		}
	}
	if len(within) == 0 || within[0].Index != start || !m.beginsFold(within[0]) || m.straddled(next) {
		return nil
	}
	after := m.Find(next)
	if after != nil && m.insideFold(after) {
		return nil
	}
	turns := 0
	for _, a := range within {
		if m.pins[a.Index] {
			return nil
		}
		if session.StartsTurn(a.Message) {
			turns++
		}
	}
	wholeTurns := session.StartsTurn(within[0].Message) && (after == nil || session.StartsTurn(after.Message))
	if turns > 0 && !wholeTurns {
		return nil
	}
	return within
}

// beginsFold reports whether a range can begin with a message: views show it, and what is before it goes with nothing
// after it.
func (m *Model) beginsFold(a *Active) bool {
	return a.is(compactordv1.Role_ROLE_USER, compactordv1.Role_ROLE_ASSISTANT) && !a.Failed() &&
		!m.straddled(a.Index) && !m.insideFold(a)
}

// FoldableRanges returns all ranges that can be folded, as pairs of the first index and the index after the last.
func (m *Model) FoldableRanges() [][2]uint32 {
	var all [][2]uint32
	for i, first := range m.Kept() {
		if !m.beginsFold(first) {
			continue
		}
		for _, last := range m.Kept()[i:] {
			if slices.Contains(m.Foldable(first.Index, last.Index+1), last) {
				all = append(all, [2]uint32{first.Index, last.Index + 1})
			}
		}
	}
	return all
}
