package secrets

import "regexp/syntax"

// contains says whether a text contains a match of an expression, without saying where. A general engine takes
// microseconds for each text, and an attacker can write a text in which most of the time is spent on that.
type contains struct {
	all []sequence
	// anchored are sequences that may match only at the beginning of a text.
	anchored []sequence
	// first are, by the first byte, the sequences that may match there.
	first [256][]int16
	// pairs are the pairs of bytes that one of them may begin with: most places of a text are left at once.
	pairs [1 << 10]uint64
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
	for _, part := range parts {
		all, ok := sequencesOf(part)
		if !ok {
			return nil
		}
		for _, s := range all {
			if !c.add(s) {
				return nil
			}
		}
	}
	return c
}

// withoutGreed makes all repetitions greedy, which does not change whether there is a match.
func withoutGreed(tree *syntax.Regexp) {
	tree.Flags &^= syntax.NonGreedy
	for _, sub := range tree.Sub {
		withoutGreed(sub)
	}
}

// add adds an alternative, without what more of a run may stand before it. It says whether the alternative begins with
// a character.
func (c *contains) add(s sequence) bool {
	if len(s) > 0 && s[0].kind == textStart {
		s.prepare(1)
		for i := range s {
			s[i].run = 0
		}
		c.anchored = append(c.anchored, s)
		return true
	}
	for len(s) > 0 && s[0].kind == characters && s[0].min == 0 {
		s = s[1:]
	}
	if len(s) == 0 || s[0].kind != characters {
		return false
	}
	s[0].max = s[0].min
	s.prepare(1)
	for i := range s {
		s[i].run = 0
	}
	n := int16(len(c.all))
	c.all = append(c.all, s)
	for b := range 256 {
		if s[0].set.has(byte(b)) {
			c.first[b] = append(c.first[b], n)
			c.addPairs(s, b<<8)
		}
	}
	return true
}

// addPairs adds the pairs of a first byte with what may follow it in a sequence.
func (c *contains) addPairs(s sequence, first int) {
	second := s[0]
	if s[0].min == 1 {
		i := 1
		for i < len(s) && (s[i].kind == groupStart || s[i].kind == groupEnd) {
			i++
		}
		second = item{set: bytes{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}}
		if i < len(s) && s[i].kind == characters && s[i].min > 0 {
			second = s[i]
		}
	}
	for b := range 256 {
		if second.set.has(byte(b)) {
			c.pairs[(first|b)>>6] |= 1 << (b & 63)
		}
	}
}

func (c *contains) match(text string) bool {
	t := try{text: text}
	for _, s := range c.anchored {
		if t.match(s, 0) {
			return true
		}
	}
	for at := range len(text) {
		if at+1 < len(text) {
			if pair := int(text[at])<<8 | int(text[at+1]); c.pairs[pair>>6]>>(pair&63)&1 == 0 {
				continue
			}
		}
		for _, n := range c.first[text[at]] {
			if t.match(c.all[n], at) {
				return true
			}
		}
	}
	return false
}
