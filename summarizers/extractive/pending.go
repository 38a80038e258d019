package extractive

import (
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The beginnings of a line about a question of the agent that the user has not answered, or answers in the first message
// that the view keeps.
const (
	pendingQuestion  = "Asked the user: "
	questionAnswered = "Asked the user, who answers next: "
)

const (
	// maxPending is how many units such a line has at most beside its beginning, and maxPendingOption how many of these an
	// option has that the question is about.
	maxPending, maxPendingOption = 320, 100
	// mostPending is how many questions of a message are kept, the last ones, and restAfter how many sentences may follow
	// them: a question in the middle of a text is not for the user.
	mostPending, restAfter = 3, 2
	// clearQuestion is how many words of its own a question has at least that needs no sentence before it.
	clearQuestion = 4
	pendingScore  = 20
)

// pending is what the agent asked in its latest message without calls.
type pending struct {
	index     uint32
	questions []string
	// listed says that the last question is beside a list, whose items may be its options.
	listed bool
	// rest is how many sentences follow it.
	rest int
}

// ask notes a question of a message. before is the sentence before it in its paragraph.
func (q *pending) ask(question, before string) {
	question, before = bare(clip(question, 2048)), bare(clip(before, 2048))
	if before != "" && !asks(before) && contentUpTo(question, clearQuestion) < clearQuestion {
		question = before + " " + question
	}
	if q.rest = 0; contentUpTo(question, 2) < 2 && !q.listed {
		// "Anything else?"
		return
	}
	q.questions = append(q.questions, question)
	if len(q.questions) > mostPending {
		q.questions = q.questions[1:]
	}
}

// goOn notes a statement that is no question.
func (q *pending) goOn(listed bool) {
	switch {
	case listed:
		q.listed = true
	case len(q.questions) > 0:
		q.rest++
	default:
		q.listed = false
	}
}

// line returns the questions in one line, with the options that the last one is about, if the agent offered some.
func (q *pending) line(offered string) string {
	text := strings.Join(q.questions, " ")
	offers := offersOf(clip(offered, maxProse))
	if len(offers) == 0 || !q.listed {
		return shorten(text, maxPending)
	}
	var options []string
	for _, o := range offers[len(offers)-1] {
		option := shorten(firstSentence(bare(clip(o.text, 2048))), maxPendingOption)
		if o.key != "" {
			option = o.key + ": " + option
		}
		options = append(options, option)
	}
	return shorten(text+" ("+strings.Join(options, "; ")+")", maxPending)
}

// hearReply reads the first message that the view keeps after the summary: it may answer the agent's question.
func (r *reader) hearReply(m *compactordv1.Message) {
	if !r.continued {
		r.continued, r.replied = true, m.GetRole() == compactordv1.Role_ROLE_USER
	}
}

// keepQuestion adds what the agent asked, if it waits for the user's answer, or if the answer is the next message: that is
// not understood without its question.
func (r *reader) keepQuestion() {
	if r.messages > 0 {
		for _, k := range []kind{kindNext, kindFact} {
			r.l.dropItems(k, func(it *item) bool { return it.carried && isPending(it.text) })
		}
	}
	q := &r.pending
	if len(q.questions) == 0 || q.rest > restAfter || q.index != r.spoke || r.spoke != r.latestRead || r.continued && !r.replied {
		return
	}
	it := &item{kind: kindNext, text: pendingQuestion + q.line(r.offered), cites: []uint32{q.index}, score: pendingScore, until: untilUser}
	if r.replied {
		it.kind, it.text = kindFact, questionAnswered+q.line(r.offered)
	}
	r.l.add(it)
}

// isPending says whether a line is about a question of the agent that the user had not answered.
func isPending(text string) bool {
	return strings.HasPrefix(text, pendingQuestion) || strings.HasPrefix(text, questionAnswered)
}

// askedBefore returns the question that a previous summary ends with, or "".
func (l *ledger) askedBefore() string {
	for _, k := range []kind{kindNext, kindFact} {
		for _, it := range l.lists[k] {
			for _, label := range []string{pendingQuestion, questionAnswered} {
				if question, ok := strings.CutPrefix(it.text, label); ok {
					return question
				}
			}
		}
	}
	return ""
}
