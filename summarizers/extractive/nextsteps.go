package extractive

import "strings"

// stepEnd says what ends a statement about a next step.
type stepEnd uint8

const (
	// unknownEnd is for statements of a previous summary, until their words are read.
	unknownEnd stepEnd = iota
	// untilReport is for statements of a report: the next report says anew what is left.
	untilReport
	// untilUser is for offers, which the next message of the user takes up or not.
	untilUser
	// untilCall is for announcements: the agent acts.
	untilCall
)

// endOf returns what ends a statement about a next step with these cues.
func endOf(found cue) stepEnd {
	switch {
	case found&cueOffers != 0:
		return untilUser
	case found&cueUpcoming != 0 && found&cueNext == 0:
		return untilCall
	}
	return untilReport
}

// isStep says whether a statement says what remains to be done.
func isStep(text string, found cue) bool {
	return !asks(text) && (opensNext(text) || found&(cueNext|cueUpcoming) != 0 && found&cueHedges == 0)
}

// opensNext says whether a text begins with a label for next steps.
func opensNext(text string) bool {
	return hasOpening(strings.TrimLeft(text, "*_ "), "todo", "to-do", "next step", "what remains", "remaining:", "remaining work", "remaining task", "remaining step", "remaining item",
		"open items", "open tasks", "follow-up:", "follow-ups", "follow up:", "still to do", "still open", "outstanding:", "pending:", "left to do")
}

// opensSteps says whether a sentence introduces a list of next steps, and does not only mention them.
func (c *cueReader) opensSteps(head string) bool {
	return units(head) < 80 && (c.read(head)&cueNext != 0 || opensNext(head) ||
		hasOpening(strings.TrimLeft(head, "*_ "), "what's next", "open points", "pending", "outstanding") ||
		hasOpening(strings.TrimLeft(head, "*_ "), "remaining") && !strings.ContainsAny(head, "`("))
}

// endSteps drops the statements about next steps that end with an event, and came before a message.
func (r *reader) endSteps(end stepEnd, before uint32) {
	r.l.dropItems(kindNext, func(it *item) bool {
		if it.box != noBox || len(it.cites) == 0 {
			return false
		}
		if it.until == unknownEnd {
			it.until = endOf(r.cues.read(it.text))
		}
		return it.until == end && it.newest() < before
	})
}

// finish drops the statements about next steps that a sentence about finished work repeats.
func (r *reader) finish(sentence string, index uint32) {
	if len(r.l.lists[kindNext]) == 0 {
		return
	}
	done := subjectWords(sentence)
	r.l.dropItems(kindNext, func(it *item) bool {
		return it.box == noBox && len(it.cites) > 0 && it.newest() < index && it.saidBy(done)
	})
}

// saidBy says whether nearly all words that say what an item is about are among some words.
func (it *item) saidBy(words map[string]bool) bool {
	if it.subject == nil {
		it.subject = subjectWords(it.text)
	}
	shared := 0
	for word := range it.subject {
		if words[word] {
			shared++
		}
	}
	return shared >= 2 && 4*shared >= 3*len(it.subject)
}

// fewestStepWords is how many words of its own a statement about a next step has at least if it names nothing.
const fewestStepWords = 2

// titleWords is how many words a title has at most that names what is below it.
const titleWords = 5

// listsSteps says whether the items below a title are next steps.
func listsSteps(title string) bool {
	return title != "" && len(strings.Fields(title)) <= titleWords && meaningOf(title) == kindNext && !strings.HasSuffix(title, "?")
}

// listsDecisions says whether the items below a title are decisions, and not reasons for one.
func listsDecisions(title string) bool {
	return title != "" && len(strings.Fields(title)) <= titleWords && meaningOf(title) == kindDecision &&
		(!isASCII(title) || containsAnyCase(title, "decisions")) && !containsAnyCase(title, "open") && !containsAnyCase(title, "needed")
}
