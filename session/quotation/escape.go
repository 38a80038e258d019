package quotation

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// longestEscape is how long a character is at most in the spelling of a program: four bytes in percent, each
// encoded four times more.
const longestEscape = 4 * len("%25252525XX")

// escaped reads the character that a text begins with where it is spelled as programs decode it: `\u003c`, `\u{3c}`,
// `\U0000003c`, `\x3c` and `\074` of source code and JSON, and `%3C` of addresses. The length is 0 where there is none.
func escaped(text string) (r rune, length int) {
	switch {
	case strings.HasPrefix(text, `\`):
		r, length = backslashed(text)
	case strings.HasPrefix(text, "%"):
		r, length = percent(text)
	}
	if length == 0 || r == 0 || !utf8.ValidRune(r) {
		return 0, 0
	}
	if r == '&' {
		// JSON has `&lt;` as `\u0026lt;`.
		rest := text[length:min(len(text), length+longestEntity)]
		if inner, size := entity("&" + rest); size > 0 {
			return inner, length + size - len("&")
		}
	}
	return r, length
}

func backslashed(text string) (r rune, length int) {
	kind := byte(0)
	if len(text) > 1 {
		kind = text[1]
	}
	switch {
	case kind == 'u' && strings.HasPrefix(text, `\u{`):
		end := strings.IndexByte(text[:min(len(text), longestEntity)], '}')
		if end < 0 {
			return 0, 0
		}
		r, _ = number(text[3:end], 16)
		return r, end + 1
	case kind == 'u':
		return unit(text)
	case kind == 'U':
		return digits(text, 2, 8, 16)
	case kind == 'x':
		return digits(text, 2, 2, 16)
	case kind == '0' || kind == '1':
		return digits(text, 1, 3, 8)
	}
	return 0, 0
}

// unit reads a unit of UTF-16, or the two of a character beyond the first 65536.
func unit(text string) (r rune, length int) {
	r, length = digits(text, 2, 4, 16)
	if !utf16.IsSurrogate(r) || !strings.HasPrefix(text[length:], `\u`) {
		return r, length
	}
	low, more := digits(text[length:], 2, 4, 16)
	if whole := utf16.DecodeRune(r, low); whole != utf8.RuneError {
		return whole, length + more
	}
	return 0, 0
}

// digits reads the number of so many digits that begins at a place.
func digits(text string, from, count, base int) (r rune, length int) {
	if len(text) < from+count {
		return 0, 0
	}
	r, ok := number(text[from:from+count], base)
	if !ok {
		return 0, 0
	}
	return r, from + count
}

func number(text string, base int) (r rune, ok bool) {
	n, err := strconv.ParseUint(text, base, 21)
	return rune(n), err == nil
}

// percent reads a character of one or more bytes. A percent sign may be encoded itself.
func percent(text string) (r rune, length int) {
	var char []byte
	for length < min(len(text), longestEscape) && text[length] == '%' {
		at := length + 1
		for strings.HasPrefix(text[at:], "25") && at < len(text)-2 && isHex(text[at+2]) {
			at += len("25")
		}
		b, size := digits(text[at:], 0, 2, 16)
		if size == 0 {
			break
		}
		char = append(char, byte(b))
		length = at + size
		if utf8.FullRune(char) {
			break
		}
	}
	if r, size := utf8.DecodeRune(char); r != utf8.RuneError && size == len(char) {
		return r, length
	}
	return 0, 0
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}
