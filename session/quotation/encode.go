package quotation

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// marks are the characters that have a backslash in a quotation: our own marks, and those that look like them.
const marks = "«»≪≫⟪⟫"

// Encode returns the words of a quotation without its marks. They are on one line.
func Encode(words string) string {
	if isPlain(words) {
		return words
	}
	return guard(escapeMarks(words))
}

// Decode is the inverse of Encode. It returns false for a text that Encode does not write.
func Decode(text string) (words string, ok bool) {
	words, ok = unescapeMarks(unguard(text))
	return words, ok && Encode(words) == text
}

// isPlain says whether nothing in the words needs an escape, as in most lines.
func isPlain(words string) bool {
	for i := range len(words) {
		switch c := words[i]; {
		case c < ' ' || c >= 0x7F, c == '\\', c == '<', c == '[', c == ':', c == '&', c == '%':
			return false
		}
	}
	return true
}

// escapeMarks puts a backslash before each mark, and a number in braces in place of what is not shown. Backslashes before
// a mark, a brace and the end are doubled.
func escapeMarks(words string) string {
	var b strings.Builder
	b.Grow(len(words) + 8)
	run := 0
	for i := 0; i < len(words); {
		r, size := utf8.DecodeRuneInString(words[i:])
		char := words[i : i+size]
		i += size
		switch {
		case r == '\\':
			run++
			b.WriteByte('\\')
			continue
		case r == utf8.RuneError && size == 1:
			b.WriteString(strings.Repeat(`\`, run) + fmt.Sprintf(`\{x%x}`, char[0]))
		case isHidden(r):
			b.WriteString(strings.Repeat(`\`, run) + fmt.Sprintf(`\{%x}`, r))
		case strings.ContainsRune(marks, r):
			b.WriteString(strings.Repeat(`\`, run) + `\` + char)
		case r == '{':
			b.WriteString(strings.Repeat(`\`, run) + char)
		default:
			b.WriteString(char)
		}
		run = 0
	}
	b.WriteString(strings.Repeat(`\`, run))
	return b.String()
}

// isHidden says whether a character is not shown, breaks a line or changes the order of others. Those that join letters
// of many languages stay.
func isHidden(r rune) bool {
	switch r {
	case '\u200C', '\u200D':
		return false
	case '\u2028', '\u2029', '\u115F', '\u1160', '\u3164', '\uFFA0', '\u2800':
		return true
	}
	return r < ' ' || r >= 0x7F && (unicode.In(r, unicode.Cc, unicode.Cf) || r >= 0xE0000 && r < 0xE1000)
}

// unescapeMarks is the inverse of escapeMarks.
func unescapeMarks(text string) (words string, ok bool) {
	if strings.IndexByte(text, '\\') < 0 {
		return text, true
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		run := len(text[i:]) - len(strings.TrimLeft(text[i:], `\`))
		if i += run; i == len(text) {
			b.WriteString(strings.Repeat(`\`, run/2))
			return b.String(), run%2 == 0
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		char := text[i : i+size]
		switch {
		case r == '{' && run%2 == 1:
			run /= 2
			char, size = hidden(text[i:])
		case r == '{' || strings.ContainsRune(marks, r):
			run /= 2
		}
		b.WriteString(strings.Repeat(`\`, run) + char)
		i += size
	}
	return b.String(), true
}

// hidden reads the number of a character in braces. An open brace without a number stands for itself.
func hidden(text string) (char string, length int) {
	const longest = len("{10ffff}")
	end := strings.IndexByte(text[:min(len(text), longest)], '}')
	if end < 2 {
		return "{", 1
	}
	number := text[1:end]
	if digits, isByte := strings.CutPrefix(number, "x"); isByte {
		if n, err := strconv.ParseUint(digits, 16, 8); err == nil {
			return string([]byte{byte(n)}), end + 1
		}
		return "{", 1
	}
	n, err := strconv.ParseUint(number, 16, 32)
	if err != nil || !isHidden(rune(n)) {
		return "{", 1
	}
	return string(rune(n)), end + 1
}
