package gemini

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// renderResult adds a result to those of the same batch. They follow their calls once all of them are known.
func (r *renderer) renderResult(at int, p *compactordv1.Part) {
	answered := r.calls[r.ids.PairOf(p)]
	stray := answered == nil || !answered.open
	switch {
	case stray && r.missing > 0:
		r.held = append(r.held, at)
	case stray:
		r.renderStray(at, p)
	default:
		answered.result, answered.open = at, false
		if r.missing--; r.missing == 0 {
			r.renderResponses(at)
		}
	}
}

// renderResponses adds the content with the responses after that of their calls, and then the messages that were
// between them.
func (r *renderer) renderResponses(last int) {
	if !slices.IsSortedFunc(r.waiting, func(a, b *renderedCall) int { return cmp.Compare(a.result, b.result) }) {
		r.repair(ruleCallsAnswered, last, "the results were put in the order of their calls")
	}
	responses := &renderedContent{role: roleUser, responses: true, span: dialect.Span{First: last, End: last + 1}}
	for _, c := range r.waiting {
		p := r.messages[c.result].GetParts()[0]
		part := renderFunctionResponse(r.by, p, c.id, c.name, func(why string) { r.drop(c.result, 0, why) })
		responses.parts = append(responses.parts, part)
		responses.span.First = min(responses.span.First, c.result)
		r.reportIDs(c.result, p, c)
	}
	r.contents = append(r.contents, responses)
	r.out.Merged += len(responses.parts) - 1
	held := r.held
	r.waiting, r.held = nil, nil
	for _, at := range held {
		r.repair(ruleCallsAnswered, at, "a message between a call and its result was moved after the result")
		r.renderMessage(at)
	}
}

func (r *renderer) reportIDs(at int, p *compactordv1.Part, c *renderedCall) {
	if _, changed := r.ids.Of(p); changed && c.id != "" {
		r.repair(ruleCallsAnswered, at, "the result was given the id that its call has now")
	}
	if name := p.GetToolResult().GetName(); name != "" && name != c.name {
		r.repair(ruleResultNames, at, "the result was given the name that its call has")
	}
	if form := noted(p.GetAttachments(), noteResponse); form == asText || form == asValue {
		r.repair(ruleResultObject, at, "a response that is no object was put into one")
	}
}

// renderStray renders a result without a call as text, since Gemini refuses a response that answers no call.
func (r *renderer) renderStray(at int, p *compactordv1.Part) {
	texts := []string{wording.StrayResultHeading(p.GetToolResult())}
	for _, rp := range p.GetToolResult().GetParts() {
		switch {
		case rp.GetText() != nil:
			texts = append(texts, rp.GetText().GetText())
		case rp.GetMedia() != nil:
			texts = append(texts, wording.MediaLine(rp.GetMedia()))
		}
	}
	r.repair(ruleResultsHaveCalls, at, "a result without a call became text of the user")
	r.add(at, roleUser, []rawjson.Draft{renderText(strings.Join(texts, "\n"), nil)})
}

// renderFunctionResponse renders the result of a call with this name. It calls left for each part that the response
// cannot hold.
func renderFunctionResponse(
	by *dialect.Writer, p *compactordv1.Part, id, name string, left func(why string),
) rawjson.Draft {
	r := p.GetToolResult()
	texts, parts := renderResultParts(by, r, left)
	named := &compactordv1.ToolResult{CallId: id, Name: name, IsError: r.GetIsError()}
	if len(p.GetAttachments()) == 0 {
		output := rawjson.WithText(rawjson.Object{}, outputKey(r.GetIsError()), strings.Join(texts, "\n"))
		return rawjson.WithObject(rawjson.Object{}, fieldResponse, rawjson.WithObject(resultFields(named, parts), "response", output))
	}
	form := noted(p.GetAttachments(), noteResponse)
	d := canonicalResult(named, form, texts, parts)
	if rawjson.KindOf(d.inner["response"]) != rawjson.ObjectKind {
		d = canonicalResult(named, "", texts, parts)
	}
	matches := d.innerGuards["response"]
	d.innerGuards["response"] = func(raw json.RawMessage) bool {
		return rawjson.KindOf(raw) == rawjson.ObjectKind && matches(raw)
	}
	d.innerGuards["parts"] = func(raw json.RawMessage) bool { return len(parts) == 0 && isNothing(raw) }
	return rawjson.Whole(d.restoreForRequest(by, p.GetAttachments()))
}

// renderResultParts returns the texts of a result, and its other parts.
func renderResultParts(
	by *dialect.Writer, r *compactordv1.ToolResult, left func(why string),
) (texts []string, parts []json.RawMessage) {
	for _, rp := range r.GetParts() {
		switch {
		case rp.GetText() != nil:
			texts = append(texts, rp.GetText().GetText())
		case rp.GetMedia() != nil:
			if part := renderMedia(by, rp.GetMedia(), rp.GetAttachments()); part != nil {
				parts = append(parts, by.Object(part))
				continue
			}
			texts = append(texts, wording.MediaLine(rp.GetMedia()))
			left(whyMedia)
		default:
			if part := renderOpaque(rp.GetOpaque()); part != nil && !isOfContents(part) {
				parts = append(parts, json.RawMessage(rp.GetOpaque().GetJson()))
				continue
			}
			left(whyOpaque)
		}
	}
	return texts, parts
}
