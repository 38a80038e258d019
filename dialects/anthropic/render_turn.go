package anthropic

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// block is a block of a request on its way.
type block struct {
	raw json.RawMessage
	typ string
	// id is that of the call which a tool_use is, or which a tool_result answers.
	id string
	// message and part are what it was made from.
	message, part int
	// foreign says of thinking that it is not this provider's, or not signed; moved that the message left its place, to
	// which its thinking is bound; trailing that its message ends with it.
	foreign, moved, trailing bool
}

func thinks(b block) bool { return b.typ == typeThinking || b.typ == typeRedactedThinking }

// turn is a message of a request on its way.
type turn struct {
	role string
	// results stand before the rest.
	results, rest []block
	span          dialect.Span
	// own are the fields that the provider takes beside role and content.
	own rawjson.Object
	// extra are the messages with fields that it does not take.
	extra []int
	// isString says that the content of its first message was a string. One block is written as one, too.
	isString bool
	// stop is why the assistant's last message in it ended.
	stop compactordv1.StopReason
}

func newTurn(role string, at int, m *compactordv1.Message) *turn {
	t := &turn{role: role, span: dialect.Span{First: at, End: at}, own: rawjson.Object{}}
	t.take(at, m)
	t.isString = noted(m.GetAttachments(), noteForm, noteString)
	return t
}

// take lets a message join the turn.
func (t *turn) take(at int, m *compactordv1.Message) {
	t.span.End = at + 1
	for _, a := range m.GetAttachments() {
		switch key, value := a.GetKey(), json.RawMessage(a.GetJson()); {
		case a.GetDialect() != kind, strings.HasPrefix(key, dialect.NotePrefix), len(value) == 0, key == "content":
		case t.role == roleSystem && takesField(t.role, key) && json.Valid(value):
			t.own[key] = value
		case len(t.extra) == 0 || t.extra[len(t.extra)-1] != at:
			t.extra = append(t.extra, at)
		}
	}
}

// takesField says whether the provider takes a field of a message.
func takesField(role, key string) bool {
	switch key {
	case "role", "content":
		return true
	case "clear_at", "output_config":
		return role == roleSystem
	default:
		return false
	}
}

func (t *turn) empty() bool { return len(t.results)+len(t.rest) == 0 }

// join adds the turn behind, of the same role.
func (t *turn) join(next *turn) {
	t.results = append(t.results, next.results...)
	t.rest = append(t.rest, next.rest...)
	t.extra = append(t.extra, next.extra...)
	t.span.End = max(t.span.End, next.span.End)
	t.stop = next.stop
}

// encode writes the message.
func (t *turn) encode() json.RawMessage {
	blocks := make([]json.RawMessage, 0, len(t.results)+len(t.rest))
	for _, b := range slices.Concat(t.results, t.rest) {
		blocks = append(blocks, b.raw)
	}
	o := rawjson.Object{"role": rawjson.Quote(t.role), "content": encodeContent(blocks, t.isString)}
	maps.Copy(o, t.own)
	return o.Encode()
}

// settle puts the turns in the order that the provider demands: instructions keep their role only behind a user's message
// and before an assistant's, and neighbours of one role become one.
func (r *request) settle() {
	var settled []*turn
	for i, t := range r.turns {
		// It stands behind a user's message, since add makes no other turn of instructions.
		if last := i+1 == len(r.turns); t.role == roleSystem && !last && r.turns[i+1].role != roleAssistant {
			t = r.asUser(t)
		}
		if n := len(settled); n > 0 && settled[n-1].role == t.role {
			settled[n-1].join(t)
			r.out.Merged++
			continue
		}
		settled = append(settled, t)
	}
	r.turns = settled
}

// asUser makes text of the user of a turn of instructions.
func (r *request) asUser(t *turn) *turn {
	user := &turn{role: roleUser, span: t.span, extra: t.extra}
	last := -1
	for _, b := range t.rest {
		if b.message != last {
			last = b.message
			user.rest = append(user.rest, r.instructionText(b.message)...)
		}
	}
	return user
}

// dropEmpty leaves out the turns that have lost all.
func (r *request) dropEmpty() {
	r.turns = slices.DeleteFunc(r.turns, func(t *turn) bool {
		if t.empty() {
			r.repaired(ruleContentNotEmpty, t.span.First, "a message of the assistant without content is left out")
		}
		return t.empty()
	})
}
