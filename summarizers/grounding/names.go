package grounding

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// mention is the first mention of a name in a text.
type mention struct {
	name evidence.Name
	// start and end are its place in the text. The end is after the signs that belong to it.
	start, end int
	place      place
}

// mentions returns the first mention of each name that is looked up.
func mentions(text string) []mention {
	var all []mention
	seen := map[evidence.Name]bool{}
	wholes := wholesOf(text)
	evidence.Names(text, func(n evidence.Name, at int) {
		if seen[n] {
			return
		}
		w, _ := around(wholes, at)
		if !lookedUp(n, text, at, w) {
			return
		}
		seen[n] = true
		end := endOf(n, text, at)
		all = append(all, mention{n, at, end, placeOf(text, at, end, wholes)})
	})
	return all
}

// lookedUp says whether a name must be in the source. Models put code between backquotes and fences that they compose:
// the names in it are looked up by themselves.
func lookedUp(n evidence.Name, text string, at int, w whole) bool {
	if n.Kind == evidence.Quotation {
		// Without a space it is a name in quotation marks.
		return text[at-1] != '`' && !w.code && strings.Contains(n.Text, " ")
	}
	end := at + len(n.Text)
	qualified := at > 1 && text[at-1] == '.' && wordSize(text[at-2:]) > 0
	called := end < len(text) && text[end] == '('
	return !commonplace(n, w.code || qualified || called)
}

// endOf returns the end of a name at start with the signs after it: `()` of a function, `:12` or `:12-20` of a file's
// lines, an apostrophe with an ending, and the mark that ends a quotation of it.
func endOf(n evidence.Name, text string, start int) int {
	at := start + len(n.Text)
	if strings.HasPrefix(text[at:], "()") {
		at += len("()")
	}
	if end := at + 1; strings.HasPrefix(text[at:], ":") {
		for end < len(text) && (isDigit(text[end]) || text[end] == '-' || text[end] == ':') {
			end++
		}
		if end > at+1 {
			at = end
		}
	}
	if size := apostrophe(text[at:]); size > 0 {
		return at + size
	}
	if at < len(text) && start > 0 && strings.IndexByte("\"`'", text[at]) >= 0 && (text[start-1] == text[at] || n.Kind == evidence.Quotation) {
		at++
	}
	return at
}

// apostrophe returns the size of an apostrophe and the letters after it, or 0 where the text begins with none.
func apostrophe(text string) int {
	for _, sign := range []string{"'", "’"} {
		if rest, ok := strings.CutPrefix(text, sign); ok {
			size := len(rest) - len(strings.TrimLeftFunc(rest, unicode.IsLetter))
			if size > 0 {
				return len(sign) + size
			}
		}
	}
	return 0
}

// groups returns the words of a name that the source must have: those of each group next to each other.
func groups(n evidence.Name) [][]string {
	var parts []string
	switch n.Kind {
	case evidence.Path:
		parts = strings.Split(n.Text, "/")
		if isPlainFile(n.Text) {
			// The file may have been named without its extension.
			parts = strings.SplitN(n.Text, ".", 2)[:1]
		}
	case evidence.URL:
		_, rest, _ := strings.Cut(n.Text, "://")
		rest = ownHost().ReplaceAllString(rest, "")
		parts = strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("/?&=#", r) })
	case evidence.Quotation:
		parts = strings.Split(omissions().ReplaceAllString(n.Text, "..."), "...")
	default:
		parts = []string{n.Text}
	}
	var all [][]string
	for _, part := range parts {
		var group []string
		eachWord(part, func(word []byte, escaped bool) {
			if escaped && opensEscape(word) {
				word = word[1:]
			}
			group = append(group, string(word))
		})
		if len(group) > 0 {
			all = append(all, group)
		}
	}
	return all
}

// omissions are what a quotation leaves out: an ellipsis, or what stands in brackets in its place.
var omissions = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`…|\[[^]]*\]`)
})

// ownHost is the part of a URL that means the machine itself, which models write for a port.
var ownHost = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:localhost|127\.0\.0\.1|0\.0\.0\.0)(?::\d+)?`)
})

// opensEscape says whether a word after a backslash can begin with the letter of an escaped line end or tab.
func opensEscape(word []byte) bool { return len(word) > 1 && strings.IndexByte("nrt", word[0]) >= 0 }

// eachWord calls yield for each word of a text in lower case: letters, digits and underscores, without underscores at
// its ends. escaped says that the word follows a backslash, so that its first letter may be that of an escaped line end.
// The word is valid during the call.
func eachWord(text string, yield func(word []byte, escaped bool)) {
	var lower []byte
	for at := 0; at < len(text); {
		start := at
		for at < len(text) {
			size := wordSize(text[at:])
			if size == 0 {
				break
			}
			at += size
		}
		if at == start {
			_, size := utf8.DecodeRuneInString(text[at:])
			at += size
			continue
		}
		lower = append(lower[:0], strings.Trim(text[start:at], "_")...)
		for i, c := range lower {
			if c >= 'A' && c <= 'Z' {
				lower[i] = c + 'a' - 'A'
			}
		}
		if len(lower) > 0 {
			yield(lower, start > 0 && text[start-1] == '\\')
		}
	}
}

// wordSize returns the size of the character that a text begins with if it can stand in a word, or else 0. Scripts
// without spaces have no words.
func wordSize(text string) int {
	c := text[0]
	switch {
	case c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z':
		return 1
	case c < utf8.RuneSelf:
		return 0
	}
	r, size := utf8.DecodeRuneInString(text)
	if !unicode.IsLetter(r) || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
		return 0
	}
	return size
}
