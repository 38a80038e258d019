package extractive

import (
	"slices"
	"strings"
	"unicode"
)

// kind is what an item says.
type kind uint8

const (
	// kindRequest is what the user asked for, word for word.
	kindRequest kind = iota
	// kindRule is a constraint or preference.
	kindRule
	// kindDone is something finished.
	kindDone
	// kindDoing is something being worked on.
	kindDoing
	// kindError is an error that is not known to be resolved, or something else that blocks.
	kindError
	// kindDecision is what was decided, and why.
	kindDecision
	// kindNext is something still to be done.
	kindNext
	// kindFact is a statement worth keeping.
	kindFact
	// kindFile is a file that was read or changed.
	kindFile
	// kindMarks is a row of identifiers without a sentence.
	kindMarks
	kinds
)

// speaker is whose words a rule is in.
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
	// tierSoft may be no rule at all.
	tierSoft
)

// box is the state of an item of a to-do list.
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
	// key is what keyOf says of the text, once it was asked for.
	key string
	// cites are the messages it came from, ascending. Empty only where a previous summary did not say.
	cites []uint32
	// by, tier and crowd are of rules.
	by   speaker
	tier int
	// crowd says how many rules of the same message stand before it, in sixes.
	crowd int
	// box is of items of to-do lists.
	box box
	// score ranks the items of one kind, beside their age.
	score int
	// carried says that a previous summary had it.
	carried bool
	// last marks the last user message.
	last bool
	// noise marks a user message that a program wrote and not a person.
	noise bool
	// passing marks what is of interest only while it is the latest: the last step, the next intention.
	passing bool
	// command and path are of errors: what failed, and what it was about: a file, or all that is shown of the call.
	command *commandKey
	path    string
	// tool is of errors: the tool that failed.
	tool string
	// seq is the order in which items came into the ledger.
	seq int
	// focused says that the item matches the words of the request's focus.
	focused bool
}

// keyed returns the item's key.
func (it *item) keyed() string {
	if it.key == "" {
		it.key = keyOf(it.text)
	}
	return it.key
}

// newest returns the latest message that the item came from.
func (it *item) newest() uint32 {
	if len(it.cites) == 0 {
		return 0
	}
	return it.cites[len(it.cites)-1]
}

// oldest returns the first message that the item came from.
func (it *item) oldest() uint32 {
	if len(it.cites) == 0 {
		return 0
	}
	return it.cites[0]
}

// maxCites is how many citations a line has at most.
const maxCites = 4

// addCites joins citations, keeping the first and the latest where there are too many.
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

// keyOf returns what two texts that say the same in other letters, spaces or marks have in common.
func keyOf(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		switch {
		case r < 0x80:
			if r >= 'A' && r <= 'Z' {
				r += 'a' - 'A'
			}
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '/' || r == '-' || r == '+' || r == '<' || r == '>' || r == '=' {
				b.WriteRune(r)
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
