package rawjson

import "bytes"

// maxNesting is how many levels of arrays and objects a value can have. It is that of encoding/json.
const maxNesting = 10_000

// Valid reports the same as json.Valid. Most bytes of a list are in strings, which it passes in a fraction of the time.
func Valid(raw []byte) bool {
	v := validator{raw: raw}
	v.space()
	if !v.value() {
		return false
	}
	v.space()
	return v.at == len(raw)
}

// validator passes over JSON. Its methods report whether what they expect is there.
type validator struct {
	raw       []byte
	at, depth int
}

// peek returns the next byte; 0, which is nowhere valid outside of a string, at the end.
func (v *validator) peek() byte {
	if v.at == len(v.raw) {
		return 0
	}
	return v.raw[v.at]
}

func (v *validator) pass(c byte) bool {
	if v.peek() != c {
		return false
	}
	v.at++
	return true
}

func (v *validator) space() {
	for v.at < len(v.raw) && (v.raw[v.at] == ' ' || v.raw[v.at] == '\n' || v.raw[v.at] == '\t' || v.raw[v.at] == '\r') {
		v.at++
	}
}

func (v *validator) value() bool {
	switch v.peek() {
	case '"':
		return v.text()
	case '{':
		return v.list('{', '}', v.field)
	case '[':
		return v.list('[', ']', v.value)
	case 't':
		return v.word("true")
	case 'f':
		return v.word("false")
	case 'n':
		return v.word("null")
	default:
		return v.number()
	}
}

// list passes the elements of an array, or the fields of an object.
func (v *validator) list(opens, closes byte, element func() bool) bool {
	if v.depth++; v.depth > maxNesting {
		return false
	}
	v.pass(opens)
	v.space()
	for more := v.peek() != closes; more; more = v.pass(',') {
		v.space()
		if !element() {
			return false
		}
		v.space()
	}
	v.depth--
	return v.pass(closes)
}

func (v *validator) field() bool {
	if !v.text() {
		return false
	}
	v.space()
	if !v.pass(':') {
		return false
	}
	v.space()
	return v.value()
}

func (v *validator) word(w string) bool {
	if !bytes.HasPrefix(v.raw[v.at:], []byte(w)) {
		return false
	}
	v.at += len(w)
	return true
}

// text passes a string.
func (v *validator) text() bool {
	if !v.pass('"') {
		return false
	}
	raw, at := v.raw, v.at
	for at < len(raw) {
		c := raw[at]
		if at++; c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		v.at = at
		if c != '\\' {
			return c == '"'
		}
		if !v.escape() {
			return false
		}
		at = v.at
	}
	return false
}

// escape passes what follows a backslash.
func (v *validator) escape() bool {
	switch c := v.peek(); c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		v.at++
		return true
	case 'u':
		for range 4 {
			if v.at++; !isHex(v.peek()) {
				return false
			}
		}
		v.at++
		return true
	default:
		return false
	}
}

func isHex(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (v *validator) number() bool {
	v.pass('-')
	if !v.pass('0') && !v.digits() {
		return false
	}
	if v.pass('.') && !v.digits() {
		return false
	}
	if v.pass('e') || v.pass('E') {
		if !v.pass('+') {
			v.pass('-')
		}
		return v.digits()
	}
	return true
}

// digits passes at least one digit.
func (v *validator) digits() bool {
	start := v.at
	for isDigit(v.peek()) {
		v.at++
	}
	return v.at > start
}
