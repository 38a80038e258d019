package quotation

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

// longestEntity is how long a character of HTML is at most, from its ampersand on: `&NegativeVeryThinSpace;` and shorter
// ones. The few that are longer are signs of mathematics.
const longestEntity = 24

// firstChar returns the character that a text begins with, as a reader takes it: characters of HTML such as `&lt;` or
// `&#60;`, and spellings such as `\u003c` or `%3C`, count as what they stand for. length is its length in the text.
func firstChar(text string) (r rune, length int) {
	if text == "" {
		return utf8.RuneError, 0
	}
	switch text[0] {
	case '&':
		r, length = entity(text)
	case '\\', '%':
		r, length = escaped(text)
	}
	if length > 0 {
		return r, length
	}
	return utf8.DecodeRuneInString(text)
}

// lastChar returns the character that a text ends with in the same way. A backslash and an n are the end of a line in
// what programs print.
func lastChar(text string) (r rune, length int) {
	if strings.HasSuffix(text, `\n`) || strings.HasSuffix(text, `\r`) {
		return '\n', len(`\n`)
	}
	if text != "" && endsSpelling(text[len(text)-1]) {
		end := text[max(0, len(text)-longestEscape):]
		for at := range len(end) {
			if c := end[at]; c != '&' && c != '\\' && c != '%' {
				continue
			}
			if r, length := firstChar(end[at:]); length == len(end)-at && length > 1 {
				return r, length
			}
		}
	}
	return utf8.DecodeLastRuneInString(text)
}

// endsSpelling says whether a character can be spelled so that it ends in this byte.
func endsSpelling(c byte) bool { return c == ';' || c == '}' || isHex(c) }

// entity reads the character of HTML that a text begins with. The length is 0 where there is none. The semicolon may be
// missing, as browsers allow, and the ampersand may be one of HTML itself.
func entity(text string) (r rune, length int) {
	start := 1
	for strings.HasPrefix(text[start:], "amp;") && start < longestEntity {
		start += len("amp;")
	}
	end := start
	for end < min(len(text), start+longestEntity-1) && isOfEntity(text[end], end-start, text[start]) {
		end++
	}
	if r = named(text[start:end]); r == 0 {
		for _, name := range [...]string{"lt", "gt"} {
			if len(text)-start >= len(name) && strings.EqualFold(text[start:start+len(name)], name) {
				r, end = named(name), start+len(name)
			}
		}
	}
	if r == 0 {
		return 0, 0
	}
	if strings.HasPrefix(text[end:], ";") {
		end++
	}
	return r, end
}

// isOfEntity says whether a byte goes on with a name, or with a number after `#`.
func isOfEntity(c byte, at int, first byte) bool {
	digit := c >= '0' && c <= '9'
	letter := c|0x20 >= 'a' && c|0x20 <= 'z'
	switch {
	case at == 0:
		return letter || c == '#'
	case first != '#':
		return letter || digit
	case at == 1:
		return digit || c|0x20 == 'x'
	}
	return digit || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// named returns the character with a name or number; 0 where there is none.
func named(name string) rune {
	if digits, ok := strings.CutPrefix(name, "#"); ok {
		base := 10
		if digits != "" && digits[0]|0x20 == 'x' {
			digits, base = digits[1:], 16
		}
		n, err := strconv.ParseUint(digits, base, 21)
		if err != nil || !utf8.ValidRune(rune(n)) {
			return 0
		}
		return rune(n)
	}
	for _, spelling := range [...]string{name, strings.ToLower(name)} {
		text := html.UnescapeString("&" + spelling + ";")
		if r, size := utf8.DecodeRuneInString(text); name != "" && size == len(text) {
			return r
		}
	}
	return 0
}

// Around returns the bounds of the character that a place in a text is within, as a reader takes it. Both are the place
// itself where it is between characters.
func Around(text string, at int) (start, end int) {
	for start := max(0, at-longestEscape); start < at; start++ {
		if c := text[start]; c != '&' && c != '\\' && c != '%' {
			continue
		}
		if _, length := firstChar(text[start:]); start+length > at {
			return start, start + length
		}
	}
	return at, at
}
