package requests

import "bytes"

// countJSON counts the values in a text that may be JSON, and how deep they nest. It never counts less than a parser
// finds in JSON.
func countJSON(text []byte) (values, depth int) {
	values = 1
	open := 0
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '"':
			at = endOfString(text, at+1)
		case ',':
			values++
		case '[', '{':
			values++
			open++
			depth = max(depth, open)
		case ']', '}':
			open--
		}
	}
	return values, depth
}

// endOfString returns where the string ends whose content begins at a position.
func endOfString(text []byte, at int) int {
	for {
		quote := bytes.IndexByte(text[at:], '"')
		if quote < 0 {
			return len(text)
		}
		end := at + quote
		escapes := 0
		for escapes < quote && text[end-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return end
		}
		at = end + 1
	}
}
