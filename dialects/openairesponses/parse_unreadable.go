package openairesponses

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// shape says how to read an item without its unreadable content.
var shape = &dialect.Shape{
	Kind:  kind,
	Parts: []string{"content", "output"},
	Core: []string{
		"type", "role", "id", "call_id", "name", "arguments", "input", "action", "operation", "summary", "encrypted_content", "approve",
		"approval_request_id",
	},
	Event: func(o rawjson.Object) bool {
		typ, err := o.Text("type")
		return err == nil && strings.HasPrefix(typ, eventPrefix)
	},
	Line: func(o rawjson.Object, text string) json.RawMessage {
		typ := typeInputText
		if speaks(o) {
			typ = typeOutputText
		}
		return rawjson.Object{"type": rawjson.Quote(typ), "text": rawjson.Quote(text)}.Encode()
	},
	Whole: func(o rawjson.Object, text string) json.RawMessage {
		role := roleUser
		if speaks(o) {
			role = roleAssistant
		}
		return rawjson.Object{"role": rawjson.Quote(role), "content": rawjson.Quote(text)}.Encode()
	},
}

// speaks reports whether an item seems to be the model's, as far as it can be read.
func speaks(o rawjson.Object) bool {
	typ, err := o.Text("type")
	switch {
	case err != nil:
		return false
	case typ == "" || typ == typeMessage:
		return o.IsText("role", roleAssistant)
	default:
		return kindOfOutput(typ) == nil && !fromClient[typ]
	}
}

// parseLenient parses an item without its unreadable content.
func (p *parser) parseLenient(u *dialect.Unread, at int, raw json.RawMessage) error {
	before := p.mark()
	found, err := shape.Read(u, at, raw, func(raw json.RawMessage) error {
		err := p.parseItem(at, raw)
		if err != nil {
			p.reset(before)
		}
		return err
	})
	if len(found) == 0 || err != nil {
		return err
	}
	p.parsed.Findings = append(p.parsed.Findings, found...)
	m := p.parsed.Messages[len(p.parsed.Messages)-1]
	if m.GetRole() != compactordv1.Role_ROLE_ASSISTANT {
		dialect.KeepUnread(kind, m, raw, found)
		return nil
	}
	// Several items become one message, so each original is kept with the first part of its item.
	first := 0
	if m == before.assistant {
		first = before.parts
	}
	part := m.GetParts()[first]
	if a := dialect.UnreadAs(kind, raw); a != nil && len(part.GetAttachments()) < dialect.MaxAttachments {
		part.Attachments = append(part.Attachments, a)
	}
	return nil
}

// parseLenientSystem makes a line of text in place of instructions that cannot be read.
func (p *parser) parseLenientSystem(raw json.RawMessage, err error) error {
	finding, line := dialect.UnreadField(rawjson.In(fieldInstructions, err))
	m := &compactordv1.Message{
		Role:        compactordv1.Role_ROLE_SYSTEM,
		Parts:       []*compactordv1.Part{textPiece(line).part()},
		Attachments: []*compactordv1.Attachment{note(noteInstructions, "")},
	}
	found := []dialect.Finding{finding}
	dialect.KeepUnread(kind, m, raw, found)
	p.parsed.Findings = append(p.parsed.Findings, found...)
	return p.add(0, m)
}

// mark is a position in the parsing of a list.
type mark struct {
	messages, findings, parts, reasonings, others int
	assistant                                     *compactordv1.Message
	attachments                                   []*compactordv1.Attachment
}

func (p *parser) mark() mark {
	return mark{
		messages: len(p.parsed.Messages), findings: len(p.parsed.Findings), parts: len(p.assistant.GetParts()),
		reasonings: p.reasonings, others: p.others, assistant: p.assistant, attachments: slices.Clone(p.assistant.GetAttachments()),
	}
}

func (p *parser) reset(to mark) {
	p.parsed.Messages, p.parsed.Positions = p.parsed.Messages[:to.messages], p.parsed.Positions[:to.messages]
	p.parsed.Findings = p.parsed.Findings[:to.findings]
	p.assistant, p.reasonings, p.others = to.assistant, to.reasonings, to.others
	if p.assistant != nil {
		p.assistant.Parts, p.assistant.Attachments = p.assistant.GetParts()[:to.parts], to.attachments
	}
}

// wasUnread returns the original of an item that could not be read completely.
func wasUnread(m *compactordv1.Message, part int) (json.RawMessage, bool) {
	if raw, found := dialect.WasUnread(kind, m.GetAttachments()); found {
		return raw, true
	}
	if part < len(m.GetParts()) {
		return dialect.WasUnread(kind, m.GetParts()[part].GetAttachments())
	}
	return nil, false
}
