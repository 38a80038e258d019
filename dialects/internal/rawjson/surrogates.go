package rawjson

import (
	"encoding/json"
	"strconv"
	"unicode/utf16"
)

// ReplaceHalves replaces, in valid JSON, the escapes of unpaired halves of surrogate pairs.
func ReplaceHalves(raw json.RawMessage) json.RawMessage {
	whole := append(json.RawMessage(nil), raw...)
	for i := 0; i < len(whole); i++ {
		if whole[i] != '\\' {
			continue
		}
		first, is := surrogate(whole[i:])
		if !is {
			// An escaped backslash begins no escape.
			i++
			continue
		}
		second, follows := surrogate(whole[min(i+6, len(whole)):])
		if follows && utf16.DecodeRune(first, second) != '\ufffd' {
			i += 11
			continue
		}
		copy(whole[i:], `\ufffd`)
		i += 5
	}
	return whole
}

// surrogate decodes an escape of one half of a surrogate pair.
func surrogate(raw json.RawMessage) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	code, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(code), err == nil && utf16.IsSurrogate(rune(code))
}
