package strategies

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// field is a field of a JSON object, with its value as it is written.
type field struct{ name, value string }

// fieldsOf returns the first fields of a JSON object, in order, as parts of its text. It returns none where the text is
// anything else, or no valid JSON.
func fieldsOf(text string, most int) []field {
	text = afterSpace(text)
	if !strings.HasPrefix(text, "{") || !json.Valid([]byte(text)) {
		return nil
	}
	var fields []field
	rest := afterSpace(text[1:])
	for rest[0] != '}' && len(fields) < most {
		end := valueEnd(rest)
		name := stringValue(rest[:end])
		// A colon follows a name.
		rest = afterSpace(afterSpace(rest[end:])[1:])
		end = valueEnd(rest)
		fields = append(fields, field{name: name, value: rest[:end]})
		if rest = afterSpace(rest[end:]); rest[0] == ',' {
			rest = afterSpace(rest[1:])
		}
	}
	return fields
}

// valueEnd returns where the value ends that valid JSON begins with.
func valueEnd(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			if depth == 0 {
				return i + scalarEnd(text[i:])
			}
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(text)
}

// stringEnd returns the end of the string that begins at a place of valid JSON.
func stringEnd(text string, at int) int {
	for at++; ; at++ {
		at += strings.IndexByte(text[at:], '"')
		escapes := 0
		for text[at-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at + 1
		}
	}
}

// scalarEnd returns the end of the number, the truth value or the null that valid JSON begins with.
func scalarEnd(text string) int {
	if end := strings.IndexAny(text, ",}] \t\r\n"); end >= 0 {
		return end
	}
	return len(text)
}

func afterSpace(text string) string { return strings.TrimLeft(text, " \t\r\n") }

// stringValue returns the text of a string in valid JSON; empty for any other value.
func stringValue(value string) string {
	if !strings.HasPrefix(value, `"`) {
		return ""
	}
	if plain := value[1 : len(value)-1]; !strings.Contains(plain, `\`) && utf8.ValidString(plain) {
		return plain
	}
	var text string
	if json.Unmarshal([]byte(value), &text) != nil {
		return ""
	}
	return text
}
