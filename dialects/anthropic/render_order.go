package anthropic

import (
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/session/wording"
)

// orderMessages drops and joins messages until nothing changes any more. One pass is not enough: a message that has lost
// the use of a server tool can end with thinking, and what is dropped can make neighbours of two messages.
func (r *renderer) orderMessages() {
	for n := -1; n != r.countMessages(); {
		n = r.countMessages()
		r.pairServerTools()
		r.dropThinking()
		r.joinMessages()
	}
}

// countMessages is another number whenever messages were dropped, joined, or changed their role.
func (r *renderer) countMessages() int {
	n := len(r.rendered)
	for _, t := range r.rendered {
		if t.role == roleSystem {
			n++
		}
	}
	return n
}

// joinMessages puts the messages in the order that the provider demands: instructions keep their role only behind a
// user's message and before an assistant's, and neighbours of one role become one.
func (r *renderer) joinMessages() {
	var joined []*renderedMessage
	for i, t := range r.rendered {
		// It stands behind a user's message, since renderInstruction makes no other.
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

// dropEmpty leaves out the messages that have lost all.
func (r *renderer) dropEmpty() {
	r.rendered = slices.DeleteFunc(r.rendered, func(t *renderedMessage) bool {
		if t.empty() {
			r.repair(ruleContentNotEmpty, t.span.First, "a message of the assistant without content is left out")
		}
		return t.empty()
	})
}

// openWithUser lets the user speak first. A summary by the provider itself may stand first, too.
func (r *renderer) openWithUser() {
	if len(r.rendered) == 0 || r.rendered[0].role != roleAssistant || r.rendered[0].rest[0].typ == typeCompaction {
		return
	}
	at := r.rendered[0].span.First
	opening := &renderedMessage{
		role: roleUser, span: dialect.Span{First: at, End: at}, rest: []renderedBlock{r.madeText(wording.Opening, at, 0)},
	}
	r.rendered = append([]*renderedMessage{opening}, r.rendered...)
	r.repair(ruleFirstMessageUser, at, "a text of the user stands before the assistant's first message")
}
