package gemini

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// keyUnreadable is the field of a response that says which files could not be read, where the response has no text for
// it.
const keyUnreadable = "unreadable"

// shape says how to read a content without its unreadable parts.
var shape = &dialect.Shape{
	Kind:  kind,
	Parts: []string{"parts"},
	Core:  []string{"role"},
	Event: func(o rawjson.Object) bool { return has(o, "candidates") },
	Line:  func(_ rawjson.Object, text string) json.RawMessage { return textLine(text) },
	Whole: func(o rawjson.Object, text string) json.RawMessage {
		role := roleUser
		if o.IsText("role", roleModel) {
			role = roleModel
		}
		return rawjson.Object{
			"role": rawjson.Quote(role), "parts": rawjson.EncodeArray([]json.RawMessage{textLine(text)}),
		}.Encode()
	},
	Within: withoutFile,
}

func textLine(text string) json.RawMessage {
	return rawjson.Object{fieldText: rawjson.Quote(text)}.Encode()
}

// withoutFile removes a file from a response, which has no texts beside its files, and says so in the response itself.
func withoutFile(part rawjson.Object, path []dialect.Step, line string) json.RawMessage {
	if len(path) < 3 || path[0].Name != fieldResponse || path[1].Name != "parts" || path[2].Name != "" {
		return nil
	}
	for _, field := range []string{fieldResponse, "function_response"} {
		inner, err := part.Sub(field)
		files, listErr := inner.Elements("parts")
		if err != nil || listErr != nil || path[2].Index >= len(files) {
			continue
		}
		inner["parts"] = rawjson.EncodeArray(slices.Delete(files, path[2].Index, path[2].Index+1))
		inner["response"] = addLine(inner["response"], line)
		part[field] = inner.Encode()
		return part.Encode()
	}
	return nil
}

// addLine adds a line to the text of a response.
func addLine(response json.RawMessage, line string) json.RawMessage {
	o, err := rawjson.ParseObject(response)
	if err != nil {
		o = rawjson.Object{}
		if k := rawjson.KindOf(response); k != rawjson.Missing && k != rawjson.Null {
			o[keyResult] = response
		}
	}
	for _, key := range []string{keyOutput, keyResult, keyError} {
		if text, err := o.DemandText(key); err == nil && len(o) == 1 {
			o[key] = rawjson.Quote(text + "\n" + line)
			return o.Encode()
		}
	}
	o[keyUnreadable] = rawjson.Quote(line)
	return o.Encode()
}

// parseLenient parses a content without its unreadable parts.
func (p *parser) parseLenient(u *dialect.Unread, raw json.RawMessage) error {
	before := *p
	return shape.ReadInto(p.parsed, u, p.at, raw, func(raw json.RawMessage) error {
		err := p.parseContent(raw)
		if err != nil {
			err = dialect.Malformed(p.at, p.part, err)
			*p = before
		}
		return err
	})
}

// parseLenientSystem parses the instruction. A line of text replaces each unreadable part.
func (p *parser) parseLenientSystem(raw json.RawMessage) (m *compactordv1.Message, err error) {
	found, err := shape.Read(&dialect.Unread{}, 0, raw, func(raw json.RawMessage) error {
		var err error
		m, err = parseSystem(raw)
		return err
	})
	dialect.KeepUnread(kind, m, raw, found)
	for _, f := range found {
		f.Cause.Message, f.Cause.Field = -1, strings.TrimSuffix("systemInstruction."+f.Cause.Field, ".")
	}
	p.parsed.Findings = append(p.parsed.Findings, found...)
	return m, err
}
