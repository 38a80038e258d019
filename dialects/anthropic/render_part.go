package anthropic

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

const (
	whyBlank   = "the provider takes no text of nothing but white space"
	whyForeign = "the item belongs to another provider"
	whyBroken  = "the item is no block that the provider takes there"
)

// isBlank says whether the provider takes a text for empty.
func isBlank(text string) bool {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }) == ""
}

// blocksOf renders the parts of a message of the user or the assistant. What cannot be rendered is reported.
func (r *request) blocksOf(i int) []block {
	var blocks []block
	for j, p := range r.messages[i].GetParts() {
		var b block
		ok := true
		switch k := p.GetKind().(type) {
		case *compactordv1.Part_Text:
			b, ok = r.textBlock(p, i, j)
		case *compactordv1.Part_Thinking:
			b = r.thinkingBlock(p, i, j)
		case *compactordv1.Part_ToolCall:
			b = r.callBlock(p, i, j)
		case *compactordv1.Part_Media:
			b = r.mediaOrLine(p, i, j, r.messages[i].GetRole() == compactordv1.Role_ROLE_USER)
		case *compactordv1.Part_Opaque:
			b, ok = r.opaqueBlock(k.Opaque, i, j)
		default:
			ok = false
		}
		if ok {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// restored lays a part's own fields over what the part alone is written as.
func restored(o rawjson.Object, p *compactordv1.Part) rawjson.Object {
	if len(p.GetAttachments()) > 0 {
		dialect.Restore(o, p.GetAttachments(), kind, requestGuards(p))
	}
	return o
}

func (r *request) textBlock(p *compactordv1.Part, i, j int) (block, bool) {
	if isBlank(p.GetText().GetText()) {
		r.dropped(i, j, whyBlank)
		return block{}, false
	}
	return block{raw: restored(usualBlock(p), p).Encode(), typ: typeText, message: i, part: j}, true
}

func (r *request) thinkingBlock(p *compactordv1.Part, i, j int) block {
	o := restored(usualBlock(p), p)
	typ, proof := typeThinking, "signature"
	if p.GetThinking().GetRedacted() {
		typ, proof = typeRedactedThinking, "data"
	}
	signature, err := o.Text(proof)
	return block{raw: o.Encode(), typ: typ, message: i, part: j, foreign: err != nil || signature == ""}
}

func (r *request) callBlock(p *compactordv1.Part, i, j int) block {
	call := p.GetToolCall()
	id, changed := r.ids.Of(p)
	if changed {
		r.repaired(ruleCallIDs, i, "a call has another id, since the provider does not take its own")
	}
	name := cleanName(call.GetName())
	if name != call.GetName() {
		r.repaired(ruleToolNames, i, "a tool's name is changed, since the provider does not take it")
	}
	input, changed := dialect.ArgumentsObject(call.GetArguments())
	if changed {
		r.repaired(ruleInputObject, i, "arguments that are no JSON object are put as text into one")
	}
	o := rawjson.Object{
		"type": rawjson.Quote(typeToolUse), "id": rawjson.Quote(id), "name": rawjson.Quote(name), "input": input,
	}
	return block{raw: restored(o, p).Encode(), typ: typeToolUse, id: id, message: i, part: j}
}

func cleanName(name string) string {
	name = dialect.CleanID(name)
	return name[:min(len(name), maxToolName)]
}

// mediaOrLine renders an image or document, or, where the provider cannot take it, a line of text that tells of it.
func (r *request) mediaOrLine(p *compactordv1.Part, i, j int, taken bool) block {
	why := "the assistant's messages hold no images and documents"
	if taken {
		var o rawjson.Object
		if o, why = mediaBlock(p); o != nil {
			typ, _ := o.Text("type")
			return block{raw: o.Encode(), typ: typ, message: i, part: j}
		}
	}
	r.dropped(i, j, why)
	return r.made(session.MediaLine(p.GetMedia()), i, j)
}

// opaqueBlock renders a block of this dialect that has no neutral meaning.
func (r *request) opaqueBlock(opaque *compactordv1.OpaquePart, i, j int) (block, bool) {
	if opaque.GetDialect() != kind {
		r.dropped(i, j, whyForeign)
		return block{}, false
	}
	o, raw := ownBlock(opaque)
	typ, err := o.Text("type")
	if err != nil || typ == "" || !opaqueTakes(o, typ, roleOf(r.messages[i])) {
		r.dropped(i, j, whyBroken)
		return block{}, false
	}
	if typ == typeCompaction && !compactionSays(o["content"]) {
		o["content"] = json.RawMessage("null")
		raw = o.Encode()
		r.repaired(ruleCompactionContent, i, "a compaction that says nothing is marked as failed")
	}
	return block{raw: raw, typ: typ, message: i, part: j}, true
}

// opaqueTakes says whether a block that is kept as it was written may stand in a message of this role. Types that have a
// neutral meaning are kept so only where they come from a source that is not known.
func opaqueTakes(o rawjson.Object, typ, role string) bool {
	switch typ {
	case typeText, typeThinking, typeRedactedThinking, typeToolUse, typeToolResult:
		return false
	case typeImage, typeDocument:
		source, err := o.Sub("source")
		from, wrong := source.Text("type")
		known := knownSource(from) || typ == typeImage && from == sourceContent
		return role == roleUser && err == nil && wrong == nil && from != "" && !known
	default:
		return role == roleAssistant || !ofAssistant(typ)
	}
}

// compactionSays says whether the content of a compaction is one that the provider takes.
func compactionSays(content json.RawMessage) bool {
	switch rawjson.KindOf(content) {
	case rawjson.Missing, rawjson.Null:
		return true
	case rawjson.String:
		return string(content) != `""`
	default:
		return false
	}
}

// resultBlock renders a tool's result.
func (r *request) resultBlock(p *compactordv1.Part, i int) block {
	result := p.GetToolResult()
	id, _ := r.ids.Of(p)
	o := rawjson.Object{"type": rawjson.Quote(typeToolResult), "tool_use_id": rawjson.Quote(id)}
	var blocks []json.RawMessage
	for _, inner := range result.GetParts() {
		if b, ok := r.innerBlock(partOf(inner), i, result.GetIsError()); ok {
			blocks = append(blocks, b.raw)
		}
	}
	if result.GetIsError() {
		o["is_error"] = json.RawMessage("true")
		if len(blocks) == 0 {
			blocks = []json.RawMessage{r.made(dialect.ErrorResultText(""), i, 0).raw}
			r.repaired(ruleFailedResults, i, "a failed result without content says that the tool failed")
		}
	}
	if len(blocks) > 0 {
		o["content"] = encodeContent(blocks, noted(p.GetAttachments(), noteForm, noteString))
	}
	return block{raw: restored(o, p).Encode(), typ: typeToolResult, id: id, message: i}
}

// innerBlock renders a piece of a result. A failed result holds text only.
func (r *request) innerBlock(p *compactordv1.Part, i int, failed bool) (block, bool) {
	switch k := p.GetKind().(type) {
	case *compactordv1.Part_Media:
		if failed {
			r.dropped(i, 0, "a failed result holds text only")
			return r.made(session.MediaLine(k.Media), i, 0), true
		}
		return r.mediaOrLine(p, i, 0, true), true
	case *compactordv1.Part_Opaque:
		b, ok := r.opaqueBlock(k.Opaque, i, 0)
		if ok && (failed || !resultTakes(b.typ)) {
			r.dropped(i, 0, whyBroken)
			return block{}, false
		}
		return b, ok
	default:
		return r.textBlock(p, i, 0)
	}
}
