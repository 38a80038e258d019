package secrets

import (
	"strings"
	"unicode/utf8"
)

// plain is a text without the escapes of JSON, however often it was escaped, with where each byte comes from.
type plain struct {
	text string
	// from are the places of the bytes in the original, and behind them its length; nil where the two are the same.
	from []int32
}

// original returns where a piece of the text is in the original.
func (p *plain) original(start, end int) (int, int) {
	if p.from == nil {
		return start, end
	}
	return int(p.from[start]), int(p.from[end])
}

// unescaped takes the escapes off. Secrets do not hold backslashes, or hardly: a run of them with what it escapes is taken
// for one character, so that a document in a document in a document is read like any other.
func unescaped(text string) *plain {
	at := strings.IndexByte(text, '\\')
	if at < 0 {
		return &plain{text: text}
	}
	out := make([]byte, 0, len(text))
	from := make([]int32, 0, len(text)+1)
	put := func(c byte, at int) {
		out = append(out, c)
		from = append(from, int32(at))
	}
	changed := false
	for i := 0; i < len(text); {
		if text[i] != '\\' {
			put(text[i], i)
			i++
			continue
		}
		end := i
		for end < len(text) && text[end] == '\\' {
			end++
		}
		c, size := escaped(text[end:])
		if size == 0 {
			for ; i < end; i++ {
				put('\\', i)
			}
			continue
		}
		put(c, i)
		i, changed = end+size, true
	}
	if !changed {
		return &plain{text: text}
	}
	from = append(from, int32(len(text)))
	return &plain{text: string(out), from: from}
}

// escaped returns the character that stands behind backslashes, and how many bytes it takes there; 0 for what is none.
func escaped(text string) (c byte, size int) {
	if text == "" {
		return 0, 0
	}
	switch text[0] {
	case '"', '\'', '/':
		return text[0], 1
	case 'n':
		return '\n', 1
	case 'r':
		return '\r', 1
	case 't':
		return '\t', 1
	case 'u':
		// Encoders write &, <, > and = so.
		if len(text) < 5 || text[1:3] != "00" {
			return 0, 0
		}
		high, low := hexDigit(text[3]), hexDigit(text[4])
		if c := byte(high<<4 | low); high >= 0 && low >= 0 && c > ' ' && c <= '~' {
			return c, 5
		}
	}
	return 0, 0
}

// loosened is the text, byte for byte, with blanks where a character ends a word that the rules do not take for an end:
// they are made for source code, and want a quote, a blank or a semicolon behind a token. `key=TOKEN&v=3`, `(TOKEN)` and
// a sentence in Chinese have none.
func loosened(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c >= utf8.RuneSelf || strings.IndexByte("&,()<>[]{}|!?#*@", c) >= 0 {
			b[i] = ' '
		}
	}
	return string(b)
}

func hexDigit(c byte) int { return strings.IndexByte("0123456789abcdef", c|0x20) }
