package sessiontest

import (
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// editsOn are the edits that hold on a message: none while it is pinned.
func (m *Model) editsOn(a *Active) []*compactordv1.Edit {
	if m.pins[a.Index] {
		return nil
	}
	return m.editsOf(a)
}

// editsOf are the edits of a message, whether they hold or not: those of its arrival came first.
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

// edited is a message with the edits that hold on it.
func (m *Model) edited(a *Active) *compactordv1.Message { return m.editedBy(a, m.editsOn(a)) }

// editedBy is a message with edits, and with ids on the calls and results that came without.
func (m *Model) editedBy(a *Active, edits []*compactordv1.Edit) *compactordv1.Message {
	if len(edits) == 0 && !m.lacksID(a) {
		return a.Message
	}
	copied := proto.CloneOf(a.Message)
	m.giveIDs(a, copied)
	// Dropped parts stay as nil to the end, so that the positions in edits hold.
	for _, e := range edits {
		if e.GetKind() == compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP {
			collapse(copied, e.GetReplacement())
		} else {
			edit(copied, int(e.GetPart()), e)
		}
	}
	copied.Parts = slices.DeleteFunc(copied.GetParts(), func(p *compactordv1.Part) bool { return p == nil })
	return copied
}

// Emptied says whether edits take all that a message says but thinking, which views show or not.
func (m *Model) Emptied(a *Active) bool { return m.emptiedBy(a, m.editsOn(a)) }

// emptiedBy is Emptied by these edits. No cut goes before a message that is emptied by all it has, whether they hold or a
// pin lets them rest.
func (m *Model) emptiedBy(a *Active, edits []*compactordv1.Edit) bool {
	takes := slices.ContainsFunc(edits, func(e *compactordv1.Edit) bool {
		return e.GetKind() == compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP ||
			e.GetKind() == compactordv1.EditKind_EDIT_KIND_DROP_THINKING
	})
	for _, p := range m.editedBy(a, edits).GetParts() {
		takes = takes && isThinking(p)
	}
	return takes
}

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

// collapse puts the text in the place of the first call, and drops the others.
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
