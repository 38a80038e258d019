package bpe

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// class is a set of bits: the properties of a character that the pre-tokenizers use.
type class uint8

const (
	// upper: Lu and Lt.
	upper class = 1 << iota
	// lower: Ll.
	lower
	// uncased: Lm and Lo.
	uncased
	// mark: M.
	mark
	// number: N.
	number
	// space: White_Space, newlines included.
	space
	// newline: CR and LF.
	newline

	letter = upper | lower | uncased
	// A word of o200k_base is a run of heads, then a run of tails.
	heads = upper | uncased | mark
	tails = lower | uncased | mark
)

// tables are the classes of the Unicode categories.
var tables = []struct {
	table *unicode.RangeTable
	class class
}{
	{unicode.Lu, upper},
	{unicode.Lt, upper},
	{unicode.Ll, lower},
	{unicode.Lm, uncased},
	{unicode.Lo, uncased},
	{unicode.M, mark},
	{unicode.N, number},
	{unicode.White_Space, space},
}

// basic returns the classes of the Basic Multilingual Plane, which contains nearly all text.
var basic = sync.OnceValue(func() *[1 << 16]class {
	var classes [1 << 16]class
	for _, t := range tables {
		for _, r := range t.table.R16 {
			for c := uint32(r.Lo); c <= uint32(r.Hi); c += uint32(r.Stride) {
				classes[c] |= t.class
			}
		}
	}
	classes['\n'] |= newline
	classes['\r'] |= newline
	return &classes
})

// scanner reads the characters of a text and their classes.
type scanner struct {
	text    string
	classes *[1 << 16]class
}

func scan(text string) scanner { return scanner{text, basic()} }

// at returns the class of the character at a position, and its length in bytes: 0 at the end. A byte that is not valid
// UTF-8 is a character without a class.
func (s *scanner) at(i int) (class, int) {
	if i >= len(s.text) {
		return 0, 0
	}
	if c := s.text[i]; c < utf8.RuneSelf {
		return s.classes[c], 1
	}
	r, width := utf8.DecodeRuneInString(s.text[i:])
	if r < 1<<16 {
		return s.classes[r], width
	}
	for _, t := range tables {
		if unicode.Is(t.table, r) {
			return t.class, width
		}
	}
	return 0, width
}

// skip returns the end of the run of characters of these classes that begins at i.
func (s *scanner) skip(i int, of class) int {
	for {
		c, width := s.at(i)
		if width == 0 || c&of == 0 {
			return i
		}
		i += width
	}
}

// skipAtMost is skip for at most n characters.
func (s *scanner) skipAtMost(i int, of class, n int) int {
	for range n {
		c, width := s.at(i)
		if width == 0 || c&of == 0 {
			return i
		}
		i += width
	}
	return i
}

// skipNot returns the end of the run of characters of none of these classes that begins at i.
func (s *scanner) skipNot(i int, of class) int {
	for {
		c, width := s.at(i)
		if width == 0 || c&of != 0 {
			return i
		}
		i += width
	}
}
