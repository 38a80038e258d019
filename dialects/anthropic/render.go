package anthropic

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// renderer renders messages for a request. First it puts each neutral message into a provider's message, in the order
// that calls and results need. Then it repairs what the provider would refuse.
type renderer struct {
	messages []*compactordv1.Message
	by       *dialect.Writer
	ids      *dialect.CallIDs
	// loops are the numbers of the messages' tool loops: how many USER messages there are up to and including each
	// message.
	loops    []int
	rendered []*renderedMessage
	// system holds the blocks of the system prompt.
	system []renderedBlock
	out    dialect.Rendered

	// calling is the message with the open calls. open has the ids of those that will get a result. In a list that the
	// service renders, all of them do.
	calling *renderedMessage
	open    map[string]bool

	// before is what the part of the list before has left, and after what this one leaves. rest reports that there is a
	// part before, and more that another follows.
	before, after carried
	rest, more    bool
	// adaptive reports that the model decides before each answer whether it thinks.
	adaptive bool
}

func renderRequest(messages []*compactordv1.Message, opts dialect.RenderOptions) *dialect.Rendered {
	r := &renderer{
		messages: messages,
		by:       opts.Writer,
		ids:      dialect.AssignCallIDs(messages, opts, dialect.CleanID, maxIDBytes),
		open:     make(map[string]bool),
		rest:     opts.Before != nil,
		more:     opts.More,
		adaptive: opts.Adaptive,
	}
	if r.rest {
		r.before, _ = opts.Before.State.(carried)
	}
	users := 0
	for _, m := range messages {
		if m.GetRole() == compactordv1.Role_ROLE_USER {
			users++
		}
		r.loops = append(r.loops, users)
	}
	lead := dialect.LeadingInstructions(messages)
	r.renderSystem(lead)
	for i := lead; i < len(messages); i++ {
		r.renderMessage(i)
	}
	r.orderMessages()
	r.openWithUser()
	r.renderBreakpoints(lead, opts.Breakpoints)
	r.encode()
	if r.more && !r.after.programWaits {
		r.out.After = opts.Carry(messages, r.ids, r.after)
	}
	return &r.out
}

func (r *renderer) repair(rule string, message int, what string) {
	r.out.Repairs = append(r.out.Repairs, dialect.Repair{Rule: rule, Message: message, What: what})
}

func (r *renderer) drop(message, part int, why string) {
	r.out.Dropped = append(r.out.Dropped, dialect.Dropped{Message: message, Part: part, Why: why})
}

// renderSystem makes the system prompt from the messages at the start.
func (r *renderer) renderSystem(n int) {
	for i, m := range r.messages[:n] {
		if isNoted(m.GetAttachments(), notePlace, noteMessages) {
			r.repair(ruleSystemMessagePlace, i, "a system message at the start becomes part of the system prompt")
		}
		for j, p := range m.GetParts() {
			if b, ok := r.renderText(p, i, j); ok {
				r.system = append(r.system, b)
			}
		}
		for range placedBlocks(m) {
			r.drop(i, 0, "the system prompt holds text only")
		}
	}
}

// renderMessage adds a neutral message to a provider's message.
func (r *renderer) renderMessage(i int) {
	switch r.messages[i].GetRole() {
	case compactordv1.Role_ROLE_ASSISTANT:
		r.renderAssistant(i)
	case compactordv1.Role_ROLE_TOOL:
		r.renderResult(i)
	case compactordv1.Role_ROLE_USER:
		r.renderUser(i)
	default:
		r.renderInstruction(i)
	}
}

// last returns the last rendered message if it has the role, otherwise nil.
func (r *renderer) last(role string) *renderedMessage {
	if n := len(r.rendered); n > 0 && r.rendered[n-1].role == role {
		return r.rendered[n-1]
	}
	return nil
}

// messageFor returns the rendered message to add a neutral message to: the last one if it has the role, otherwise a new
// one.
func (r *renderer) messageFor(role string, message int) *renderedMessage {
	t := r.last(role)
	if t != nil {
		r.out.Merged++
		t.take(message, r.messages[message])
		return t
	}
	t = newMessage(role, message, r.messages[message])
	r.rendered = append(r.rendered, t)
	return t
}

// encode writes the system prompt and the messages as JSON.
func (r *renderer) encode() {
	for _, b := range r.system {
		r.out.System = append(r.out.System, r.wholeCharacters(r.written(&b), b.message))
	}
	r.out.SystemAsText = len(r.system) == 1 &&
		isNoted(r.messages[r.system[0].message].GetAttachments(), noteForm, noteString)
	if r.out.SystemAsText {
		_, r.out.SystemAsText = systemText(&r.out.List)
	}
	for _, t := range r.rendered {
		r.out.Messages = append(r.out.Messages, r.encodeMessage(t))
		r.out.From = append(r.out.From, t.span)
		for _, at := range t.unknown {
			r.repair(ruleMessageFields, at, "fields that the provider does not accept are left out")
		}
	}
}

// wholeCharacters replaces unpaired halves of surrogate pairs, which the provider's parser refuses.
func (r *renderer) wholeCharacters(raw json.RawMessage, message int) json.RawMessage {
	if rawjson.Keeps(raw) {
		return raw
	}
	r.repair(ruleWholeCharacters, message, "halves of characters are replaced")
	return rawjson.ReplaceHalves(raw)
}
