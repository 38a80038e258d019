package sessiontest

import (
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// editsOn returns the edits that apply to a message: none while it is pinned, and no fold where a summary covers it.
func (m *Model) editsOn(a *Active) []*compactordv1.Edit {
	if m.pins[a.Index] {
		return nil
	}
	if slices.Contains(m.Covered(), a) {
		return slices.DeleteFunc(m.editsOf(a), isFold)
	}
	return m.editsOf(a)
}

// editsOf returns all edits of a message, its arrival edits first, also while it is pinned.
func (m *Model) editsOf(a *Active) []*compactordv1.Edit {
	return slices.Concat(a.Arrival, m.edits[a.Index])
}

func (m *Model) editKinds(a *Active) []compactordv1.EditKind {
	var kinds []compactordv1.EditKind
	for _, e := range m.editsOn(a) {
		if !slices.Contains(kinds, e.GetKind()) {
			kinds = append(kinds, e.GetKind())
		}
	}
	return kinds
}

// edited returns a message with the edits that apply to it.
func (m *Model) edited(a *Active) *compactordv1.Message { return m.editedBy(a, m.editsOn(a)) }

// editedBy returns a message with edits, and with ids in calls and results that came without.
func (m *Model) editedBy(a *Active, edits []*compactordv1.Edit) *compactordv1.Message {
	if len(edits) == 0 && !m.lacksID(a) {
		return a.Message
	}
	copied := proto.CloneOf(a.Message)
	m.giveIDs(a, copied)
	// Dropped parts stay as nil until the end, so that the positions in edits are right.
	for _, e := range edits {
		switch e.GetKind() {
		case compactordv1.EditKind_EDIT_KIND_FOLD:
		case compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP:
			collapse(copied, e.GetReplacement())
		default:
			edit(copied, int(e.GetPart()), e)
		}
	}
	copied.Parts = slices.DeleteFunc(copied.GetParts(), func(p *compactordv1.Part) bool { return p == nil })
	return copied
}

// Emptied reports whether edits remove everything but thinking, which only some views show.
func (m *Model) Emptied(a *Active) bool { return m.emptiedBy(a, m.editsOn(a)) }

// emptiedBy is Emptied with these edits. No cut is valid before a message that all its edits together empty, even where
// a pin keeps them from applying.
func (m *Model) emptiedBy(a *Active, edits []*compactordv1.Edit) bool {
	if slices.ContainsFunc(edits, isFold) {
		return m.insideFold(a)
	}
	takes := slices.ContainsFunc(edits, func(e *compactordv1.Edit) bool {
		return e.GetKind() == compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP ||
			e.GetKind() == compactordv1.EditKind_EDIT_KIND_DROP_THINKING
	})
	for _, p := range m.editedBy(a, edits).GetParts() {
		takes = takes && isThinking(p)
	}
	return takes
}

func isFold(e *compactordv1.Edit) bool { return e.GetKind() == compactordv1.EditKind_EDIT_KIND_FOLD }

func (m *Model) lacksID(a *Active) bool {
	return slices.ContainsFunc(a.Message.GetParts(), func(p *compactordv1.Part) bool {
		return p.GetToolCall() != nil && p.GetToolCall().GetId() == "" ||
			p.GetToolResult() != nil && p.GetToolResult().GetCallId() == "" && a.Answers != nil
	})
}

func (m *Model) giveIDs(a *Active, copied *compactordv1.Message) {
	for _, c := range a.calls {
		copied.GetParts()[c.Part].GetToolCall().Id = c.ID
	}
	if a.Answers != nil && copied.GetParts()[0].GetToolResult().GetCallId() == "" {
		copied.GetParts()[0].GetToolResult().CallId = a.Answers.ID
	}
}

func edit(message *compactordv1.Message, part int, e *compactordv1.Edit) {
	p := message.GetParts()[part]
	words := []*compactordv1.ResultPart{{
		Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: e.GetReplacement()}},
	}}
	switch e.GetKind() {
	case compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT,
		compactordv1.EditKind_EDIT_KIND_OFFLOAD_RESULT, compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT:
		p.GetToolResult().Parts = words
	case compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS:
		if call := p.GetToolCall(); call != nil {
			call.Arguments = e.GetReplacement()
		}
	case compactordv1.EditKind_EDIT_KIND_DROP_THINKING:
		message.Parts[part] = nil
	case compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA:
		if p.GetMedia() != nil {
			message.Parts[part] = text(e.GetReplacement())
		}
		if r := p.GetToolResult(); r != nil {
			isMedia := func(rp *compactordv1.ResultPart) bool { return rp.GetMedia() != nil }
			if first := slices.IndexFunc(r.GetParts(), isMedia); first >= 0 {
				r.Parts[first] = words[0]
				r.Parts = slices.DeleteFunc(r.GetParts(), isMedia)
			}
		}
	default:
	}
}

// collapse replaces the first call by the text and drops the others.
func collapse(message *compactordv1.Message, words string) {
	for i, p := range message.GetParts() {
		if p.GetToolCall() == nil {
			continue
		}
		message.Parts[i] = nil
		if words != "" {
			message.Parts[i] = text(words)
			words = ""
		}
	}
}
