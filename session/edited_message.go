package session

import (
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// editedMessage is a message of the log while it is made ready for a view. It shares the log's message until something
// changes it.
type editedMessage struct {
	counter Counter
	logged  *compactordv1.LoggedMessage
	edited  *compactordv1.Message
	sizes   []uint32
	kinds   []compactordv1.EditKind
}

func (e *editedMessage) message() *compactordv1.Message {
	if e.edited != nil {
		return e.edited
	}
	return e.logged.GetMessage()
}

func (e *editedMessage) tokens() uint32 {
	if e.edited == nil {
		return e.logged.GetTokens()
	}
	return e.counter.Tokens(sum(e.sizes))
}

// change returns a copy that may be changed. It has its own slice of parts, but shares the parts.
func (e *editedMessage) change() *compactordv1.Message {
	if e.edited == nil {
		m := e.logged.GetMessage()
		e.edited = &compactordv1.Message{
			Role: m.GetRole(), Origin: m.GetOrigin(), StopReason: m.GetStopReason(), Usage: m.GetUsage(),
			Model: m.GetModel(), Name: m.GetName(), Attachments: m.GetAttachments(), SourcePosition: m.SourcePosition,
			ErrorText: m.GetErrorText(), WrittenAt: m.GetWrittenAt(), Parts: slices.Clone(m.GetParts()),
		}
		e.sizes = slices.Clone(e.sizes)
	}
	return e.edited
}

func (e *editedMessage) setPart(i int, p *compactordv1.Part) {
	e.change().Parts[i] = p
	e.sizes[i] = partSize(e.counter, p)
}

// apply applies the edits in force, oldest first. Of several edits that replace a whole result, the newest one wins. Where
// the message is folded, nothing else of it is shown.
func (e *editedMessage) apply(edits []*compactordv1.Edit) {
	if f := foldIn(edits); f != nil {
		e.fold(f)
		return
	}
	parts := e.logged.GetMessage().GetParts()
	dropped := make(map[int]bool)
	for _, edit := range edits {
		i := int(edit.GetPart())
		if edit.GetKind() == compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP {
			e.collapse(edit.GetReplacement(), dropped)
		} else if i < len(parts) {
			e.replace(i, edit, dropped)
		}
		if !slices.Contains(e.kinds, edit.GetKind()) {
			e.kinds = append(e.kinds, edit.GetKind())
		}
	}
	e.drop(func(i int, _ *compactordv1.Part) bool { return dropped[i] })
}

func (e *editedMessage) replace(i int, edit *compactordv1.Edit, dropped map[int]bool) {
	p := e.message().GetParts()[i]
	text := edit.GetReplacement()
	switch edit.GetKind() {
	case compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT,
		compactordv1.EditKind_EDIT_KIND_OFFLOAD_RESULT, compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT:
		if r := p.GetToolResult(); r != nil {
			e.setPart(i, resultPart(p, r, []*compactordv1.ResultPart{resultText(text)}))
		}
	case compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS:
		if call := p.GetToolCall(); call != nil {
			e.setPart(i, callPart(p, call.GetId(), call.GetName(), text))
		}
	case compactordv1.EditKind_EDIT_KIND_DROP_THINKING:
		dropped[i] = p.GetThinking() != nil
	case compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA:
		e.replaceMedia(i, p, text)
	default:
	}
}

func (e *editedMessage) replaceMedia(i int, p *compactordv1.Part, text string) {
	if p.GetMedia() != nil {
		e.setPart(i, TextPart(text))
		return
	}
	r := p.GetToolResult()
	if r == nil {
		return
	}
	// One text describes all media of the result, so it takes the place of the first.
	var parts []*compactordv1.ResultPart
	placed := false
	for _, rp := range r.GetParts() {
		switch {
		case rp.GetMedia() == nil:
			parts = append(parts, rp)
		case !placed:
			parts = append(parts, resultText(text))
			placed = true
		}
	}
	e.setPart(i, resultPart(p, r, parts))
}

// collapse replaces the first call by one text and drops the others.
func (e *editedMessage) collapse(text string, dropped map[int]bool) {
	placed := text == ""
	for i, p := range e.message().GetParts() {
		if p.GetToolCall() == nil {
			continue
		}
		if placed {
			dropped[i] = true
			continue
		}
		e.setPart(i, TextPart(text))
		placed = true
	}
}

// nameCalls sets an id in calls and results that came without one.
func (e *editedMessage) nameCalls() {
	for i, p := range e.message().GetParts() {
		if call := p.GetToolCall(); call != nil && call.GetId() == "" {
			// Ids have no size, so the size does not change.
			e.change().Parts[i] = callPart(p,
				CallID(call, e.logged.GetIndex(), uint32(i)), call.GetName(), call.GetArguments())
		}
		if r := p.GetToolResult(); r != nil && r.GetCallId() == "" && e.logged.GetAnswers() != nil {
			named := proto.CloneOf(r)
			named.CallId = e.logged.GetAnswers().GetId()
			e.change().Parts[i] = &compactordv1.Part{
				Kind:        &compactordv1.Part_ToolResult{ToolResult: named},
				Attachments: p.GetAttachments(),
			}
		}
	}
}

// dropThinking drops all thinking and reports whether there was any.
func (e *editedMessage) dropThinking() bool {
	return e.drop(func(_ int, p *compactordv1.Part) bool { return p.GetThinking() != nil })
}

func (e *editedMessage) drop(gone func(i int, p *compactordv1.Part) bool) bool {
	var parts []*compactordv1.Part
	var sizes []uint32
	for i, p := range e.message().GetParts() {
		if !gone(i, p) {
			parts = append(parts, p)
			sizes = append(sizes, e.sizes[i])
		}
	}
	if len(parts) == len(e.message().GetParts()) {
		return false
	}
	e.change().Parts, e.sizes = parts, sizes
	return true
}

// emptied reports whether edits have removed everything but thinking. Each view decides for itself whether it shows the
// thinking.
func (e *editedMessage) emptied() bool {
	return (slices.Contains(e.kinds, compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP) ||
		slices.Contains(e.kinds, compactordv1.EditKind_EDIT_KIND_DROP_THINKING) ||
		slices.Contains(e.kinds, compactordv1.EditKind_EDIT_KIND_FOLD)) &&
		!slices.ContainsFunc(e.message().GetParts(), func(p *compactordv1.Part) bool { return p.GetThinking() == nil })
}

// emptied reports whether edits have removed everything but thinking from a message in views. Some views show the
// thinking and some do not, so nothing may depend on it. What is replayed is shown whatever was edited.
func (s *State) emptied(l *compactordv1.LoggedMessage) bool {
	return !Pinned(s.Head, l.GetIndex()) && !Replayed(s.Head, l.GetIndex()) && s.Emptied(l)
}

// Emptied reports whether the edits of a message remove everything but thinking from it, also where a pin keeps views
// from applying them. No kept part may begin with such a message, since views may begin with the next one.
func (s *State) Emptied(l *compactordv1.LoggedMessage) bool {
	if len(s.Edits[l.GetIndex()]) == 0 {
		return false
	}
	e := editedMessage{counter: s.Counter, logged: l, sizes: l.GetPartSizes()}
	e.apply(s.EditsOf(l))
	return e.emptied()
}

func resultText(text string) *compactordv1.ResultPart {
	return &compactordv1.ResultPart{
		Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: text}},
	}
}

func resultPart(
	p *compactordv1.Part, r *compactordv1.ToolResult, parts []*compactordv1.ResultPart,
) *compactordv1.Part {
	return &compactordv1.Part{
		Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
			CallId: r.GetCallId(), Name: r.GetName(), IsError: r.GetIsError(), Files: r.GetFiles(), Parts: parts,
		}},
		Attachments: p.GetAttachments(),
	}
}

func callPart(p *compactordv1.Part, id, name, arguments string) *compactordv1.Part {
	return &compactordv1.Part{
		Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{
			Id: id, Name: name, Arguments: arguments,
		}},
		Attachments: p.GetAttachments(),
	}
}
