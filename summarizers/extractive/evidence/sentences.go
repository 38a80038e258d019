package evidence

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentences returns the sentences of a line of prose, with those that are too short to be quoted alone at the end of the
// sentence before them.
func sentences(line string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for i := 0; i < len(line); {
			r, size := utf8.DecodeRuneInString(line[i:])
			i += size
			if !endsSentence(r, line[i:]) || len(strings.TrimSpace(line[i:])) < minWord {
				continue
			}
			if !yield(strings.TrimSpace(line[start:i])) {
				return
			}
			start = i
		}
		yield(strings.TrimSpace(line[start:]))
	}
}

// endsSentence says whether a character ends a sentence before a text. A point of an abbreviation does not: a small
// letter comes after it.
func endsSentence(r rune, after string) bool {
	switch r {
	case '。', '！', '？':
		return true
	case '.', '!', '?':
		next, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, " "))
		return strings.HasPrefix(after, " ") && !unicode.IsLower(next)
	}
	return false
}
