package extractive

import (
	"slices"
	"strings"
)

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

// take adds a request to those that the agent works on. It replaces one of them that it says again in other words.
func (r *reader) take(it *item) {
	if it.noise {
		return
	}
	var again map[string]bool
	for _, old := range r.thread[max(0, len(r.thread)-maxThread):] {
		if old == it || old == r.l.requests[0] || old.end != requestOpen {
			continue
		}
		if again == nil {
			again = subjectWords(it.text)
		}
		if saysAgain(again, old) {
			r.l.requests = slices.DeleteFunc(r.l.requests, func(known *item) bool { return known == old })
		}
	}
	it.end, it.turns, r.lastRequest, r.acted = requestOpen, 0, it, false
	r.thread = append(r.thread, it)
}

// maxThread is how many open requests a new one is compared with.
const maxThread = 8

// fewestRepeated is how many words that say what a request is about another one repeats at least if it says the same.
const fewestRepeated = 3

// saysAgain says whether some words are nearly all words of an earlier request that say what it is about.
func saysAgain(again map[string]bool, before *item) bool {
	words := subjectWords(before.text)
	repeated := 0
	for word := range words {
		if again[word] {
			repeated++
		}
	}
	return repeated >= fewestRepeated && 5*repeated >= 4*len(words)
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
	switch last := ownWords(r.lastUser.text); {
	case r.acted:
	case onlyAsks(last) && (!askedBack || !requests(last)):
		// A question that can also ask for work is not answered by a question.
		r.lastUser.end = requestAnswered
		if r.offered != "" && r.lastUser != r.l.requests[0] {
			r.lastUser.addCites(r.offering)
		}
	case askedBack && !accepts(said) && asksWithoutOrder(last):
		r.lastUser.end = requestFinished
	}
	if next.noise {
		return
	}
	for _, it := range r.thread[max(0, len(r.thread)-maxTogether):] {
		// What the user asked before the last message was answered with it, whatever the agent asks back.
		if asked := ownWords(it.text); it != r.lastUser && it.end == requestOpen && !r.acted && onlyAsks(asked) && !requests(asked) {
			it.end = requestAnswered
		}
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

// maxTogether is how many of the last messages of the user are answered together at most.
const maxTogether = 2

// asksWithoutOrder says whether a message asks something, and its other sentences order nothing.
func asksWithoutOrder(text string) bool {
	questions, orders := 0, 0
	eachStatement(strings.ReplaceAll(clip(text, 8<<10), lineBreak, "\n"), never, func(st statement) {
		switch {
		case opensTask(st.text), requests(st.text):
			orders++
		case asks(st.text):
			questions++
		}
	})
	return questions > 0 && orders == 0
}

// onlyAsks says whether each sentence of a message is a question.
func onlyAsks(text string) bool {
	questions, others := 0, 0
	eachStatement(strings.ReplaceAll(clip(text, 8<<10), lineBreak, "\n"), never, func(st statement) {
		if others > 0 {
			return
		}
		said, _ := afterNods(st.text)
		switch {
		case contentUpTo(said, 1) == 0:
		case asks(said), opensQuestion(said), wonders(said), strings.HasSuffix(said, "؟"):
			questions++
		default:
			others++
		}
	})
	return questions > 0 && others == 0
}

// isShortOrder says whether a request is an order of a few words without a value, such as "commit and push". Once it was
// carried out, nobody needs it. Words beyond ASCII that are no known order, and words of no known language, may be a rule in
// a language without cues.
func isShortOrder(it *item) bool {
	said := ownWords(it.text)
	if contentUpTo(said, goalWords+1) > goalWords || hasValue(said) {
		return false
	}
	return opensTask(said) || requests(said) || isASCII(said) && !isForeign(said)
}

// isForeign says whether a text has some words, at most half of them of a known language, and none that begins a task.
func isForeign(said string) bool {
	if contentUpTo(said, goalWords) < goalWords {
		return false
	}
	words, known := wordsOf(said), 0
	for word := range words {
		if tasks[word] || steps[word] {
			return false
		}
		if functionWords[word] != nil {
			known++
		}
	}
	return 2*known <= len(words)
}
