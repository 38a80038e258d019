package anthropic

import (
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/session/wording"
)

// orderMessages drops and joins messages until nothing changes any more. One pass is not enough: a message that loses
// the use of a server tool can then end with thinking, and dropping a message can make neighbours of two others.
func (r *renderer) orderMessages() {
	for before := (counts{messages: -1}); before != r.count(); {
		before = r.count()
		r.pairServerTools()
		r.dropThinking()
		r.joinMessages()
	}
}

// counts change whenever blocks or messages are dropped, or messages are joined or change their role.
type counts struct{ messages, instructions, blocks int }

func (r *renderer) count() counts {
	c := counts{messages: len(r.rendered)}
	for _, t := range r.rendered {
		c.blocks += len(t.rest)
		if t.role == roleSystem {
			c.instructions++
		}
	}
	return c
}

// joinMessages puts the messages into the order that the provider demands. Instructions keep their role only between a
// message of the user and one of the assistant. Neighbours with the same role become one message.
func (r *renderer) joinMessages() {
	var joined []*renderedMessage
	for i, t := range r.rendered {
		// It follows a message of the user, since renderInstruction makes no other.
		if last := i+1 == len(r.rendered); t.role == roleSystem && !last && r.rendered[i+1].role != roleAssistant {
			t = r.asUser(t)
		}
		if n := len(joined); n > 0 && joined[n-1].role == t.role {
			joined[n-1].join(t)
			r.out.Merged++
			continue
		}
		joined = append(joined, t)
	}
	r.rendered = joined
}

// join adds the next message, which has the same role.
func (t *renderedMessage) join(next *renderedMessage) {
	t.results = append(t.results, next.results...)
	t.rest = append(t.rest, next.rest...)
	t.unknown = append(t.unknown, next.unknown...)
	t.span.End = max(t.span.End, next.span.End)
	t.stop = next.stop
}

// asUser turns instructions into text of the user.
func (r *renderer) asUser(t *renderedMessage) *renderedMessage {
	user := &renderedMessage{role: roleUser, span: t.span, unknown: t.unknown}
	last := -1
	for _, b := range t.rest {
		if b.message != last {
			last = b.message
			user.rest = append(user.rest, r.instructionText(b.message)...)
		}
	}
	return user
}

// dropEmpty removes the messages that have no content left.
func (r *renderer) dropEmpty() {
	r.rendered = slices.DeleteFunc(r.rendered, func(t *renderedMessage) bool {
		if t.empty() {
			r.repair(ruleContentNotEmpty, t.span.First, "a message of the assistant without content is left out")
		}
		return t.empty()
	})
}

// openWithUser makes the list begin with a message of the user. It can also begin with the provider's own compaction.
func (r *renderer) openWithUser() {
	if r.rest || len(r.rendered) == 0 || r.rendered[0].role != roleAssistant || r.rendered[0].rest[0].typ == typeCompaction {
		return
	}
	at := r.rendered[0].span.First
	opening := &renderedMessage{
		role: roleUser, span: dialect.Span{First: at, End: at}, rest: []renderedBlock{r.madeText(wording.Opening, at, 0)},
	}
	r.rendered = append([]*renderedMessage{opening}, r.rendered...)
	r.repair(ruleFirstMessageUser, at, "a text of the user is added before the assistant's first message")
}
