package extractive

import (
	"slices"
	"strings"
	"unicode"
)

// kind says what an item is about.
type kind uint8

const (
	// kindRequest is a user's request, word for word.
	kindRequest kind = iota
	// kindRule is a constraint or preference.
	kindRule
	// kindDone is something finished.
	kindDone
	// kindDoing is work in progress.
	kindDoing
	// kindError is an error that is not known to be resolved, or another obstacle.
	kindError
	// kindDecision is a decision and its reason.
	kindDecision
	// kindNext is something that remains to be done.
	kindNext
	// kindFact is a statement worth keeping.
	kindFact
	// kindFile is a file that was read or changed.
	kindFile
	// kindEarlier is a line of an earlier summary that another tool wrote.
	kindEarlier
	kinds
)

// speaker says who gave a rule.
type speaker uint8

const (
	byUser speaker = iota
	byDeveloper
	bySystem
)

// The strength of a rule.
const (
	// tierMust is a rule that says must, never, always.
	tierMust = iota
	// tierPrefer is a preference.
	tierPrefer
	// tierSoft may not be a rule at all.
	tierSoft
)

// box is the checkbox of a to-do item.
type box uint8

const (
	noBox box = iota
	openBox
	doneBox
)

// item is one line of a summary.
type item struct {
	kind kind
	// text is one line of valid UTF-8, not escaped.
	text string
	// key caches keyOf(text).
	key string
	// condensed is the text of a request as it was written last.
	condensed condensed
	// echoed are the lines of a request that the agent wrote before.
	echoed map[string]bool
	// cites are the messages that the item came from, ascending. They are empty only for items of a previous summary
	// that did not cite.
	cites []uint32
	// by, tier and crowd are set for rules.
	by   speaker
	tier int
	// crowd says how many groups of six rules of the same message come before it.
	crowd int
	// sign is the author's signature before a rule, where several persons write.
	sign string
	// firm are the sentences of a rule that must stay if it is shortened, or "" if that is all of it.
	firm string
	// task caches taskIn.
	task *string
	// listed says that a rule is one of many in a document.
	listed bool
	// box is set for to-do items, and todoID where the agent has an id for the item.
	box    box
	todoID string
	// score ranks the items of one kind, together with their age.
	score int
	// carried says that the item comes from a previous summary.
	carried bool
	// changed says that it replaces what message changes said about the same thing.
	changed bool
	changes uint32
	// order tells when a rule of the user ends, once a message asked for it.
	order *userOrder
	// content is what corrections look at, once one asked for it.
	content *content
	// corrections are the messages that correct a part of it.
	corrections []uint32
	// times is how often the user said the same again.
	times int
	// goal marks the goal of a previous summary, and last the last user message.
	goal bool
	last bool
	// end says how a request ended, and turns how often the agent stopped working since then.
	end   requestEnd
	turns int
	// endedBefore says that a previous summary told that the request ended.
	endedBefore bool
	// rethought marks a theory of what is wrong that a newer one about the same thing followed.
	rethought bool
	// noise marks a user message that a program wrote.
	noise bool
	// passing marks an item that matters only while it is the latest: the last step, the next intention.
	passing bool
	// until says what ends a statement about a next step.
	until stepEnd
	// failure, path and tool are set for errors: what is known about it, the file or the call that it is about, and the
	// tool that failed.
	failure *failure
	path    string
	tool    string
	// root marks the line that says where relative paths begin.
	root bool
	// seq is the position in the order in which items were added to the ledger.
	seq int
	// called is the call that the text is about, if it can be cut better than at any place.
	called *calledLine
	// indent is how many spaces a line of an earlier summary began with, and under the line above it that leads to it.
	indent int
	under  *item
	// answers says that a fact is of an answer, and not of what the agent says while it works.
	answers bool
	// run is set for a command that the text is about.
	run *run
	// heard says which words of the text are a tool's; nil if none are.
	heard *heard
	// focused says that the item contains words of the request's focus.
	focused bool
	// subject holds the words that say what it is about, once they were asked for.
	subject map[string]bool
}

// keyed returns the item's key.
func (it *item) keyed() string {
	if it.key == "" {
		it.key = keyOf(it.text)
	}
	return it.key
}

// newest returns the index of the latest message that the item came from.
func (it *item) newest() uint32 {
	if len(it.cites) == 0 {
		return 0
	}
	return it.cites[len(it.cites)-1]
}

// oldest returns the index of the first message that the item came from.
func (it *item) oldest() uint32 {
	if len(it.cites) == 0 {
		return 0
	}
	return it.cites[0]
}

// maxCites is how many citations a line has at most.
const maxCites = 4

// addCites adds citations. If there are too many, it keeps the first and the latest.
func (it *item) addCites(cites ...uint32) {
	for _, c := range cites {
		if at, found := slices.BinarySearch(it.cites, c); !found {
			it.cites = slices.Insert(it.cites, at, c)
		}
	}
	if n := len(it.cites); n > maxCites {
		it.cites = slices.Delete(it.cites, 1, 1+n-maxCites)
	}
}

// between says whether text[i] stands between two bytes of a kind.
func between(text string, i int, kind func(byte) bool) bool {
	return i > 0 && i+1 < len(text) && kind(text[i-1]) && kind(text[i+1])
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// keyOf returns a key that is equal for texts which differ only in case, spaces or punctuation.
func keyOf(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for i, r := range text {
		switch {
		case (r == '.' || r == ',') && between(text, i, isDigit), r == '.' && between(text, i, isLetter):
			// "1.5" is not "15".
			b.WriteByte('.')
		case r == '$' || r == '%' || r == '€' || r == '£' || r == '¥':
			b.WriteRune(r)
		case r < 0x80:
			if r >= 'A' && r <= 'Z' {
				r += 'a' - 'A'
			}
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '/' || r == '-' || r == '+' || r == '<' || r == '>' || r == '=' {
				b.WriteByte(byte(r))
			}
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			b.WriteRune(unicode.ToLower(r))
		}
	}
	if b.Len() == 0 {
		return text
	}
	return b.String()
}
