package gemini

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// renderer renders messages for a request.
type renderer struct {
	out      *dialect.Rendered
	messages []*compactordv1.Message
	by       *dialect.Writer
	ids      *dialect.CallIDs
	// calls are the calls that have a result later in the list.
	calls map[*dialect.Pair]*renderedCall

	contents []*renderedContent
	// waiting are the calls of the last content whose results come later, and missing is the number of these results. held
	// are the messages between calls and results. They are moved after the results.
	waiting []*renderedCall
	missing int
	held    []int
	// signed reports that a part of the model had a signature.
	signed bool
	// rest reports that another part of the list comes before.
	rest bool
}

// renderedCall holds what a result must repeat of its call.
type renderedCall struct {
	id, name string
	// open reports that the call is in the last content and waits for its result.
	open bool
	// result is the position of the message with the result.
	result int
}

// renderedContent is an element of the list.
type renderedContent struct {
	role      string
	responses bool
	// called reports that the content has a call.
	called bool
	parts  []rawjson.Draft
	span   dialect.Span
}

func renderRequest(messages []*compactordv1.Message, opts dialect.RenderOptions) *dialect.Rendered {
	r := &renderer{out: &dialect.Rendered{}, messages: messages, by: opts.Writer}
	if opts.Before != nil {
		r.rest = true
		r.signed, _ = opts.Before.State.(bool)
	}
	r.ids = dialect.AssignCallIDs(messages, opts, func(id string) string { return id }, dialect.MaxID)
	r.calls = pairCalls(messages, r.ids)
	lead := dialect.LeadingInstructions(messages)
	r.renderSystem(lead)
	for at := lead; at < len(messages); at++ {
		r.renderMessage(at)
	}
	for _, c := range r.contents {
		o := rawjson.Object{"role": rawjson.Quote(c.role)}
		r.out.Messages = append(r.out.Messages, r.by.Write(rawjson.WithArray(o, "parts", c.parts)))
		r.out.From = append(r.out.From, c.span)
	}
	if opts.More {
		r.out.After = opts.Carry(messages, r.ids, r.signed)
	}
	return r.out
}

func (r *renderer) repair(rule string, at int, what string) {
	r.out.Repairs = append(r.out.Repairs, dialect.Repair{Rule: rule, Message: at, What: what})
}

func (r *renderer) drop(at, part int, why string) {
	r.out.Dropped = append(r.out.Dropped, dialect.Dropped{Message: at, Part: part, Why: why})
}

// renderSystem makes one instruction from the messages at the start.
func (r *renderer) renderSystem(lead int) {
	var parts []rawjson.Draft
	for at, m := range r.messages[:lead] {
		for _, p := range m.GetParts() {
			if text := p.GetText().GetText(); text != "" {
				parts = append(parts, renderText(text, p.GetAttachments()))
			} else {
				r.repair(ruleContentNotEmpty, at, "an empty text was left out")
			}
		}
	}
	if len(parts) > 0 {
		r.out.System = []json.RawMessage{r.by.Write(rawjson.WithArray(rawjson.Object{}, "parts", parts))}
	}
}

func (r *renderer) renderMessage(at int) {
	m := r.messages[at]
	switch m.GetRole() {
	case compactordv1.Role_ROLE_ASSISTANT:
		r.reportFields(at, m)
		r.renderAssistant(at, m)
	case compactordv1.Role_ROLE_TOOL:
		r.reportFields(at, m)
		if len(m.GetParts()) > 0 {
			r.renderResult(at, m.GetParts()[0])
		}
	default:
		if r.missing > 0 {
			r.held = append(r.held, at)
			return
		}
		r.renderUser(at, m)
	}
}

// add adds parts to the last content if it has the role, otherwise to a new one.
func (r *renderer) add(at int, role string, parts []rawjson.Draft) *renderedContent {
	if len(r.contents) == 0 && !r.rest && role == roleModel {
		r.repair(ruleFirstMessageUser, at, "a text of the user was put at the start, since the list must begin with the user")
		r.contents = append(r.contents, &renderedContent{
			role: roleUser, parts: []rawjson.Draft{renderText(wording.Opening, nil)},
			span: dialect.Span{First: at, End: at},
		})
	}
	if n := len(r.contents); n > 0 && r.contents[n-1].role == role && !r.contents[n-1].responses {
		last := r.contents[n-1]
		last.parts = append(last.parts, parts...)
		last.span.End = max(last.span.End, at+1)
		r.out.Merged++
		return last
	}
	added := &renderedContent{role: role, parts: parts, span: dialect.Span{First: at, End: at + 1}}
	r.contents = append(r.contents, added)
	return added
}
