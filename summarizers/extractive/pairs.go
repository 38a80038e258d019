package extractive

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// stretch is a part of a text, from one byte to before another.
type stretch struct{ from, to int }

// longestPair is how many bytes a bracket pair or a quotation has at most that no cut divides. A bracket without its
// partner ends there, too.
const longestPair = 160

// unbroken returns the parts of a text that mean something only as a whole: code spans, bracket pairs with what they link
// to, and quotations. They are in order, and none is within another.
func unbroken(s string) []stretch {
	if !strings.ContainsAny(s, "`([{\"“«„「『") {
		return nil
	}
	var list []stretch
	for i := 0; i < len(s); {
		end := 0
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '`':
			end = spanEnd(s, i)
		case r == '"':
			end = quotationEnd(s, i)
		case closers[r] != 0:
			end = pairEnd(s, i, r, closers[r])
		}
		if end == 0 {
			i += size
			continue
		}
		if s[end-1] == ']' && end < len(s) && s[end] == '(' {
			if target := pairEnd(s, end, '(', ')'); target > 0 {
				end = target
			}
		}
		list = append(list, stretch{i, end})
		i = end
	}
	return list
}

// closers are the ends of brackets and quotations.
var closers = map[rune]rune{'(': ')', '[': ']', '{': '}', '“': '”', '„': '“', '«': '»', '「': '」', '『': '』'}

// spanEnd returns the end of the code span that begins at s[i], or of the backquotes if none begins there.
func spanEnd(s string, i int) int {
	ticks := 1
	for i+ticks < len(s) && s[i+ticks] == '`' {
		ticks++
	}
	mark := s[i : i+ticks]
	for at := i + ticks; ; {
		next := strings.Index(s[at:], mark)
		if next < 0 {
			return i + ticks
		}
		end := at + next + ticks
		more := end
		for more < len(s) && s[more] == '`' {
			more++
		}
		if more == end {
			return end
		}
		at = more
	}
}

// quotationEnd returns the end of the quotation that begins at s[i], or 0 if none does. A mark between letters, or after
// a digit, is none.
func quotationEnd(s string, i int) int {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	if i > 0 && inWord(before) || i+1 == len(s) || s[i+1] == ' ' {
		return 0
	}
	for at := i + 1; at < min(len(s), i+longestPair); at++ {
		if s[at] != '"' {
			continue
		}
		after, _ := utf8.DecodeRuneInString(s[at+1:])
		if at+1 == len(s) || !unicode.IsLetter(after) && !unicode.IsNumber(after) {
			return at + 1
		}
	}
	return 0
}

// pairEnd returns the end of the bracket pair that begins at s[i], or 0 if its end is not near.
func pairEnd(s string, i int, open, closed rune) int {
	depth := 0
	for at, r := range s[i:min(len(s), i+longestPair)] {
		switch r {
		case closed:
			if depth--; depth == 0 {
				return i + at + utf8.RuneLen(r)
			}
		case open:
			depth++
		}
	}
	return 0
}

// dividedAt returns the stretch that a cut at a place would divide.
func dividedAt(list []stretch, at int) (stretch, bool) {
	for _, p := range list {
		if p.from < at && at < p.to {
			return p, true
		}
	}
	return stretch{}, false
}

// closing returns what closes a pair: the backquotes of its beginning, or else its last character.
func (p stretch) closing(s string) string {
	if ticks := p.ticks(s); ticks != "" {
		return ticks
	}
	_, size := utf8.DecodeLastRuneInString(s[:p.to])
	return s[p.to-size : p.to]
}

// ticks returns the backquotes around a code span. It returns an empty text for another pair.
func (p stretch) ticks(s string) string {
	return s[p.from : p.from+len(s[p.from:p.to])-len(strings.TrimLeft(s[p.from:p.to], "`"))]
}
