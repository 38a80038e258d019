package prompts

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

// signAt returns the first character of a text and its length in bytes. The character may be encoded: as an HTML
// entity, as an escape of JSON or of a programming language, as in a URL, and in several of these ways at once.
func signAt(text string) (rune, int) {
	r, size := utf8.DecodeRuneInString(text)
	for {
		var spelled rune
		var length int
		switch rest := text[size:]; r {
		case '&':
			spelled, length = entity(rest)
		case '%':
			spelled, length = number(rest, 16, 2, 2)
			if spelled >= utf8.RuneSelf {
				length = 0
			}
		case '\\':
			spelled, length = escaped(rest)
		}
		if length == 0 {
			return r, size
		}
		r, size = spelled, size+length
	}
}

// longestEntity is the length of the longest entity name.
const longestEntity = 32

// entity reads an entity after its `&`. The semicolon may be missing.
func entity(text string) (r rune, length int) {
	if strings.HasPrefix(text, "#") {
		at, base, digits := 1, 10, len("1114111")
		if len(text) > 1 && text[1]|0x20 == 'x' {
			at, base, digits = 2, 16, len("10ffff")
		}
		for strings.HasPrefix(text[at:], "0") {
			at++
		}
		r, length = number(text[at:], base, 1, digits)
		return ended(r, length, at, text)
	}
	n := 0
	for n < len(text) && n < longestEntity && isAlphanumeric(text[n]) {
		n++
	}
	for _, name := range []struct {
		text string
		r    rune
	}{{"lt", '<'}, {"amp", '&'}, {"num", '#'}, {"lsqb", '['}, {"lbrack", '['}} {
		if n >= len(name.text) && strings.EqualFold(text[:len(name.text)], name.text) {
			return ended(name.r, len(name.text), 0, text)
		}
	}
	if !strings.HasPrefix(text[n:], ";") {
		return 0, 0
	}
	shown := html.UnescapeString("&" + text[:n+1])
	if r, size := utf8.DecodeRuneInString(shown); size == len(shown) && size > 0 {
		return r, n + 1
	}
	return 0, 0
}

// ended adds the bytes before an entity's name or number, and its semicolon, to the length.
func ended(r rune, length, before int, text string) (rune, int) {
	if length == 0 {
		return 0, 0
	}
	if length += before; strings.HasPrefix(text[length:], ";") {
		length++
	}
	return r, length
}

func isAlphanumeric(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// escaped reads the text after a backslash.
func escaped(text string) (r rune, length int) {
	if text == "" {
		return 0, 0
	}
	switch c := text[0]; {
	case c == '\\':
		return '\\', len(text) - len(strings.TrimLeft(text, "\\"))
	case strings.HasPrefix(text[1:], "{") && (c|0x20 == 'u' || c|0x20 == 'x'):
		digits := text[2:]
		digits = strings.TrimLeft(digits, "0")
		r, length = number(digits, 16, 1, len("10ffff"))
		if length == 0 || !strings.HasPrefix(digits[length:], "}") {
			return 0, 0
		}
		return r, len(text) - len(digits) + length + 1
	case c == 'U' && len(text) > 8:
		if r, length = number(text[1:], 16, 8, 8); length > 0 {
			return r, 1 + length
		}
		fallthrough
	case c|0x20 == 'u':
		r, length = number(text[1:], 16, 4, 4)
	case c|0x20 == 'x':
		r, length = number(text[1:], 16, 2, 2)
	case c >= '0' && c <= '7':
		return number(text, 8, 2, 3)
	}
	if length == 0 {
		return 0, 0
	}
	return r, 1 + length
}

// number reads a character's number with at least `least` and at most `most` digits.
func number(text string, base, least, most int) (r rune, length int) {
	for length < len(text) && length < most {
		if _, err := strconv.ParseUint(text[length:length+1], base, 8); err != nil {
			break
		}
		length++
	}
	if length < least {
		return 0, 0
	}
	n, err := strconv.ParseUint(text[:length], base, 32)
	if err != nil || n > utf8.MaxRune || n == 0 {
		return 0, 0
	}
	return rune(n), length
}
