package openaichat

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// renderRequest renders messages for a request. It puts each result directly after the message with its call.
func renderRequest(messages []*compactordv1.Message, opts dialect.RenderOptions) *dialect.Rendered {
	out := &dialect.Rendered{}
	out.Messages = make([]json.RawMessage, 0, len(messages))
	ids := dialect.AssignCallIDs(messages, opts, cleanID, maxIDBytes)
	pairs := pairCalls(messages, ids)
	render := func(i int) {
		r := &renderer{out: out, by: opts.Writer, at: i, m: messages[i], request: true, ids: ids, legacy: pairs.legacy[i]}
		if o := r.renderMessage(); o != nil {
			out.Messages = append(out.Messages, r.encode(o))
			out.From = append(out.From, dialect.Span{First: i, End: i + 1})
		}
	}
	for i := range messages {
		if pairs.isAnswer[i] {
			continue
		}
		render(i)
		next := i + 1
		for _, result := range pairs.of[i] {
			if result != next {
				out.Repairs = append(out.Repairs, dialect.Repair{
					Rule: ruleCallsAnswered, Message: result,
					What: "The result was moved before the messages between it and its call.",
				})
			}
			next = result + 1
			render(result)
		}
	}
	if opts.More {
		out.After = opts.Carry(messages, ids, nil)
	}
	return out
}

// renderer renders one message, either as it was written or for a request.
type renderer struct {
	out     *dialect.Rendered
	by      *dialect.Writer
	at      int
	m       *compactordv1.Message
	request bool
	// The following fields are for requests only. legacy is the call of an exchange by function_call.
	ids    *dialect.CallIDs
	legacy *compactordv1.ToolCall
	// text is the content where that is one text. It is written only when the message is, and is nowhere in between.
	text *string
}

// encode writes a message.
func (r *renderer) encode(o rawjson.Object) json.RawMessage {
	if r.text != nil {
		return r.by.ObjectWithText(o, "content", *r.text)
	}
	return r.by.Object(o)
}

func (r *renderer) drop(part int, why string) {
	r.out.Dropped = append(r.out.Dropped, dialect.Dropped{Message: r.at, Part: part, Why: why})
}

func (r *renderer) repair(rule, what string) {
	r.out.Repairs = append(r.out.Repairs, dialect.Repair{Rule: rule, Message: r.at, What: what})
}
