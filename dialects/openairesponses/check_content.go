package openairesponses

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func checkContentNotEmpty(d *decoded, report report) {
	for _, item := range d.items {
		content := item.fields["content"]
		if item.fields == nil && len(d.items) == 1 {
			content = item.raw
		} else if item.typ != "message" {
			continue
		}
		k := rawjson.KindOf(content)
		if k == rawjson.String && string(content) == `""` || k == rawjson.Array && len(item.parts) == 0 {
			report(item.at, 0, "the content is empty")
		}
	}
}

func checkPartsOfRole(d *decoded, report report) {
	for _, item := range d.items {
		for i, p := range item.parts {
			if p.typ != "" && !item.isPartType(p.typ) {
				report(item.at, i, "a part of this type is not allowed here")
			}
		}
	}
}

func (item *decodedItem) isPartType(typ string) bool {
	switch {
	case item.typ == "message" && item.role == roleAssistant:
		return typ == "output_text" || typ == "refusal"
	case item.typ == "message" && (item.role == roleSystem || item.role == roleDeveloper):
		return typ == "input_text"
	default:
		return strings.HasPrefix(typ, "input_")
	}
}

func checkTextLength(d *decoded, report report) {
	for _, raw := range d.system {
		if isTooLong(raw) {
			report(-1, 0, "the instructions are too long")
		}
	}
	for _, item := range d.items {
		for _, key := range []string{"content", "output"} {
			if isTooLong(item.fields[key]) {
				report(item.at, 0, key+" is too long")
			}
		}
		if item.fields == nil && isTooLong(item.raw) {
			report(item.at, 0, "the input is too long")
		}
		for i, p := range item.parts {
			if key := p.textField(); key != "" && isTooLong(p.fields[key]) {
				report(item.at, i, key+" is too long")
			}
		}
	}
}

// isTooLong reports whether JSON is a text with more characters than the provider accepts.
func isTooLong(raw json.RawMessage) bool {
	const most = 10_485_760
	if len(raw) <= most || rawjson.KindOf(raw) != rawjson.String {
		return false
	}
	var text string
	return json.Unmarshal(raw, &text) == nil && utf8.RuneCountInString(text) > most
}

func checkCompactionContent(d *decoded, report report) {
	for _, item := range d.items {
		if item.typ != "compaction" || rawjson.KindOf(item.fields["encrypted_content"]) != rawjson.String {
			continue
		}
		if n := utf8.RuneCountInString(item.fields.TextOrEmpty("encrypted_content")); n < 1 || n > 10_485_760 {
			report(item.at, 0, "encrypted_content is empty or too long")
		}
	}
}
