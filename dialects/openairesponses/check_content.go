package openairesponses

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func (in *input) notEmpty(report report) {
	if len(in.entries) == 0 {
		report(-1, 0, "there is no item")
	}
}

func (in *input) instructions(report report) {
	if len(in.system) > 1 {
		report(-1, 0, "there is more than one text of instructions")
	}
	for _, raw := range in.system {
		switch {
		case rawjson.KindOf(raw) != rawjson.String || !json.Valid(raw):
			report(-1, 0, "the instructions must be a string")
		case string(raw) == `""`:
			report(-1, 0, "the instructions are empty")
		}
	}
}

func (in *input) roles(report report) {
	for _, e := range in.entries {
		if e.typ == "message" && rawjson.KindOf(e.fields["role"]) == rawjson.String &&
			!slices.Contains([]string{"user", "assistant", "system", "developer"}, e.role) {
			report(e.at, 0, "the role is none of a message")
		}
	}
}

func (in *input) contentNotEmpty(report report) {
	for _, e := range in.entries {
		content := e.fields["content"]
		if e.fields == nil && len(in.entries) == 1 {
			content = e.raw
		} else if e.typ != "message" {
			continue
		}
		k := rawjson.KindOf(content)
		if k == rawjson.String && string(content) == `""` || k == rawjson.Array && len(e.parts) == 0 {
			report(e.at, 0, "the content is empty")
		}
	}
}

func (in *input) contentTypes(report report) {
	for _, e := range in.entries {
		for i, p := range e.parts {
			if p.typ != "" && !e.takes(p.typ) {
				report(e.at, i, "a part of this type cannot stand here")
			}
		}
	}
}

func (e *entry) takes(typ string) bool {
	switch {
	case e.typ == "message" && e.role == "assistant":
		return typ == "output_text" || typ == "refusal"
	case e.typ == "message" && (e.role == "system" || e.role == "developer"):
		return typ == "input_text"
	default:
		return strings.HasPrefix(typ, "input_")
	}
}

func (in *input) mediaSource(report report) {
	in.parts(func(e *entry, i int, p part) {
		switch p.typ {
		case "input_image":
			address := textIn(p.fields, "image_url")
			if textIn(p.fields, "file_id") == "" && !isAddress(address, "data:image/") {
				report(e.at, i, "image_url must be an address or a data URL, or file_id set")
			}
		case "input_file":
			if textIn(p.fields, "file_id") == "" && textIn(p.fields, "file_data") == "" &&
				!isAddress(textIn(p.fields, "file_url"), "https://") {
				report(e.at, i, "one of file_id, file_data and file_url must be set")
			}
		}
	})
}

func isAddress(address, other string) bool {
	return strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://") ||
		strings.HasPrefix(address, other)
}

func (in *input) mediaSize(report report) {
	in.parts(func(e *entry, i int, p part) {
		if utf8.RuneCountInString(textIn(p.fields, "image_url")) > 20_971_520 {
			report(e.at, i, "image_url is too long")
		}
		if utf8.RuneCountInString(textIn(p.fields, "file_data")) > 33_554_432 {
			report(e.at, i, "file_data is too long")
		}
	})
}

func (in *input) parts(check func(e *entry, i int, p part)) {
	for _, e := range in.entries {
		for i, p := range e.parts {
			check(e, i, p)
		}
	}
}

func (in *input) textLength(report report) {
	for _, raw := range in.system {
		if isTooLong(raw) {
			report(-1, 0, "the instructions are too long")
		}
	}
	for _, e := range in.entries {
		for _, key := range []string{"content", "output"} {
			if isTooLong(e.fields[key]) {
				report(e.at, 0, key+" is too long")
			}
		}
		if e.fields == nil && isTooLong(e.raw) {
			report(e.at, 0, "the input is too long")
		}
		for i, p := range e.parts {
			if key := p.textField(); key != "" && isTooLong(p.fields[key]) {
				report(e.at, i, key+" is too long")
			}
		}
	}
}

// isTooLong says whether JSON is a text of more characters than the provider takes.
func isTooLong(raw json.RawMessage) bool {
	const most = 10_485_760
	if len(raw) <= most || rawjson.KindOf(raw) != rawjson.String {
		return false
	}
	var text string
	return json.Unmarshal(raw, &text) == nil && utf8.RuneCountInString(text) > most
}
