package gemini

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// writtenRenderer renders messages as they were parsed.
type writtenRenderer struct {
	out *dialect.Rendered
	// open is the content with results that is being written.
	open  *writtenContent
	first int
}

// writtenContent is a content that was parsed into several messages.
type writtenContent struct {
	fields      rawjson.Object
	attachments []*compactordv1.Attachment
	results     []placedPart
	parts       []json.RawMessage
}

// placedPart is a result with its position among the parts of its content.
type placedPart struct {
	at   int
	part json.RawMessage
}

func renderAsWritten(messages []*compactordv1.Message) *dialect.Rendered {
	w := &writtenRenderer{out: &dialect.Rendered{}}
	lead := dialect.LeadingInstructions(messages)
	w.renderSystem(messages[:lead])
	for at, m := range messages[lead:] {
		w.renderMessage(lead+at, m)
	}
	w.endContent(len(messages))
	dialect.RestoreUnread(kind, w.out, messages)
	return w.out
}

// renderSystem renders the messages at the start as one instruction, in the form of the first.
func (w *writtenRenderer) renderSystem(messages []*compactordv1.Message) {
	if len(messages) == 0 {
		return
	}
	if raw, found := dialect.WasUnread(kind, messages[0].GetAttachments()); found && len(messages) == 1 {
		w.out.System = []json.RawMessage{raw}
		return
	}
	c := &writtenContent{fields: rawjson.Object{}, attachments: messages[0].GetAttachments()}
	for at, m := range messages {
		c.parts = append(c.parts, w.renderParts(at, m)...)
	}
	if noted(c.attachments, noteSystem) == plainText && len(c.parts) == 1 {
		if o, err := rawjson.ParseObject(c.parts[0]); err == nil && rawjson.KindOf(o[fieldText]) == rawjson.String {
			w.out.System = []json.RawMessage{o[fieldText]}
			return
		}
	}
	w.out.System = []json.RawMessage{c.encode()}
}

func (w *writtenRenderer) renderMessage(at int, m *compactordv1.Message) {
	place := noted(m.GetAttachments(), noteContent)
	switch {
	case m.GetRole() == compactordv1.Role_ROLE_TOOL:
		if w.open == nil || place == newContent {
			w.beginContent(at, roleUser, m)
		}
		w.open.result(m)
		return
	case m.GetRole() == compactordv1.Role_ROLE_USER && place == sameContent && w.open != nil:
		w.open.parts = w.renderParts(at, m)
	case m.GetRole() == compactordv1.Role_ROLE_ASSISTANT:
		w.beginContent(at, roleModel, m)
		w.open.parts = w.renderParts(at, m)
	case m.GetRole() == compactordv1.Role_ROLE_USER:
		w.beginContent(at, roleUser, m)
		w.open.parts = w.renderParts(at, m)
	default:
		w.beginContent(at, roleUser, nil)
		w.open.parts = []json.RawMessage{canonicalText(instructionText(m)).fields.Encode()}
	}
	w.endContent(at + 1)
}

func (w *writtenRenderer) beginContent(at int, role string, m *compactordv1.Message) {
	w.endContent(at)
	w.open = &writtenContent{fields: rawjson.Object{"role": rawjson.Quote(role)}, attachments: m.GetAttachments()}
	w.first = at
}

func (w *writtenRenderer) endContent(end int) {
	if w.open == nil {
		return
	}
	w.out.Messages = append(w.out.Messages, w.open.encode())
	w.out.From = append(w.out.From, dialect.Span{First: w.first, End: end})
	w.open = nil
}

// result adds the result of a TOOL message at its original position.
func (c *writtenContent) result(m *compactordv1.Message) {
	at := len(c.results)
	if n, err := strconv.Atoi(noted(m.GetAttachments(), noteAt)); err == nil && n >= 0 {
		at = n
	}
	for _, p := range m.GetParts() {
		if part := renderWrittenPart(p); part != nil {
			c.results = append(c.results, placedPart{at: at, part: part})
		}
	}
}

// all returns the parts in their original order.
func (c *writtenContent) all() []json.RawMessage {
	slices.SortStableFunc(c.results, func(a, b placedPart) int { return cmp.Compare(a.at, b.at) })
	all := make([]json.RawMessage, 0, len(c.results)+len(c.parts))
	others := c.parts
	for _, r := range c.results {
		for len(all) < r.at && len(others) > 0 {
			all, others = append(all, others[0]), others[1:]
		}
		all = append(all, r.part)
	}
	return append(all, others...)
}

func (c *writtenContent) encode() json.RawMessage {
	parts := c.all()
	c.fields["parts"] = rawjson.EncodeArray(parts)
	if noted(c.attachments, noteParts) == onePart && len(parts) == 1 {
		c.fields["parts"] = parts[0]
	}
	dialect.Restore(c.fields, c.attachments, kind, dialect.Guards{
		"parts": func(json.RawMessage) bool { return len(parts) == 0 },
	})
	return c.fields.Encode()
}

func (w *writtenRenderer) renderParts(at int, m *compactordv1.Message) []json.RawMessage {
	var parts []json.RawMessage
	for i, p := range m.GetParts() {
		if part := renderWrittenPart(p); part != nil {
			parts = append(parts, part)
			continue
		}
		w.out.Dropped = append(w.out.Dropped, dialect.Dropped{
			Message: at, Part: i, Why: "an item of another provider has no place in Gemini's contents",
		})
	}
	return parts
}

// renderWrittenPart renders a part as it was written. It returns nil for an opaque part of another provider.
func renderWrittenPart(p *compactordv1.Part) json.RawMessage {
	var d *canonicalPart
	switch k := p.GetKind().(type) {
	case *compactordv1.Part_Text:
		d = canonicalText(k.Text.GetText())
	case *compactordv1.Part_Thinking:
		d = canonicalThinking(k.Thinking.GetText())
	case *compactordv1.Part_ToolCall:
		d = canonicalCall(k.ToolCall)
	case *compactordv1.Part_ToolResult:
		d = canonicalWrittenResult(k.ToolResult, noted(p.GetAttachments(), noteResponse))
	case *compactordv1.Part_Media:
		d = canonicalMedia(k.Media)
	case *compactordv1.Part_Opaque:
		if dialect.IsOwn(kind, k.Opaque) {
			return json.RawMessage(k.Opaque.GetJson())
		}
		return nil
	default:
		return nil
	}
	return d.restore(nil, p.GetAttachments()).Encode()
}
