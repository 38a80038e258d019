package secrets

import (
	"math/bits"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// sequence is an alternative of an expression: items that follow each other. A backtracking engine for whole
// expressions costs microseconds wherever a text has a keyword. Most alternatives fail at the first or second item.
type sequence []item

// item is a run of characters, a condition on a place, or a mark.
type item struct {
	kind     itemKind
	set      bytes
	min, max int
	// sure says that only the longest run can be followed by the next item.
	sure bool
	// group is the group that a mark begins or ends.
	group int
	// run numbers the items with long runs, from 1.
	run int
}

type itemKind int

const (
	characters itemKind = iota
	wordEdge
	noWordEdge
	textStart
	textEnd
	groupStart
	groupEnd
)

// bytes is a set of bytes. Bytes that are not ASCII are in it all or none.
type bytes [4]uint64

func (b *bytes) has(c byte) bool { return b[c>>6]>>(c&63)&1 != 0 }

func (b *bytes) add(c byte) { b[c>>6] |= 1 << (c & 63) }

func (b *bytes) meets(o *bytes) bool {
	return b[0]&o[0]|b[1]&o[1]|b[2]&o[2]|b[3]&o[3] != 0
}

func (b *bytes) count() (n int) {
	for _, part := range b {
		n += bits.OnesCount64(part)
	}
	return n
}

func setOf(characters string) (b bytes) {
	for i := range len(characters) {
		b.add(characters[i])
	}
	return b
}

func (b *bytes) addOthers() { b[2], b[3] = ^uint64(0), ^uint64(0) }

// maxSequences is how many alternatives an expression may have.
const maxSequences = 200

// unlimited is the longest run of an item without a limit.
const unlimited = 1 << 20

// triedRun is the longest run that is tried again with fewer characters.
const triedRun = 512

// longRun is the length from which the end of a run is remembered.
const longRun = 60

// sequencesOf returns the alternatives of an expression, or false if it is none that can be written in this way.
func sequencesOf(tree *syntax.Regexp) ([]sequence, bool) {
	all, ok := expand(tree)
	if !ok || len(all) > maxSequences {
		return nil, false
	}
	return all, true
}

func expand(tree *syntax.Regexp) ([]sequence, bool) {
	switch tree.Op {
	case syntax.OpEmptyMatch:
		return []sequence{nil}, true
	case syntax.OpLiteral:
		return literal(tree), true
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return []sequence{{item{set: setOfClass(tree), min: 1, max: 1}}}, true
	case syntax.OpWordBoundary:
		return []sequence{{item{kind: wordEdge}}}, true
	case syntax.OpNoWordBoundary:
		return []sequence{{item{kind: noWordEdge}}}, true
	case syntax.OpBeginText:
		return []sequence{{item{kind: textStart}}}, true
	case syntax.OpEndText:
		return []sequence{{item{kind: textEnd}}}, true
	case syntax.OpCapture:
		inner, ok := expand(tree.Sub[0])
		for i := range inner {
			inner[i] = slices.Concat(sequence{{kind: groupStart, group: tree.Cap}}, inner[i], sequence{{kind: groupEnd, group: tree.Cap}})
		}
		return inner, ok
	case syntax.OpConcat:
		return concatenated(tree.Sub)
	case syntax.OpAlternate:
		var all []sequence
		for _, sub := range tree.Sub {
			some, ok := expand(sub)
			if !ok {
				return nil, false
			}
			all = append(all, some...)
		}
		return all, len(all) <= maxSequences
	case syntax.OpStar:
		return repeated(tree, 0, -1)
	case syntax.OpPlus:
		return repeated(tree, 1, -1)
	case syntax.OpQuest:
		return repeated(tree, 0, 1)
	case syntax.OpRepeat:
		return repeated(tree, tree.Min, tree.Max)
	default:
		return nil, false
	}
}

func concatenated(parts []*syntax.Regexp) ([]sequence, bool) {
	all := []sequence{nil}
	for _, part := range parts {
		some, ok := expand(part)
		if !ok || len(all)*len(some) > maxSequences {
			return nil, false
		}
		var longer []sequence
		for _, before := range all {
			for _, after := range some {
				longer = append(longer, slices.Concat(before, after))
			}
		}
		all = longer
	}
	return all, true
}

// repeated expands a repetition: of one character as one item, of others as several alternatives.
func repeated(tree *syntax.Regexp, least, most int) ([]sequence, bool) {
	some, ok := expand(tree.Sub[0])
	if !ok || tree.Flags&syntax.NonGreedy != 0 {
		return nil, false
	}
	if len(some) == 1 && len(some[0]) == 1 && some[0][0].kind == characters && some[0][0].max == 1 {
		if most < 0 {
			most = unlimited
		}
		if least == 0 && most == 1 {
			return []sequence{some[0], nil}, true
		}
		return []sequence{{item{set: some[0][0].set, min: least, max: most}}}, true
	}
	if most < 0 || most > 8 {
		return nil, false
	}
	var all []sequence
	for n := most; n >= least; n-- {
		copies := make([]*syntax.Regexp, n)
		for i := range copies {
			copies[i] = tree.Sub[0]
		}
		more, ok := concatenated(copies)
		if !ok || len(all)+len(more) > maxSequences {
			return nil, false
		}
		all = append(all, more...)
	}
	return all, true
}

func literal(tree *syntax.Regexp) []sequence {
	var s sequence
	for _, r := range tree.Rune {
		for _, c := range []byte(string(r)) {
			it := item{min: 1, max: 1}
			it.set.add(c)
			if tree.Flags&syntax.FoldCase != 0 && r < utf8.RuneSelf {
				it.set.add(byte(unicode.ToLower(r)))
				it.set.add(byte(unicode.ToUpper(r)))
			}
			s = append(s, it)
		}
	}
	return []sequence{s}
}

func setOfClass(tree *syntax.Regexp) (b bytes) {
	if tree.Op != syntax.OpCharClass {
		b = bytes{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
		if tree.Op == syntax.OpAnyCharNotNL {
			b[0] &^= 1 << '\n'
		}
		return b
	}
	for i := 0; i < len(tree.Rune); i += 2 {
		for r := tree.Rune[i]; r <= min(tree.Rune[i+1], utf8.RuneSelf-1); r++ {
			b.add(byte(r))
		}
		// A class that leaves out a few characters has all others. Folding adds single letters to others.
		if tree.Rune[i+1] == unicode.MaxRune {
			b.addOthers()
		}
	}
	return b
}

// prepare finds out where runs need not be tried again with fewer characters, and numbers the long ones from next.
func (s sequence) prepare(next int) int {
	for i := range s {
		it := &s[i]
		if it.kind != characters || it.min == it.max && it.max == 1 {
			continue
		}
		if it.max > longRun {
			it.run = next
			next++
		}
		it.sure = it.min == it.max
		for _, after := range s[i+1:] {
			if after.kind == groupStart || after.kind == groupEnd {
				continue
			}
			it.sure = it.sure || after.kind == textEnd || after.kind == characters && after.min > 0 && !after.set.meets(&it.set)
			break
		}
		if !it.sure {
			it.max = min(it.max, max(it.min, triedRun))
		}
	}
	return next
}

// at returns how far before its first place the sequence has a word in fixed characters, or -1.
func (s sequence) at(word string) int {
	offset := 0
	for i := range s {
		if s.holds(i, word) {
			return offset
		}
		if s[i].kind == characters {
			if s[i].min != s[i].max {
				break
			}
			offset += s[i].min
		}
	}
	return -1
}

// holds says whether the items from i on can be a word, and one of them nothing else.
func (s sequence) holds(i int, word string) bool {
	certain := false
	for ; i < len(s) && word != ""; i++ {
		it := &s[i]
		if it.kind == groupStart || it.kind == groupEnd {
			continue
		}
		lower, upper := word[0], byte(unicode.ToUpper(rune(word[0])))
		if it.kind != characters || it.min != 1 || it.max != 1 || !it.set.has(lower) && !it.set.has(upper) {
			return false
		}
		certain = certain || it.set.count() <= 2
		word = word[1:]
	}
	return word == "" && certain
}

// longest remembers the end of the run that a place is in.
type longest struct{ start, end int }

// try is an attempt to match a sequence.
type try struct {
	text string
	// runs are the runs of long items that were read last.
	runs []longest
	// groups are the ends of the groups.
	groups [16]int
	end    int
	// steps counts the attempts, and the characters of runs.
	steps int
}

// match says whether a sequence matches from a place on.
func (t *try) match(s sequence, at int) bool {
	t.steps++
	for i := range s {
		it := &s[i]
		switch it.kind {
		case characters:
			if it.max == 1 && it.min == 1 {
				if at >= len(t.text) || !it.set.has(t.text[at]) {
					return false
				}
				at++
				continue
			}
			n := t.runLength(it, at)
			if n < it.min {
				return false
			}
			if it.sure {
				at += n
				continue
			}
			for ; n >= it.min; n-- {
				if t.match(s[i+1:], at+n) {
					return true
				}
			}
			return false
		case groupStart, groupEnd:
			if g := 2*it.group + int(it.kind-groupStart); g < len(t.groups) {
				t.groups[g] = at
			}
		default:
			if !it.allows(t.text, at) {
				return false
			}
		}
	}
	t.end = at
	return true
}

func (it *item) allows(text string, at int) bool {
	switch it.kind {
	case textStart:
		return at == 0
	case textEnd:
		return at == len(text)
	default:
		edge := (at > 0 && wordByte(text[at-1])) != (at < len(text) && wordByte(text[at]))
		return edge == (it.kind == wordEdge)
	}
}

// runLength returns how many characters of an item stand at a place.
func (t *try) runLength(it *item, at int) int {
	if it.run > 0 {
		if r := t.runs[it.run]; at >= r.start && at < r.end {
			return min(r.end-at, it.max)
		}
	}
	n := 0
	for at+n < len(t.text) && it.set.has(t.text[at+n]) && (n < it.max || it.run > 0 && n < unlimited) {
		n++
	}
	t.steps += n
	if it.run > 0 {
		t.runs[it.run] = longest{at, at + n}
	}
	return min(n, it.max)
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
