package rawjson

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Quote returns a text as JSON. It does not escape characters that only HTML needs escaped.
func Quote(text string) json.RawMessage {
	return appendText(make(json.RawMessage, 0, textSize(text)), text)
}

// textSize returns about how many bytes a text has as JSON.
func textSize(text string) int { return len(text) + len(text)/8 + 2 }

// Integer returns a whole number as JSON.
func Integer[T ~int | ~int32 | ~int64 | ~uint32](n T) json.RawMessage {
	return strconv.AppendInt(nil, int64(n), 10)
}

// leadingKeys are written first, since people look for them at the start. The others follow in alphabetical order.
var leadingKeys = []string{"type", "role", "id", "name"}

// Encode returns an object as JSON. The same object always has the same bytes.
func (o Object) Encode() json.RawMessage { return o.appendTo(make([]byte, 0, o.size())) }

// size returns about how many bytes an object has as JSON.
func (o Object) size() int {
	size := 2
	for key, value := range o {
		size += len(key) + len(value) + 4
	}
	return size
}

func (o Object) appendTo(b []byte) []byte {
	return o.appendFields(b, func(b []byte, key string) []byte { return append(b, o[key]...) })
}

// appendFields appends an object, whose values write appends.
func (o Object) appendFields(b []byte, write func(b []byte, key string) []byte) []byte {
	var few [8]string
	keys := few[:0]
	for key := range o {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, compareKeys)
	b = append(b, '{')
	for i, key := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = write(append(appendText(b, key), ':'), key)
	}
	return append(b, '}')
}

// EncodeWithText returns an object with one more field, a text, as JSON. The text is written in its place, and is in the
// object then.
func (o Object) EncodeWithText(key, text string) json.RawMessage {
	return o.encodeWith(key, textSize(text), func(b []byte) []byte { return appendText(b, text) })
}

// encodeWith encodes an object with one more field of about so many bytes, whose value write appends.
func (o Object) encodeWith(added string, bytes int, write func(b []byte) []byte) json.RawMessage {
	o[added] = nil
	start, end := 0, 0
	raw := o.appendFields(make([]byte, 0, o.size()+bytes), func(b []byte, key string) []byte {
		if key != added {
			return append(b, o[key]...)
		}
		start = len(b)
		b = write(b)
		end = len(b)
		return b
	})
	o[added] = raw[start:end:end]
	return raw
}

func compareKeys(a, b string) int {
	if d := leading(a) - leading(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

func leading(key string) int {
	if at := slices.Index(leadingKeys, key); at >= 0 {
		return at
	}
	return len(leadingKeys)
}

// EncodeArray returns an array as JSON.
func EncodeArray(elements []json.RawMessage) json.RawMessage {
	return appendArray(make([]byte, 0, arraySize(elements)), elements)
}

func arraySize(elements []json.RawMessage) int {
	size := 2
	for _, element := range elements {
		size += len(element) + 1
	}
	return size
}

func appendArray(b []byte, elements []json.RawMessage) []byte {
	b = append(b, '[')
	for i, element := range elements {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, element...)
	}
	return append(b, ']')
}

// Equal reports whether two valid JSON values are equal: numbers as they are written, strings after decoding, objects
// in any order of keys. Unpaired halves of surrogate pairs, which decoding replaces, are compared unchanged.
func Equal(a, b json.RawMessage) bool {
	a, b = bytes.TrimSpace(a), bytes.TrimSpace(b)
	if bytes.Equal(a, b) {
		return true
	}
	kind := KindOf(a)
	if kind != KindOf(b) {
		return false
	}
	switch kind {
	case String:
		return slices.Equal(codeUnits(a), codeUnits(b))
	case Array:
		return equalArrays(a, b)
	case ObjectKind:
		return equalObjects(a, b)
	default:
		return false
	}
}

func equalArrays(a, b json.RawMessage) bool {
	as, errA := ParseArray(a)
	bs, errB := ParseArray(b)
	return errA == nil && errB == nil && slices.EqualFunc(as, bs, Equal)
}

func equalObjects(a, b json.RawMessage) bool {
	ao, errA := ParseObject(a)
	bo, errB := ParseObject(b)
	if errA != nil || errB != nil || len(ao) != len(bo) {
		return false
	}
	for key, value := range ao {
		other, found := bo[key]
		if !found || !Equal(value, other) {
			return false
		}
	}
	return true
}

// Keeps reports whether decoding a valid JSON value changes nothing: it has no unpaired half of a surrogate pair.
// Programs that count UTF-16 units leave such halves where they cut a text within a character.
func Keeps(raw json.RawMessage) bool {
	if !HasNumbers(raw) {
		return true
	}
	units := codeUnits(raw)
	for i := 0; i < len(units); i++ {
		if !utf16.IsSurrogate(rune(units[i])) {
			continue
		}
		if i+1 == len(units) || utf16.DecodeRune(rune(units[i]), rune(units[i+1])) == utf8.RuneError {
			return false
		}
		i++
	}
	return true
}

// codeUnits returns the UTF-16 code units of JSON text, with its escapes decoded.
func codeUnits(raw json.RawMessage) []uint16 {
	units := make([]uint16, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '\\' || i+1 >= len(raw) {
			r, size := utf8.DecodeRune(raw[i:])
			units = utf16.AppendRune(units, r)
			i += size
			continue
		}
		if raw[i+1] == 'u' && i+6 <= len(raw) {
			units = append(units, hex(raw[i+2:i+6]))
			i += 6
			continue
		}
		units = append(units, uint16(unescape(raw[i+1])))
		i += 2
	}
	return units
}

func hex(digits []byte) uint16 {
	var n uint16
	for _, d := range digits {
		n <<= 4
		switch {
		case '0' <= d && d <= '9':
			n |= uint16(d - '0')
		case 'a' <= d && d <= 'f':
			n |= uint16(d - 'a' + 10)
		case 'A' <= d && d <= 'F':
			n |= uint16(d - 'A' + 10)
		}
	}
	return n
}

func unescape(b byte) byte {
	switch b {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	default:
		return b
	}
}
