package extractive

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// gap replaces the middle of a shortened text.
const gap = " … "

const gapUnits = 3

// openGap ends a text whose end is cut off.
const openGap = " …"

// units returns the length of s in UTF-16 code units, in which sizes are planned. Every estimator's count is roughly
// proportional to it. The estimator decides in the end.
func units(s string) int {
	n := len(s)
	for i := range len(s) {
		b := s[i]
		if b < utf8.RuneSelf {
			continue
		}
		// Each character counts at its first byte. A character of four bytes is a pair in UTF-16.
		switch {
		case b >= 0xF0:
			n++
		case b < 0xC0:
			n--
		}
	}
	return n
}

// prefixUnits returns the longest prefix of s with at most n units. It does not cut a character.
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

// suffixUnits returns the longest suffix of s with at most n units. It does not cut a character.
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

// shorten cuts the middle out of s, so that at most n units remain. It cuts no word, unless a single one is too long, and
// no code span, bracket pair or quotation, unless little else would be left.
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
	end, start := wordEnd(s, len(head)), len(s)-len(tail)
	for start < len(s) && cutsWord(s, start) {
		start++
	}
	end, start, closing, opening := aroundPairs(s, end, start)
	if end == 0 && start == len(s) {
		return oneEnd(s, n, head, tail)
	}
	head, tail = s[:end], s[start:]
	// The text may have a gap from an earlier cut.
	head = strings.TrimRight(head, " …")
	tail = strings.TrimLeft(tail, " …")
	switch {
	case head == "":
		return strings.TrimLeft(gap, " ") + tail
	case strings.HasPrefix(closing, "`"):
		// A code span has only what stands so in the source.
		head += closing + openGap
	default:
		head += openGap + closing
	}
	if tail == "" {
		return head
	}
	return head + " " + opening + tail
}

// oneEnd returns one end of a text of long words that has at most n units, with as many whole words as fit. If neither its first
// word nor its last one fits, the first one is cut. head and tail are what is left of both ends of a text without spaces.
func oneEnd(s string, n int, head, tail string) string {
	n -= units(openGap)
	if end := wordEnd(s, len(prefixUnits(s, n))); end > 0 {
		return strings.TrimRight(s[:end], " …") + openGap
	}
	start := len(s) - len(suffixUnits(s, n))
	for start < len(s) && cutsWord(s, start) {
		start++
	}
	if start < len(s) {
		return strings.TrimLeft(openGap, " ") + " " + strings.TrimLeft(s[start:], " …")
	}
	if first, _, more := strings.Cut(s, " "); more && first != "" {
		return strings.TrimRight(shorten(first, n), " …") + openGap
	}
	return strings.TrimRight(head, " …") + gap + strings.TrimLeft(tail, " …")
}

// wordEnd returns the last place up to this one where no word is cut.
func wordEnd(s string, at int) int {
	for at > 0 && cutsWord(s, at) {
		at--
	}
	return at
}

// aroundPairs moves the ends of a gap so that it divides no pair. A pair that has most of the text before the gap is
// divided nevertheless: the gap is within it, or at its end, and closing is what closes the pair then. A code span becomes
// two, and opening is what opens the second one.
func aroundPairs(s string, end, start int) (newEnd, newStart int, closing, opening string) {
	pairs := unbroken(s)
	first, inFirst := dividedAt(pairs, end)
	last, inLast := dividedAt(pairs, start)
	large := inFirst && first.from < end/2
	if large && inLast && first == last {
		ticks := first.ticks(s)
		if shorter := wordEnd(s, max(end-2*len(ticks), 0)); shorter > first.from+len(ticks) {
			return shorter, start, ticks, ticks
		}
		return end, start, "", ""
	}
	if inLast {
		start = last.to
	}
	switch {
	case large:
		closing = first.closing(s)
		if shorter := wordEnd(s, max(end-len(closing), 0)); shorter > first.from {
			return shorter, start, closing, ""
		}
		return first.from, start, "", ""
	case inFirst:
		end = first.from
	}
	return end, start, "", ""
}

// cutsWord says whether s[at] continues a word, a path or an identifier.
func cutsWord(s string, at int) bool {
	if !utf8.RuneStart(s[at]) {
		return true
	}
	before, width := utf8.DecodeLastRuneInString(s[:at])
	after, size := utf8.DecodeRuneInString(s[at:])
	switch {
	case joinsLetters(before):
		before, _ = utf8.DecodeLastRuneInString(s[:at-width])
	case joinsLetters(after):
		after, _ = utf8.DecodeRuneInString(s[at+size:])
	}
	return inWord(before) && inWord(after)
}

// joinsLetters says whether a character between two letters makes one word of them, as in "hasn't".
func joinsLetters(r rune) bool { return r == '\'' || r == '’' }

// inWord says whether a character can be within a word. Scripts without spaces have no words to cut.
func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return isIdentifierByte[byte(r)]
	}
	return unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark) && !isCJK(r)
}

// longWord is how many bytes a word can have that clip does not cut.
const longWord = 200

// clip limits the work on a very long text. It keeps more of both ends than shorten would.
func clip(s string, bytes int) string {
	if len(s) <= bytes {
		return s
	}
	end, start := bytes*2/3, len(s)-bytes/3
	for least := end - longWord; end > 0 && (!utf8.RuneStart(s[end]) || end > least && cutsWord(s, end)); {
		end--
	}
	for most := start + longWord; start < len(s) && (!utf8.RuneStart(s[start]) || start < most && cutsWord(s, start)); {
		start++
	}
	return s[:end] + gap + s[start:]
}

// lineBreak replaces a line end in a text that was put on one line.
const lineBreak = " ⏎ "

// oneLine puts a text on one line: it replaces white space by single spaces and line ends by a sign, removes other
// control characters, and repairs invalid UTF-8.
func oneLine(s string) string {
	s = strings.TrimSpace(s)
	if isPlainLine(s) {
		return s
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	var b strings.Builder
	b.Grow(len(s))
	space, broken := false, false
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		begin := i
		i += size
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
		// What is plain after it is written with it.
		for i < len(s) && isPlainAt(s, i) {
			i++
		}
		b.WriteString(s[begin:i])
	}
	return b.String()
}

// isPlainAt says whether oneLine would leave the byte at i unchanged, which is not the first of s.
func isPlainAt(s string, i int) bool {
	if s[i] == ' ' {
		return i+1 < len(s) && s[i+1] > ' ' && s[i+1] < 0x7F && s[i-1] != ' '
	}
	return s[i] > ' ' && s[i] < 0x7F
}

// isPlainLine says whether oneLine would leave s unchanged, as it does for most sentences.
func isPlainLine(s string) bool {
	for i := 0; i < len(s); i++ {
		b := s[i]
		if b < 0x20 || b >= 0x7F || b == ' ' && i > 0 && s[i-1] == ' ' {
			return false
		}
	}
	return true
}

// isCJK says whether the character belongs to a script without spaces between words.
func isCJK(r rune) bool {
	return r >= 0x2E80 && r <= 0x9FFF || r >= 0xAC00 && r <= 0xD7AF || r >= 0xF900 && r <= 0xFAFF ||
		r >= 0xFF00 && r <= 0xFFEF || r >= 0x20000 && r <= 0x3FFFF
}
