package futurereference

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Plain undoes the escapes of JSON strings in a text, however deep, so that escaped and other text are compared alike.
func Plain(text string) string {
	at := strings.IndexByte(text, '\\')
	if at < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for at >= 0 {
		b.WriteString(text[:at])
		text = text[at:]
		end := 0
		for end < len(text) && text[end] == '\\' {
			end++
		}
		plain, length := unescaped(text[end:])
		if length == 0 {
			b.WriteString(text[:end])
		} else {
			b.WriteString(plain)
		}
		text = text[end+length:]
		at = strings.IndexByte(text, '\\')
	}
	b.WriteString(text)
	return b.String()
}

// unescaped returns what the text after backslashes stands for, and the length of the escape; 0 if it is none.
func unescaped(text string) (plain string, length int) {
	if text == "" {
		return "", 0
	}
	switch text[0] {
	case 'n', 'r', 't':
		return "\n", 1
	case '"', '/':
		return text[:1], 1
	case 'u':
		if len(text) < 5 || strings.ContainsFunc(text[1:5], func(r rune) bool { return !isHexDigit(r) }) {
			return "", 0
		}
		code, err := strconv.ParseUint(text[1:5], 16, 32)
		if err != nil || !utf8.ValidRune(rune(code)) {
			// Half of a surrogate pair stays as it is.
			return "", 0
		}
		return string(rune(code)), 5
	default:
		return "", 0
	}
}
