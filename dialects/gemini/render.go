package gemini

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

const (
	whyThought = "thoughts are not sent back to Gemini"
	whyOpaque  = "an item that Gemini does not take back was left out"
	whyMedia   = "Gemini cannot take this file; a line of text stands in its place"
)

// requesting makes a list for a request.
type requesting struct {
	out      *dialect.Rendered
	messages []*compactordv1.Message
	ids      *dialect.CallIDs
	// answers are the calls that results answer; each call has one.
	answers map[*compactordv1.Part]*call
	// calls are those that have an answer somewhere behind them.
	calls map[*compactordv1.Part]*call

	contents []*content
	// waiting are calls of the last content whose results come later; held is what stands before those results.
	waiting []*call
	missing int
	held    []int
	// signed says that a part of the model has carried a signature.
	signed bool
}

// call is a call with what its result must repeat.
type call struct {
	id, name string
	// open says that it stands in the last content and waits for its result.
	open bool
	// result is the message of the result.
	result int
}

// content is an element of the list.
type content struct {
	role      string
	responses bool
	// called says that it holds a call.
	called bool
	parts  []json.RawMessage
	span   dialect.Span
}

func renderRequest(messages []*compactordv1.Message) *dialect.Rendered {
	r := &requesting{out: &dialect.Rendered{}, messages: messages}
	r.ids = dialect.AssignCallIDs(messages, func(id string) string { return id }, dialect.MaxID)
	r.answers, r.calls = pairs(messages)
	lead := dialect.LeadingRun(messages)
	r.system(lead)
	for at := lead; at < len(messages); at++ {
		r.message(at)
	}
	for _, c := range r.contents {
		r.out.Messages = append(r.out.Messages, rawjson.Object{
			"role": rawjson.Quote(c.role), "parts": rawjson.EncodeArray(c.parts),
		}.Encode())
		r.out.From = append(r.out.From, c.span)
	}
	return r.out
}

func (r *requesting) repair(rule string, at int, what string) {
	r.out.Repairs = append(r.out.Repairs, dialect.Repair{Rule: rule, Message: at, What: what})
}

func (r *requesting) drop(at, part int, why string) {
	r.out.Dropped = append(r.out.Dropped, dialect.Dropped{Message: at, Part: part, Why: why})
}

// system makes one instruction of the messages at the start.
func (r *requesting) system(lead int) {
	var parts []json.RawMessage
	for at, m := range r.messages[:lead] {
		for _, p := range m.GetParts() {
			if text := p.GetText().GetText(); text != "" {
				parts = append(parts, requestText(text, p.GetAttachments()).Encode())
			} else {
				r.repair(rulePartsNotEmpty, at, "an empty text was left out")
			}
		}
	}
	if len(parts) > 0 {
		r.out.System = []json.RawMessage{rawjson.Object{"parts": rawjson.EncodeArray(parts)}.Encode()}
	}
}

func (r *requesting) message(at int) {
	m := r.messages[at]
	switch m.GetRole() {
	case compactordv1.Role_ROLE_ASSISTANT:
		r.reportFields(at, m)
		r.model(at, m)
	case compactordv1.Role_ROLE_TOOL:
		r.reportFields(at, m)
		if len(m.GetParts()) > 0 {
			r.result(at, m.GetParts()[0])
		}
	default:
		if r.missing > 0 {
			r.held = append(r.held, at)
			return
		}
		r.user(at, m)
	}
}

// result puts a result beside those of the same batch, which follow their calls once they are all there.
func (r *requesting) result(at int, p *compactordv1.Part) {
	answered := r.answers[p]
	stray := answered == nil || !answered.open
	switch {
	case stray && r.missing > 0:
		r.held = append(r.held, at)
	case stray:
		r.stray(at, p)
	default:
		answered.result, answered.open = at, false
		if r.missing--; r.missing == 0 {
			r.respond(at)
		}
	}
}

// respond adds the content of responses behind that of their calls, and what stood between them behind it.
func (r *requesting) respond(last int) {
	if !slices.IsSortedFunc(r.waiting, func(a, b *call) int { return cmp.Compare(a.result, b.result) }) {
		r.repair(ruleCallsAnswered, last, "the results were put in the order of their calls")
	}
	responses := &content{role: roleUser, responses: true, span: dialect.Span{First: last, End: last + 1}}
	for _, c := range r.waiting {
		p := r.messages[c.result].GetParts()[0]
		part := requestResult(p, c.id, c.name, func(why string) { r.drop(c.result, 0, why) })
		responses.parts = append(responses.parts, part.Encode())
		responses.span.First = min(responses.span.First, c.result)
		r.reportIDs(c.result, p, c)
	}
	r.contents = append(r.contents, responses)
	r.out.Merged += len(responses.parts) - 1
	held := r.held
	r.waiting, r.held = nil, nil
	for _, at := range held {
		r.repair(ruleCallsAnswered, at, "a message between a call and its result was put behind the result")
		r.message(at)
	}
}

func (r *requesting) reportIDs(at int, p *compactordv1.Part, c *call) {
	if _, changed := r.ids.Of(p); changed && c.id != "" {
		r.repair(ruleCallsAnswered, at, "the result was given the id that its call has now")
	}
	if name := p.GetToolResult().GetName(); name != "" && name != c.name {
		r.repair(ruleResponseNames, at, "the result was given the name that its call has")
	}
	if form := noted(p.GetAttachments(), noteResponse); form == asText || form == asValue {
		r.repair(ruleResponses, at, "a response that is no object was put into one")
	}
}

// stray shows a result without a call as text: a response that answers no call is refused.
func (r *requesting) stray(at int, p *compactordv1.Part) {
	texts := []string{session.StrayResultHeading(p.GetToolResult())}
	for _, rp := range p.GetToolResult().GetParts() {
		switch {
		case rp.GetText() != nil:
			texts = append(texts, rp.GetText().GetText())
		case rp.GetMedia() != nil:
			texts = append(texts, session.MediaLine(rp.GetMedia()))
		}
	}
	r.repair(ruleResponsesFollowCalls, at, "a result without a call was put as text of the user")
	r.add(at, roleUser, []json.RawMessage{requestText(strings.Join(texts, "\n"), nil).Encode()})
}

// add puts parts into the content of a role: neighbours are one.
func (r *requesting) add(at int, role string, parts []json.RawMessage) *content {
	if len(r.contents) == 0 && role == roleModel {
		r.repair(ruleBeginsWithUser, at, "a text of the user was put in front, since the list must begin with the user")
		r.contents = append(r.contents, &content{
			role: roleUser, parts: []json.RawMessage{requestText(dialect.OpeningText, nil).Encode()},
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
	added := &content{role: role, parts: parts, span: dialect.Span{First: at, End: at + 1}}
	r.contents = append(r.contents, added)
	return added
}
