package anthropic

import (
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
)

// orderTurns drops and joins until nothing is left to do: a message that has lost the use of a server tool can end with
// thinking, and what is dropped can make neighbours of a program's calls and the user's words.
func (r *renderer) orderTurns() {
	for n := -1; n != r.turnsAndRoles(); {
		n = r.turnsAndRoles()
		r.pairServerTools()
		r.dropThinking()
		r.joinTurns()
	}
}

// turnsAndRoles is another number whenever turns were dropped, joined, or changed their role.
func (r *renderer) turnsAndRoles() int {
	n := len(r.turns)
	for _, t := range r.turns {
		if t.role == roleSystem {
			n++
		}
	}
	return n
}

// joinTurns puts the turns in the order that the provider demands: instructions keep their role only behind a user's message
// and before an assistant's, and neighbours of one role become one.
func (r *renderer) joinTurns() {
	var settled []*renderedMessage
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

// join adds the turn behind, of the same role.
func (t *renderedMessage) join(next *renderedMessage) {
	t.results = append(t.results, next.results...)
	t.rest = append(t.rest, next.rest...)
	t.unknown = append(t.unknown, next.unknown...)
	t.span.End = max(t.span.End, next.span.End)
	t.stop = next.stop
}

// asUser makes text of the user of a turn of instructions.
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

// dropEmpty leaves out the turns that have lost all.
func (r *renderer) dropEmpty() {
	r.turns = slices.DeleteFunc(r.turns, func(t *renderedMessage) bool {
		if t.empty() {
			r.repair(ruleContentNotEmpty, t.span.First, "a message of the assistant without content is left out")
		}
		return t.empty()
	})
}

// openWithUser lets the user speak first. A summary by the provider itself may stand first, too.
func (r *renderer) openWithUser() {
	if len(r.turns) == 0 || r.turns[0].role != roleAssistant || r.turns[0].rest[0].typ == typeCompaction {
		return
	}
	at := r.turns[0].span.First
	opening := &renderedMessage{role: roleUser, span: dialect.Span{First: at, End: at}, rest: []renderedBlock{r.madeText(dialect.OpeningText, at, 0)}}
	r.turns = append([]*renderedMessage{opening}, r.turns...)
	r.repair(ruleFirstMessageUser, at, "a text of the user stands before the assistant's first message")
}
