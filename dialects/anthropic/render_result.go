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
	var blocks []renderedBlock
	for _, inner := range result.GetParts() {
		if b, ok := r.renderResultPart(dialect.AsPart(inner), i, result.GetIsError()); ok {
			blocks = append(blocks, b)
		}
	}
	if result.GetIsError() {
		o["is_error"] = json.RawMessage("true")
		if len(blocks) == 0 {
			blocks = []renderedBlock{r.madeText(wording.FailedResult(""), i, 0)}
			r.repair(ruleFailedResults, i, "a failed result without content says that the tool failed")
		}
	}
	o = restored(o, p)
	b := renderedBlock{typ: typeToolResult, id: id, message: i}
	if len(blocks) == 0 {
		b.raw = r.by.Object(o)
		return b
	}
	b.draft = r.withContent(o, blocks, isNoted(p.GetAttachments(), noteForm, noteString))
	if b.made = len(p.GetAttachments()) == 0 && areMade(blocks); !b.made {
		b.raw = r.by.Write(b.draft)
	}
	return b
}

// withContent returns a message or a result whose content are these blocks. Where isString is set and there is only one
// text, the content is a string.
func (r *renderer) withContent(o rawjson.Object, blocks []renderedBlock, isString bool) rawjson.Draft {
	if isString && len(blocks) == 1 {
		b := &blocks[0]
		if b.raw == nil && b.typ == typeText {
			return rawjson.WithText(o, "content", b.draft.Text())
		}
		if text, only := onlyText(r.by, []json.RawMessage{r.written(b)}); only {
			o["content"] = text
			return rawjson.Whole(o)
		}
	}
	drafts := make([]rawjson.Draft, len(blocks))
	for i, b := range blocks {
		drafts[i] = b.draft
		if b.raw != nil {
			drafts[i] = rawjson.Written(b.raw)
		}
	}
	return rawjson.WithArray(o, "content", drafts)
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
