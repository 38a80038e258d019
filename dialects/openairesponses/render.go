package openairesponses

import (
	"encoding/json"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// renderer renders messages, either as they were parsed or for a request.
type renderer struct {
	asWritten bool
	messages  []*compactordv1.Message
	by        *dialect.Writer
	out       dialect.Rendered
	// at is the position of the message that is being rendered.
	at int
	// The following fields are for requests only.
	ids   *dialect.CallIDs
	pairs *pairs
	// used are the ids of the items so far, and usedCalls those of the calls.
	used, usedCalls dialect.IDSet
	// lost reports that the tool loop lost some reasoning. The provider then accepts no ids of its items.
	lost bool
	// held is reasoning at the end of what was rendered so far. It is written when more items of the model follow.
	held []heldThinking
	// rest reports that another part of the list comes before.
	rest bool
}

func (r *renderer) drop(part int, why string) {
	r.out.Dropped = append(r.out.Dropped, dialect.Dropped{Message: r.at, Part: part, Why: why})
}

func (r *renderer) repair(rule, what string) {
	r.out.Repairs = append(r.out.Repairs, dialect.Repair{Rule: rule, Message: r.at, What: what})
}

func (r *renderer) emit(raw json.RawMessage) {
	r.out.Messages = append(r.out.Messages, raw)
	r.out.From = append(r.out.From, dialect.Span{First: r.at, End: r.at + 1})
}

// renderRequest renders messages for a request. It puts each result directly after the calls of its message, or after
// those of the next messages that only have more calls.
func renderRequest(messages []*compactordv1.Message, opts dialect.RenderOptions) *dialect.Rendered {
	r := &renderer{messages: messages, by: opts.Writer}
	r.goOn(opts.Before)
	r.ids = dialect.AssignCallIDs(messages, opts, dialect.CleanID, maxItemID)
	r.pairs = pairCalls(messages, r.ids)
	var run []int
	for at, m := range messages {
		r.at = at
		switch m.GetRole() {
		case compactordv1.Role_ROLE_TOOL:
			r.renderStray(m)
		case compactordv1.Role_ROLE_ASSISTANT:
			r.renderAssistant(m)
			if run = append(run, at); !r.callsGoOn(at + 1) {
				r.renderResults(run)
				run = nil
			}
		default:
			r.dropHeld()
			r.lost = r.lost && m.GetRole() != compactordv1.Role_ROLE_USER
			r.renderMessage(m)
		}
	}
	if opts.More {
		r.out.After = opts.Carry(messages, r.ids, r.carried())
		return &r.out
	}
	r.dropHeld()
	return &r.out
}

func (r *renderer) renderMessage(m *compactordv1.Message) {
	switch m.GetRole() {
	case compactordv1.Role_ROLE_USER:
		r.renderUser(m)
	case compactordv1.Role_ROLE_ASSISTANT:
		r.renderAssistant(m)
	case compactordv1.Role_ROLE_TOOL:
		for _, p := range m.GetParts() {
			r.renderResult(p)
		}
	default:
		r.renderInstruction(m)
	}
}

// callsGoOn reports whether a message has nothing but more calls of the model. Agents that append each item alone put
// parallel calls into several messages.
func (r *renderer) callsGoOn(at int) bool {
	if at >= len(r.messages) || r.messages[at].GetRole() != compactordv1.Role_ROLE_ASSISTANT {
		return false
	}
	parts := r.messages[at].GetParts()
	return len(parts) > 0 &&
		!slices.ContainsFunc(parts, func(p *compactordv1.Part) bool { return p.GetToolCall() == nil })
}
