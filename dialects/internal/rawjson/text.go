package rawjson

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// textOf decodes a string. It handles the common escapes itself, since encoding/json reads a text three times. All
// other texts, and possibly invalid JSON, go to encoding/json.
func textOf(raw json.RawMessage) (string, error) {
	if len(raw) < 2 || raw[len(raw)-1] != '"' || !utf8.Valid(raw) {
		return decoded(raw)
	}
	inner := raw[1 : len(raw)-1]
	var text []byte
	for {
		at := bytes.IndexByte(inner, '\\')
		if at < 0 {
			break
		}
		if text == nil {
			text = make([]byte, 0, len(inner))
		}
		if at+1 == len(inner) || inner[at+1] == 'u' {
			return decoded(raw)
		}
		text = append(append(text, inner[:at]...), byte(unescape(inner[at+1])))
		inner = inner[at+2:]
	}
	if text == nil {
		return string(inner), nil
	}
	return string(append(text, inner...)), nil
}

func decoded(raw json.RawMessage) (string, error) {
	var text string
	err := json.Unmarshal(raw, &text)
	return text, err
}
