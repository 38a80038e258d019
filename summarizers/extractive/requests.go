package extractive

import "strings"

// requestEnd says how a request of the user ended.
type requestEnd uint8

const (
	// requestOpen is for what the agent still has to do, as far as the messages show.
	requestOpen requestEnd = iota
	// requestAnswered is for a question that the agent answered, without doing anything else.
	requestAnswered
	// requestFinished is for what the agent ended its work on before the user said more.
	requestFinished
)

// take adds a request to those that the agent works on.
func (r *reader) take(it *item) {
	if it.noise {
		return
	}
	it.end, it.turns, r.lastRequest, r.acted = requestOpen, 0, it, false
	r.thread = append(r.thread, it)
}

// openTurns is how often the agent can stop working and ask back before what the user does not come back to counts as
// finished.
const openTurns = 3

// endRequests marks the requests that ended before the user's next message: the agent stopped working on them, and asked
// nothing back. A question back is answered by what the user says next, unless that only asks something else: then the
// requests stay open for a few turns.
func (r *reader) endRequests(next *item, said string) {
	if r.lastUser == nil || !r.answered || r.working {
		return
	}
	askedBack := asks(r.asked) && !r.acted
	if last := ownWords(r.lastUser.text); !r.acted && onlyAsks(last) && (!askedBack || !requests(last)) {
		// A question that can also ask for work is not answered by a question.
		r.lastUser.end = requestAnswered
	}
	if next.noise {
		return
	}
	for _, it := range r.l.requests {
		if it.end == requestOpen {
			if it.turns++; it.turns > openTurns {
				it.end = requestFinished
			}
		}
	}
	if askedBack && !refuses(said) {
		if onlyAsks(said) {
			r.thread = nil
		}
		return
	}
	for _, it := range r.thread {
		if it.end == requestOpen {
			it.end = requestFinished
		}
	}
	r.thread = nil
}

// onlyAsks says whether each sentence of a message is a question.
func onlyAsks(text string) bool {
	questions, others := 0, 0
	eachStatement(strings.ReplaceAll(clip(text, 8<<10), lineBreak, "\n"), never, func(st statement) {
		said, _ := afterNods(st.text)
		switch {
		case contentOf(said) == 0:
		case asks(said), opensQuestion(said), wonders(said), strings.HasSuffix(said, "؟"):
			questions++
		default:
			others++
		}
	})
	return questions > 0 && others == 0
}

// saysLittle says whether a request is an order of a few words without a value, such as "commit and push". Once it was
// carried out, nobody needs it.
func saysLittle(it *item) bool {
	said := ownWords(it.text)
	return contentUpTo(said, goalWords+1) <= goalWords && !hasValue(said)
}
