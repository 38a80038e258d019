package extractive

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// lineIndex finds out whether a line of three words or more stands within another one, apart from white space and
// emphasis.
type lineIndex struct {
	lines []string
	// places are where two words begin in lines, and last holds the last of them by a hash of these words. 0 is none.
	places []place
	last   map[uint32]int32
	// whole counts the lines that are equal.
	whole map[string]int
}

// place is a byte in one of several lines. before is the place with the same hash before it.
type place struct{ line, at, before int32 }

func newLineIndex() *lineIndex {
	return &lineIndex{places: make([]place, 1), last: map[uint32]int32{}, whole: map[string]int{}}
}

// folded returns a line without emphasis and signs for line ends, with single spaces.
func folded(line string) string {
	if isFolded(line) {
		return line
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(strings.ReplaceAll(line, lineBreak, " "), "**", "")), " ")
}

// isFolded says whether folding leaves a line of ASCII as it is. Most lines are such.
func isFolded(line string) bool {
	before := byte(' ')
	for i := range len(line) {
		b := line[i]
		if b >= utf8.RuneSelf || b < ' ' || b == before && (b == ' ' || b == '*') {
			return false
		}
		before = b
	}
	return before != ' '
}

// add adds a line.
func (x *lineIndex) add(line string) {
	line = folded(line)
	x.whole[line]++
	eachPair(line, func(at int, hash uint32) bool {
		x.places = append(x.places, place{int32(len(x.lines)), int32(at), x.last[hash]})
		x.last[hash] = int32(len(x.places) - 1)
		return true
	})
	x.lines = append(x.lines, line)
}

// eachPair calls yield for each place in a line where two words begin that another one follows, with a hash of the two,
// until it returns false.
func eachPair(line string, yield func(at int, hash uint32) bool) {
	first, second := -1, 0
	var before, hash uint32
	for i := range len(line) {
		if line[i] != ' ' {
			hash = hash*hashFactor + uint32(line[i])
			continue
		}
		if first >= 0 && !yield(first, pairHash(before, hash)) {
			return
		}
		first, second, before, hash = second, i+1, hash, 0
	}
}

// holders returns the lines that hold this one, and are not equal to it.
func (x *lineIndex) holders(line string) (list []int) {
	line = folded(line)
	eachPair(line, func(_ int, opening uint32) bool {
		for i := x.last[opening]; i > 0; i = x.places[i].before {
			p := x.places[i]
			if in := x.lines[p.line]; len(in) > len(line) && strings.HasPrefix(in[p.at:], line) {
				list = append(list, int(p.line))
			}
		}
		return false
	})
	slices.Reverse(list)
	return list
}

// parting takes rules that have lines of their own out of requests. A narrative is written several times, and most of its
// requests and rules stay the same, so it reads each request once for each of its rules.
type parting struct {
	rests  map[ruleOf]restOf
	orders map[string]bool
}

// ruleOf is a rule in a request as it is shown, which may be only a part of its text.
type ruleOf struct {
	shown, text string
	rule        *item
}

// restOf is what is left of a request; ok says that this is enough.
type restOf struct {
	text string
	ok   bool
}

func newParting() *parting { return &parting{map[ruleOf]restOf{}, map[string]bool{}} }

// withoutRepeats returns the lines of a narrative without those that stand within others, or that are equal to one
// before them. A request leaves out a rule that has a line of its own, as long as it still asks for something without it.
func (u *parting) withoutRepeats(list []chosen) []chosen {
	list = slices.Clone(list)
	index := newLineIndex()
	seen := map[string]bool{}
	for _, c := range list {
		index.add(c.text())
		if c.stays() {
			seen[folded(c.text())] = true
		}
	}
	gone := map[int]bool{}
	for i, c := range list {
		if c.stays() {
			continue
		}
		key := folded(c.text())
		gone[i] = seen[key] || c.it.passing && slices.ContainsFunc(list, c.isToldBy)
		for _, at := range index.holders(c.text()) {
			if c.it.kind != kindRule || !isRequest(list[at]) {
				gone[i] = true
			} else if rest, ok := u.without(list[at], c.it); ok {
				list[at] = rest
			} else if list[at].stays() {
				gone[i] = true
			} else {
				gone[at] = true
			}
		}
		seen[key] = true
	}
	kept := list[:0]
	for i, c := range list {
		if !gone[i] {
			kept = append(kept, c)
		}
	}
	return kept
}

// isToldBy says whether another line tells how the call ended that this one names as the last step.
func (c chosen) isToldBy(other chosen) bool {
	if other.it.kind != kindDone || c.it.kind != kindDoing || !slices.Contains(other.it.cites, c.it.newest()) {
		return false
	}
	call, _, _ := strings.Cut(c.it.text, "`"+outcomeMark)
	return strings.Contains(other.it.text, call)
}

// stays says whether a line is never left out.
func (c chosen) stays() bool { return c.goal || c.it.kind == kindRequest && c.it.last }

// without returns a request without a rule in it. It returns false if too little is left.
func (u *parting) without(c chosen, rule *item) (chosen, bool) {
	in := ruleOf{c.text(), c.it.text, rule}
	rest, known := u.rests[in]
	if !known {
		rest = u.read(in)
		u.rests[in] = rest
	}
	if !rest.ok {
		return c, false
	}
	it := *c.it
	it.text, it.key = rest.text, ""
	c.it = &it
	return c, true
}

func (u *parting) read(in ruleOf) restOf {
	rest := withoutRules(in.shown, afterOpening(in.text, []*item{in.rule}))
	if rest == in.shown || contentUpTo(rest, goalWords) < goalWords || addsToATask(rest) || u.ordersIn(in.shown) && !u.ordersIn(rest) {
		return restOf{}
	}
	return restOf{rest, true}
}

func (u *parting) ordersIn(text string) bool {
	orders, known := u.orders[text]
	if !known {
		var cues cueReader
		orders = cues.ordersIn(text)
		u.orders[text] = orders
	}
	return orders
}

// apartFrom returns statements and quotes without what stands within others of them. A fact within a longer quote is left
// out, and another statement is rather kept than that quote.
func apartFrom(list []chosen, picks []evidence.Pick) ([]chosen, []evidence.Pick) {
	said, quoted := newLineIndex(), newLineIndex()
	for _, c := range list {
		said.add(c.text())
	}
	var lines []evidence.Pick
	picks = evidence.Arrange(picks)
	for _, p := range picks {
		if !p.Alone {
			quoted.add(p.Text)
			lines = append(lines, p)
		}
	}
	gone := map[string]bool{}
	for _, c := range list {
		if c.it.kind != kindFact {
			for _, at := range quoted.holders(c.text()) {
				gone[lines[at].Text] = true
			}
		}
	}
	kept := slices.DeleteFunc(slices.Clone(list), func(c chosen) bool {
		return c.it.kind == kindFact && slices.ContainsFunc(quoted.holders(c.text()), func(at int) bool { return !gone[lines[at].Text] })
	})
	return kept, slices.DeleteFunc(picks, func(p evidence.Pick) bool {
		if p.Alone {
			return false
		}
		key := folded(p.Text)
		again := said.whole[key] > 0
		said.whole[key]++
		return again || gone[p.Text] || len(quoted.holders(p.Text)) > 0 || len(said.holders(p.Text)) > 0
	})
}
