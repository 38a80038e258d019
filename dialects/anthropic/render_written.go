package anthropic

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// renderAsWritten renders messages as they were parsed, including their errors.
func renderAsWritten(messages []*compactordv1.Message) *dialect.Rendered {
	w := &writtenRenderer{messages: messages}
	first := w.renderSystem()
	for i := first; i < len(messages); i++ {
		if i == first || !isContinued(messages[i-1], messages[i]) {
			w.endMessage()
			w.message = rawjson.Object{"role": rawjson.Quote(roleOf(messages[i]))}
			w.span.First = i
		}
		w.renderMessage(i)
	}
	w.endMessage()
	dialect.RestoreUnread(kind, &w.out, messages)
	return &w.out
}

type writtenRenderer struct {
	messages []*compactordv1.Message
	out      dialect.Rendered
	// message, blocks and span belong to the provider's message that is being written.
	message rawjson.Object
	blocks  []json.RawMessage
	// placed are the results that came after other content.
	placed []placedBlock
	span   dialect.Span
}

// renderSystem writes the messages of the system prompt, and returns how many there are.
func (w *writtenRenderer) renderSystem() int {
	n := 0
	for n < dialect.LeadingInstructions(w.messages) && !isNoted(w.messages[n].GetAttachments(), notePlace, noteMessages) {
		w.out.System = append(w.out.System, w.renderBlocks(n)...)
		n++
	}
	if n == 1 {
		w.restoreSystem(w.messages[0].GetAttachments())
	}
	if n == 1 && isNoted(w.messages[0].GetAttachments(), noteForm, noteString) {
		w.out.SystemAsText = true
		_, w.out.SystemAsText = systemText(&w.out.List)
	}
	return n
}

// restoreSystem restores the original system prompt where something in it could not be read.
func (w *writtenRenderer) restoreSystem(attachments []*compactordv1.Attachment) {
	raw, found := dialect.WasUnread(kind, attachments)
	if !found {
		return
	}
	if blocks, err := rawjson.ParseArray(raw); err == nil {
		w.out.System = blocks
	}
}

// isContinued reports whether two neutral messages belong to one message of the provider, which holds results and then
// the user's content.
func isContinued(before, m *compactordv1.Message) bool {
	return before.GetRole() == compactordv1.Role_ROLE_TOOL &&
		(m.GetRole() == compactordv1.Role_ROLE_TOOL || m.GetRole() == compactordv1.Role_ROLE_USER) &&
		!isNoted(m.GetAttachments(), noteBegin, noteMessage)
}

func roleOf(m *compactordv1.Message) string {
	switch m.GetRole() {
	case compactordv1.Role_ROLE_ASSISTANT:
		return roleAssistant
	case compactordv1.Role_ROLE_SYSTEM, compactordv1.Role_ROLE_DEVELOPER:
		return roleSystem
	default:
		return roleUser
	}
}

func (w *writtenRenderer) renderMessage(at int) {
	w.span.End = at + 1
	blocks := w.renderBlocks(at)
	place, found := dialect.Noted(w.messages[at].GetAttachments(), kind, noteAt)
	if n, err := strconv.Atoi(place); found && err == nil && len(blocks) == 1 && resultOf(w.messages[at]) != nil {
		w.placed = append(w.placed, placedBlock{n, blocks[0]})
		blocks = nil
	}
	w.blocks = append(w.blocks, blocks...)
	if len(w.blocks)+len(w.placed) == 0 {
		w.message["content"] = json.RawMessage("[]")
	}
	// endMessage replaces the restored content where there are blocks.
	dialect.Restore(w.message, w.messages[at].GetAttachments(), kind, dialect.Guards{"role": dialect.Never})
}

// endMessage appends the finished message to the list.
func (w *writtenRenderer) endMessage() {
	if w.message == nil {
		return
	}
	w.blocks = mergePlaced(w.blocks, w.placed)
	if len(w.blocks) > 0 {
		isString := w.span.End == w.span.First+1 &&
			isNoted(w.messages[w.span.First].GetAttachments(), noteForm, noteString)
		w.message["content"] = encodeContent(w.blocks, isString)
	}
	w.out.Messages = append(w.out.Messages, w.message.Encode())
	w.out.From = append(w.out.From, w.span)
	w.message, w.blocks, w.placed = nil, nil, nil
}

// encodeContent returns blocks as a list. Where isString is set and there is only one text, it returns a string.
func encodeContent(blocks []json.RawMessage, isString bool) json.RawMessage {
	if text, only := onlyText(nil, blocks); only && isString {
		return text
	}
	return rawjson.EncodeArray(blocks)
}

// onlyText returns the text of blocks of which there is only one, without fields but its type and text.
func onlyText(by *dialect.Writer, blocks []json.RawMessage) (json.RawMessage, bool) {
	if len(blocks) != 1 {
		return nil, false
	}
	block, err := by.SplitObject(blocks[0])
	if err != nil {
		return nil, false
	}
	return plainText(block)
}

func (w *writtenRenderer) renderBlocks(at int) []json.RawMessage {
	m := w.messages[at]
	blocks := make([]json.RawMessage, len(m.GetParts()))
	for i, p := range m.GetParts() {
		blocks[i] = w.renderBlock(p, at, i)
	}
	if roleOf(m) == roleSystem {
		return mergePlaced(blocks, placedBlocks(m))
	}
	return blocks
}

// renderBlock renders a part. Where it is no block of this dialect, it becomes text.
func (w *writtenRenderer) renderBlock(p *compactordv1.Part, at, i int) json.RawMessage {
	if p.GetOpaque() != nil {
		if _, block := ownOpaque(p.GetOpaque()); block != nil {
			return block
		}
		w.out.Dropped = append(w.out.Dropped, dialect.Dropped{
			Message: at, Part: i, Why: "an item that is no block of this dialect becomes text",
		})
		return canonicalText(p.GetOpaque().GetJson()).Encode()
	}
	o := canonicalBlock(p)
	if p.GetMedia() != nil {
		source := canonicalSource(p.GetMedia())
		restoreSource(source, p.GetAttachments(), false)
		o["source"] = source.Encode()
	}
	if parts := p.GetToolResult().GetParts(); len(parts) > 0 {
		blocks := make([]json.RawMessage, len(parts))
		for j, inner := range parts {
			blocks[j] = w.renderBlock(dialect.AsPart(inner), at, i)
		}
		o["content"] = encodeContent(blocks, isNoted(p.GetAttachments(), noteForm, noteString))
	}
	dialect.Restore(o, p.GetAttachments(), kind, writtenGuards(p))
	return o.Encode()
}

// ownOpaque returns an opaque part of this dialect as its block. It returns nil for any other part.
func ownOpaque(opaque *compactordv1.OpaquePart) (rawjson.Object, json.RawMessage) {
	raw := json.RawMessage(opaque.GetJson())
	if opaque.GetDialect() != kind {
		return nil, nil
	}
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, nil
	}
	return o, raw
}

// placedBlock is a block with its position in its message.
type placedBlock struct {
	place int
	raw   json.RawMessage
}

func placedBlocks(m *compactordv1.Message) []placedBlock {
	raw, found := dialect.Attached(m.GetAttachments(), kind, dialect.NotePrefix+noteBlocks)
	if !found {
		return nil
	}
	fields, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil
	}
	var others []placedBlock
	for key, block := range fields {
		if place, err := strconv.Atoi(key); err == nil && rawjson.KindOf(block) == rawjson.ObjectKind {
			others = append(others, placedBlock{place, block})
		}
	}
	slices.SortFunc(others, func(a, b placedBlock) int { return a.place - b.place })
	return others
}

// mergePlaced puts blocks back to their positions.
func mergePlaced(blocks []json.RawMessage, others []placedBlock) []json.RawMessage {
	if len(others) == 0 {
		return blocks
	}
	all := make([]json.RawMessage, 0, len(blocks)+len(others))
	for len(blocks)+len(others) > 0 {
		if len(others) > 0 && (others[0].place <= len(all) || len(blocks) == 0) {
			all, others = append(all, others[0].raw), others[1:]
		} else {
			all, blocks = append(all, blocks[0]), blocks[1:]
		}
	}
	return all
}
