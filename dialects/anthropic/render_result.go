package anthropic

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// resultOf returns the part with the tool result of a TOOL message.
func resultOf(m *compactordv1.Message) *compactordv1.Part {
	for _, p := range m.GetParts() {
		if p.GetToolResult() != nil {
			return p
		}
	}
	return nil
}

// renderResult adds a tool result to the message after its call.
func (r *renderer) renderResult(i int) {
	p := resultOf(r.messages[i])
	if p == nil {
		return
	}
	b := r.renderResultBlock(p, i)
	t := r.messageFor(roleUser, i)
	if len(t.rest) > 0 {
		r.repair(ruleResultsFirst, i, "the result is moved before the content between it and its call")
	}
	t.results = append(t.results, b)
	delete(r.open, b.id)
}

// renderResultBlock renders a tool's result.
func (r *renderer) renderResultBlock(p *compactordv1.Part, i int) renderedBlock {
	result := p.GetToolResult()
	id, _ := r.ids.Of(p)
	o := rawjson.Object{"type": rawjson.Quote(typeToolResult), "tool_use_id": rawjson.Quote(id)}
	var blocks []json.RawMessage
	made := len(p.GetAttachments()) == 0
	for _, inner := range result.GetParts() {
		if b, ok := r.renderResultPart(dialect.AsPart(inner), i, result.GetIsError()); ok {
			blocks, made = append(blocks, b.raw), made && b.made
		}
	}
	if result.GetIsError() {
		o["is_error"] = json.RawMessage("true")
		if len(blocks) == 0 {
			blocks = []json.RawMessage{r.madeText(wording.FailedResult(""), i, 0).raw}
			r.repair(ruleFailedResults, i, "a failed result without content says that the tool failed")
		}
	}
	o = restored(o, p)
	if len(blocks) == 0 {
		return renderedBlock{raw: r.by.Object(o), typ: typeToolResult, id: id, message: i}
	}
	raw := r.objectWithContent(o, blocks, isNoted(p.GetAttachments(), noteForm, noteString))
	return renderedBlock{raw: raw, typ: typeToolResult, id: id, made: made, message: i}
}

// objectWithContent writes a message or a result whose content are these blocks. Where isString is set and there is only
// one text, the content is a string.
func (r *renderer) objectWithContent(o rawjson.Object, blocks []json.RawMessage, isString bool) json.RawMessage {
	if isString {
		if text, only := onlyText(r.by, blocks); only {
			o["content"] = text
			return r.by.Object(o)
		}
	}
	return r.by.ObjectWithArray(o, "content", blocks)
}

// renderResultPart renders a part of a tool result. A result that is an error can hold only text.
func (r *renderer) renderResultPart(p *compactordv1.Part, i int, failed bool) (renderedBlock, bool) {
	switch k := p.GetKind().(type) {
	case *compactordv1.Part_Media:
		if failed {
			r.drop(i, 0, "a failed result holds text only")
			return r.madeText(wording.MediaLine(k.Media), i, 0), true
		}
		return r.renderMedia(p, i, 0, true), true
	case *compactordv1.Part_Opaque:
		b, ok := r.renderOpaque(k.Opaque, i, 0)
		if ok && (failed || !isResultBlock(b.typ)) {
			r.drop(i, 0, whyBroken)
			return renderedBlock{}, false
		}
		return b, ok
	default:
		return r.renderText(p, i, 0)
	}
}
