package secrets

import "strings"

// plain is a text without the escapes of JSON and addresses, at all levels of escaping, with the origin of each byte.
type plain struct {
	text string
	// from holds the offset of each byte in the original, and finally the original's length. It is nil if both texts
	// are the same.
	from []int32
}

// original returns the range in the original for a range of the text.
func (p *plain) original(start, end int) (int, int) {
	if p.from == nil {
		return start, end
	}
	return int(p.from[start]), int(p.from[end])
}

// unescaped removes the escapes of JSON, and those of addresses for what separates names and values. Secrets hardly ever
// contain backslashes, so a run of backslashes with the character after it counts as one character. A document that is
// nested in others is thus read like any other.
func unescaped(text string) *plain {
	if strings.IndexByte(text, '\\') < 0 && strings.IndexByte(text, '%') < 0 {
		return &plain{text: text}
	}
	var out strings.Builder
	out.Grow(len(text))
	from := make([]int32, 0, len(text)+1)
	// keep copies what is no escape.
	keep := func(at, end int) {
		out.WriteString(text[at:end])
		for ; at < end; at++ {
			from = append(from, int32(at))
		}
	}
	put := func(c byte, at int) {
		out.WriteByte(c)
		from = append(from, int32(at))
	}
	changed := false
	for i := 0; i < len(text); {
		start := i
		for i < len(text) && text[i] != '\\' && text[i] != '%' {
			i++
		}
		keep(start, i)
		if i == len(text) {
			break
		}
		if text[i] == '%' {
			c, size := percent(text[i:])
			if size == 0 {
				keep(i, i+1)
				i++
				continue
			}
			put(c, i)
			i, changed = i+size, true
			continue
		}
		end := i
		for end < len(text) && text[end] == '\\' {
			end++
		}
		c, size := escaped(text[end:])
		if size == 0 {
			keep(i, end)
			i = end
			continue
		}
		put(c, i)
		i, changed = end+size, true
	}
	if !changed {
		return &plain{text: text}
	}
	from = append(from, int32(len(text)))
	return &plain{text: out.String(), from: from}
}

// percent returns the character that an escape in an address stands for, and the length of the escape: 0 if it is none.
// Encoders that run several times write the sign of percent as %25.
func percent(text string) (c byte, size int) {
	at := 1
	for strings.HasPrefix(text[at:], "25") {
		at += 2
	}
	if len(text) < at+2 {
		return 0, 0
	}
	switch text[at : at+2] {
	case "3D":
		c = '='
	case "26":
		c = '&'
	case "3F":
		c = '?'
	case "22":
		c = '"'
	case "3A":
		c = ':'
	case "2C":
		c = ','
	case "7B":
		c = '{'
	case "7D":
		c = '}'
	default:
		return 0, 0
	}
	return c, at + 2
}

// escaped returns the character after backslashes, and its length there. The length is 0 if it is not an escape.
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
		// Encoders write &, <, > and = in this way.
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

func hexDigit(c byte) int { return strings.IndexByte("0123456789abcdef", c|0x20) }
