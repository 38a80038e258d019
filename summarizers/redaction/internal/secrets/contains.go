package secrets

import (
	"regexp/syntax"
	"strings"
)

// contains says whether a text contains a match of an expression, without saying where. A general engine takes
// microseconds for each text, and an attacker can write a text in which most of the time is spent on that. So is it
// written as sequences, each of which is only tried where the text has a word of it.
type contains struct {
	// anchored are sequences that may match only at the beginning of a text, and wordless those without a word.
	anchored, wordless []sequence
	// words are one word of each other sequence, and of says for each word which ones have it.
	words *wordSet
	of    [][]worded
}

// worded is a sequence that has a word at a place, before which stand as many characters as before says.
type worded struct {
	sequence
	before int
}

// containsOf returns an expression in this form, or nil if it cannot be written so.
func containsOf(expression string) *contains {
	tree := parsed(expression)
	withoutGreed(tree)
	parts := []*syntax.Regexp{tree}
	if tree.Op == syntax.OpAlternate {
		parts = tree.Sub
	}
	c := &contains{}
	var all []sequence
	for _, part := range parts {
		some, ok := sequencesOf(part)
		if !ok {
			return nil
		}
		for _, s := range some {
			s, ok = c.trimmed(s)
			if !ok {
				return nil
			}
			all = append(all, s)
		}
	}
	c.sort(all)
	return c
}

// withoutGreed makes all repetitions greedy, which does not change whether there is a match.
func withoutGreed(tree *syntax.Regexp) {
	tree.Flags &^= syntax.NonGreedy
	for _, sub := range tree.Sub {
		withoutGreed(sub)
	}
}

// trimmed returns a sequence without what more of a run may stand before it. It says whether the sequence begins with a
// character or at the beginning of a text.
func (c *contains) trimmed(s sequence) (sequence, bool) {
	if len(s) == 0 || s[0].kind != textStart {
		for len(s) > 0 && s[0].kind == characters && s[0].min == 0 {
			s = s[1:]
		}
		if len(s) == 0 || s[0].kind != characters {
			return nil, false
		}
		s[0].max = s[0].min
	}
	s.prepare(1)
	for i := range s {
		s[i].run = 0
	}
	return s, true
}

// sort keeps the sequences by the word of each that the fewest others have.
func (c *contains) sort(all []sequence) {
	shared := make(map[string]int)
	for _, s := range all {
		for word := range s.words() {
			shared[word]++
		}
	}
	numbers, words := make(map[string]int), []string(nil)
	for _, s := range all {
		best, before := "", 0
		for word, at := range s.words() {
			switch less := shared[word] - shared[best]; {
			case best == "" || less < 0 || less == 0 && (len(word) > len(best) || len(word) == len(best) && word < best):
				best, before = word, at
			}
		}
		switch {
		case s[0].kind == textStart:
			c.anchored = append(c.anchored, s)
			continue
		case best == "":
			c.wordless = append(c.wordless, s)
			continue
		}
		number, known := numbers[best]
		if !known {
			number = len(words)
			numbers[best], words, c.of = number, append(words, best), append(c.of, nil)
		}
		c.of[number] = append(c.of[number], worded{s, before})
	}
	if len(words) > 0 {
		c.words = newWordSet(words)
	}
}

// words returns the words of a sequence that stand at a fixed distance from its beginning, with how many characters
// stand before each.
func (s sequence) words() map[string]int {
	words := make(map[string]int)
	var word strings.Builder
	at := 0
	end := func() {
		if word.Len() > 1 {
			words[word.String()] = at - word.Len()
		}
		word.Reset()
	}
	for _, it := range s {
		switch {
		case it.kind == groupStart || it.kind == groupEnd:
			continue
		case it.kind == characters && it.min == 1 && it.max == 1 && it.letter() != 0:
			word.WriteByte(it.letter())
			at++
			continue
		}
		end()
		if it.kind == characters {
			if it.min != it.max {
				return words
			}
			at += it.min
		}
	}
	end()
	return words
}

// letter returns the only character of an item, in lower case: 0 if it may be several.
func (it *item) letter() byte {
	for c := range byte(0x80) {
		if !it.set.has(c) {
			continue
		}
		n := it.set.count()
		switch {
		case capital(c) && (n == 1 || n == 2 && it.set.has(c|0x20)):
			return c | 0x20
		case n == 1:
			return c
		}
		break
	}
	return 0
}

func (c *contains) match(text string) bool {
	t := try{text: text}
	for _, s := range c.anchored {
		if t.match(s, 0) {
			return true
		}
	}
	for _, s := range c.wordless {
		for at := range len(text) {
			if t.match(s, at) {
				return true
			}
		}
	}
	if c.words == nil {
		return false
	}
	state := int32(0)
	for i := range len(text) {
		state = c.words.after(state, text[i])
		for _, word := range c.words.ending(state) {
			for _, w := range c.of[word] {
				if at := i + 1 - c.words.lengths[word] - w.before; at >= 0 && t.match(w.sequence, at) {
					return true
				}
			}
		}
	}
	return false
}
