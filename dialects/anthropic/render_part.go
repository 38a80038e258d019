package anthropic

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const (
	whyBlank   = "the provider takes no text of nothing but white space"
	whyForeign = "the item belongs to another provider"
	whyBroken  = "the item is no block that the provider takes there"
)

// isBlank reports whether the provider treats a text as empty.
func isBlank(text string) bool {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }) == ""
}

// renderBlocks renders the parts of a USER or ASSISTANT message. It reports parts that cannot be rendered.
func (r *renderer) renderBlocks(i int) []renderedBlock {
	var blocks []renderedBlock
	for j, p := range r.messages[i].GetParts() {
		var b renderedBlock
		ok := true
		switch k := p.GetKind().(type) {
		case *compactordv1.Part_Text:
			b, ok = r.renderText(p, i, j)
		case *compactordv1.Part_Thinking:
			b = r.renderThinking(p, i, j)
		case *compactordv1.Part_ToolCall:
			b = r.renderCall(p, i, j)
		case *compactordv1.Part_Media:
			b = r.renderMedia(p, i, j, r.messages[i].GetRole() == compactordv1.Role_ROLE_USER)
		case *compactordv1.Part_Opaque:
			b, ok = r.renderOpaque(k.Opaque, i, j)
		default:
			ok = false
		}
		if ok {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

func (r *renderer) renderText(p *compactordv1.Part, i, j int) (renderedBlock, bool) {
	if isBlank(p.GetText().GetText()) {
		r.drop(i, j, whyBlank)
		return renderedBlock{}, false
	}
	if len(p.GetAttachments()) == 0 {
		return r.madeText(p.GetText().GetText(), i, j), true
	}
	return renderedBlock{raw: r.by.Object(restored(canonicalBlock(p), p)), typ: typeText, message: i, part: j}, true
}

// renderOpaque renders a block of this dialect that has no neutral meaning.
func (r *renderer) renderOpaque(opaque *compactordv1.OpaquePart, i, j int) (renderedBlock, bool) {
	if opaque.GetDialect() != kind {
		r.drop(i, j, whyForeign)
		return renderedBlock{}, false
	}
	o, raw := ownOpaque(opaque)
	typ, err := o.Text("type")
	if err != nil || typ == "" || !isOpaqueBlock(o, typ, roleOf(r.messages[i])) {
		r.drop(i, j, whyBroken)
		return renderedBlock{}, false
	}
	if typ == typeCompaction && !isCompactionContent(o["content"]) {
		o["content"] = json.RawMessage("null")
		raw = r.by.Object(o)
		r.repair(ruleCompactionContent, i, "a compaction without content is marked as failed")
	}
	return renderedBlock{raw: raw, typ: typ, message: i, part: j}, true
}

// isOpaqueBlock reports whether a block that was kept unchanged can be in a message of this role. Images and documents
// are kept like that only where their source is unknown.
func isOpaqueBlock(o rawjson.Object, typ, role string) bool {
	switch typ {
	case typeText, typeThinking, typeRedactedThinking, typeToolUse, typeToolResult:
		return false
	case typeImage, typeDocument:
		source, err := o.Sub("source")
		from, wrong := source.Text("type")
		known := isKnownSource(from) || typ == typeImage && from == sourceContent
		return role == roleUser && err == nil && wrong == nil && from != "" && !known
	default:
		return role == roleAssistant || !isOfAssistant(typ)
	}
}

// isCompactionContent reports whether the provider accepts the content of a compaction.
func isCompactionContent(content json.RawMessage) bool {
	switch rawjson.KindOf(content) {
	case rawjson.Missing, rawjson.Null:
		return true
	case rawjson.String:
		return string(content) != `""`
	default:
		return false
	}
}

// madeText returns a block with nothing but a text.
func (r *renderer) madeText(text string, message, part int) renderedBlock {
	draft := rawjson.WithText(rawjson.Object{"type": rawjson.Quote(typeText)}, "text", text)
	return renderedBlock{draft: draft, typ: typeText, made: true, message: message, part: part}
}
