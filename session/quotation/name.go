package quotation

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// CanBeSentence says whether a name that somebody chose, such as that of a file, can be a sentence: it has white space, or
// characters of scripts that are written without it.
func CanBeSentence(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool {
		if r < utf8.RuneSelf {
			return r <= ' ' || r == 0x7F || r == '`'
		}
		return !unicode.In(r, spaced...) || !unicode.In(r, unicode.L, unicode.M, unicode.Nd)
	})
}

// spaced are the scripts that have spaces between words, and marks of any script.
var spaced = []*unicode.RangeTable{
	unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Armenian, unicode.Georgian, unicode.Hebrew, unicode.Arabic,
	unicode.Devanagari, unicode.Bengali, unicode.Gujarati, unicode.Gurmukhi, unicode.Tamil, unicode.Telugu, unicode.Kannada,
	unicode.Malayalam, unicode.Inherited,
}
