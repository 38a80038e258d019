package rawjson

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"unicode/utf8"
)

// appendText adds a text as JSON, byte for byte as encoding/json writes it without escapes for HTML. It reads and copies
// eight bytes at a time up to the next that is not plain.
func appendText(b []byte, text string) []byte {
	b = append(b, '"')
	for len(text) >= 8 {
		word := eight(text)
		b = binary.LittleEndian.AppendUint64(b, word)
		odd := unplain(word)
		if odd == 0 {
			text = text[8:]
			continue
		}
		plain := bits.TrailingZeros64(odd) / 8
		b, text = appendOdd(b[:len(b)-8+plain], text[plain:])
	}
	for len(text) > 0 {
		if isPlain(text[0]) {
			b, text = append(b, text[0]), text[1:]
		} else {
			b, text = appendOdd(b, text)
		}
	}
	return append(b, '"')
}

// isPlain reports whether a byte is a character that stands for itself in JSON.
func isPlain(c byte) bool { return c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' }

// eight returns the first eight bytes of a text, the first one lowest.
func eight(text string) uint64 {
	_ = text[7]
	return uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
		uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
}

const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

// unplain sets the top bit of the first of eight bytes that is not plain. It is 0 where all are; bits behind the first one
// mean nothing.
func unplain(word uint64) uint64 {
	quotes, slashes := word^ones*'"', word^ones*'\\'
	return (word | (word-ones*' ')&^word | (quotes-ones)&^quotes | (slashes-ones)&^slashes) & tops
}

// appendOdd adds the first character of a text, which is not plain, and returns the rest of the text.
func appendOdd(b []byte, text string) (to []byte, rest string) {
	c := text[0]
	if letter := letters[c]; letter != 0 {
		return append(b, '\\', letter), text[1:]
	}
	if c < ' ' {
		return appendNumber(b, rune(c)), text[1:]
	}
	return appendWide(b, text)
}

// appendWide adds the characters of several bytes at the start of a text, and returns the rest of the text.
func appendWide(b []byte, text string) (to []byte, rest string) {
	at := 0
	for at < len(text) && text[at] >= utf8.RuneSelf {
		r, size := utf8.DecodeRuneInString(text[at:])
		if r == utf8.RuneError && size == 1 || r == lineSeparator || r == paragraphSeparator {
			return appendNumber(append(b, text[:at]...), r), text[at+size:]
		}
		at += size
	}
	return append(b, text[:at]...), text[at:]
}

// letters holds what follows the backslash, for the characters that have a short escape.
var letters = [256]byte{
	'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't',
}

// JavaScript ends lines at these characters, so encoding/json always escapes them.
const (
	lineSeparator      = '\u2028'
	paragraphSeparator = '\u2029'
)

// HasNumbers reports whether JSON has a character by its number, such as \u00e9.
func HasNumbers(raw json.RawMessage) bool {
	for len(raw) > 8 {
		// A byte is 0 where a backslash is, and a u behind it.
		word := (binary.LittleEndian.Uint64(raw) ^ ones*'\\') | (binary.LittleEndian.Uint64(raw[1:]) ^ ones*'u')
		if (word-ones)&^word&tops != 0 {
			return true
		}
		raw = raw[8:]
	}
	return bytes.Contains(raw, []byte(`\u`))
}

// appendNumber adds a character of the basic plane as an escape with its number.
func appendNumber(b []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', digits[r>>12&0xf], digits[r>>8&0xf], digits[r>>4&0xf], digits[r&0xf])
}
