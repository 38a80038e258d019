package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// shape says how to read a message without its unreadable content.
var shape = &dialect.Shape{
	Kind:  kind,
	Parts: []string{"content"},
	Core:  []string{"role"},
	Event: isEvent,
	Line:  func(_ rawjson.Object, text string) json.RawMessage { return canonicalText(text).Encode() },
	Whole: func(o rawjson.Object, text string) json.RawMessage {
		role := roleUser
		if o.IsText("role", roleAssistant) {
			role = roleAssistant
		}
		return rawjson.Object{"role": rawjson.Quote(role), "content": rawjson.Quote(text)}.Encode()
	},
}

// parseLenient parses a message without its unreadable content.
func (p *parser) parseLenient(u *dialect.Unread, raw json.RawMessage) error {
	return shape.ReadInto(p.parsed, u, p.at, raw, p.parseMessage)
}

// parseLenientSystem parses a block of the system prompt, or makes a line of text in its place.
func (p *parser) parseLenientSystem(raw json.RawMessage, i int) (part *compactordv1.Part, err error) {
	wrapped := rawjson.Object{"content": rawjson.EncodeArray([]json.RawMessage{raw})}.Encode()
	found, err := shape.Read(&dialect.Unread{}, 0, wrapped, func(message json.RawMessage) error {
		o, err := rawjson.SplitObject(message)
		if err != nil {
			return err
		}
		blocks, err := rawjson.SplitArray(o["content"])
		if err != nil {
			return err
		}
		if part, err = parseSystemBlock(blocks[0]); err != nil {
			return inBlock(0, err)
		}
		return nil
	})
	for _, f := range found {
		f.Part = i
		if f.Cause != nil {
			f.Cause.Part, f.Cause.Field = i, fmt.Sprintf("system[%d]", i)+strings.TrimPrefix(f.Cause.Field, "content[0]")
		}
		p.parsed.Findings = append(p.parsed.Findings, f)
	}
	return part, err
}
