package extractive

import (
	"strings"
	"unicode/utf8"
)

// gap stands where the middle of a text was left out.
const gap = " … "

const gapUnits = 3

// units returns the length of s in UTF-16 code units, the measure in which space is planned. It is near to what every
// estimator counts in proportion; the estimator has the last word.
func units(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		// Each rune counts at its first byte; the runes of four bytes are the pairs of UTF-16.
		switch b := s[i]; {
		case b >= 0xF0:
			n += 2
		case b < 0x80 || b >= 0xC0:
			n++
		}
	}
	return n
}

// prefixUnits returns the longest prefix of s that has at most n units and ends between two runes.
func prefixUnits(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i, r := range s {
		w := 1
		if r > 0xFFFF {
			w = 2
		}
		if n < w {
			return s[:i]
		}
		n -= w
	}
	return s
}

// suffixUnits returns the longest suffix of s that has at most n units and begins between two runes.
func suffixUnits(s string, n int) string {
	if len(s) <= n {
		return s
	}
	i := len(s)
	for i > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		w := 1
		if r > 0xFFFF {
			w = 2
		}
		if n < w {
			break
		}
		n -= w
		i -= size
	}
	return s[i:]
}

// shorten returns s in at most n units, keeping head and tail. Words are kept whole where that costs little.
func shorten(s string, n int) string {
	if units(s) <= n {
		return s
	}
	if n <= 4*gapUnits {
		return prefixUnits(s, max(n, 0))
	}
	left := n - gapUnits
	head := prefixUnits(s, left-left/3)
	tail := suffixUnits(s, left/3)
	if i := strings.LastIndexByte(head, ' '); i > len(head)*3/4 {
		head = head[:i]
	}
	if i := strings.IndexByte(tail, ' '); i >= 0 && i < len(tail)/4 {
		tail = tail[i+1:]
	}
	// A text that was shortened before has its gap already.
	head = strings.TrimRight(head, " …")
	tail = strings.TrimLeft(tail, " …")
	return head + gap + tail
}

// clip bounds the work on a text that is longer than any line could be: what shorten would leave of it is all there.
func clip(s string, bytes int) string {
	if len(s) <= bytes {
		return s
	}
	head, tail := s[:bytes*2/3], s[len(s)-bytes/3:]
	for head != "" && !utf8.RuneStart(s[len(head)]) {
		head = head[:len(head)-1]
	}
	for tail != "" && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return head + gap + tail
}

// lineBreak stands for the end of a line in a text that was brought onto one line.
const lineBreak = " ⏎ "

// oneLine brings a text onto one line: runs of white space become one space, line ends become a sign, other control
// characters go, and broken UTF-8 is repaired.
func oneLine(s string) string {
	s = strings.TrimSpace(s)
	if isPlainLine(s) {
		return s
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	var b strings.Builder
	b.Grow(len(s))
	space, broken := false, false
	for _, r := range s {
		switch {
		case r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' || r == '\u0085' || r == '\v' || r == '\f':
			broken = true
			continue
		case r == ' ' || r == '\t' || r == '\u00A0' || r == '\u3000':
			space = true
			continue
		case r < 0x20 || r >= 0x7F && r < 0xA0 || r == '\uFEFF' || r == '\u200B':
			continue
		}
		if b.Len() > 0 {
			switch {
			case broken:
				b.WriteString(lineBreak)
			case space:
				b.WriteByte(' ')
			}
		}
		space, broken = false, false
		b.WriteRune(r)
	}
	return b.String()
}

// isPlainLine says whether oneLine would leave s as it is; most sentences are so.
func isPlainLine(s string) bool {
	for i := 0; i < len(s); i++ {
		b := s[i]
		if b < 0x20 || b >= 0x7F || b == ' ' && i > 0 && s[i-1] == ' ' {
			return false
		}
	}
	return true
}

// isCJK says whether the rune belongs to a script that is written without spaces between words.
func isCJK(r rune) bool {
	return r >= 0x2E80 && r <= 0x9FFF || r >= 0xAC00 && r <= 0xD7AF || r >= 0xF900 && r <= 0xFAFF ||
		r >= 0xFF00 && r <= 0xFFEF || r >= 0x20000 && r <= 0x3FFFF
}
