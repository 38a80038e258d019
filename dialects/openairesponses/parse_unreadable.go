package openairesponses

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// shape says how an item goes without what cannot be read of it.
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
		role := "user"
		if speaks(o) {
			role = "assistant"
		}
		return rawjson.Object{"role": rawjson.Quote(role), "content": rawjson.Quote(text)}.Encode()
	},
}

// speaks says whether the model wrote an item, as far as the item can be read.
func speaks(o rawjson.Object) bool {
	typ, err := o.Text("type")
	switch {
	case err != nil:
		return false
	case typ == "" || typ == typeMessage:
		return o.IsText("role", "assistant")
	default:
		return kindOfOutput(typ) == nil && !fromClient[typ]
	}
}

// lenient reads an item, without what cannot be read of it.
func (r *reader) lenient(u *dialect.Unread, at int, raw json.RawMessage) error {
	before := r.mark()
	found, err := shape.Read(u, at, raw, func(raw json.RawMessage) error {
		err := r.item(at, raw)
		if err != nil {
			r.reset(before)
		}
		return err
	})
	if len(found) == 0 || err != nil {
		return err
	}
	r.parsed.Findings = append(r.parsed.Findings, found...)
	m := r.parsed.Messages[len(r.parsed.Messages)-1]
	if m.GetRole() != compactordv1.Role_ROLE_ASSISTANT {
		dialect.KeepUnread(kind, m, raw, found)
		return nil
	}
	// Several items are one message, so each keeps its own with its first part.
	first := 0
	if m == before.atom {
		first = before.parts
	}
	part := m.GetParts()[first]
	if a := dialect.UnreadAs(kind, raw); a != nil && len(part.GetAttachments()) < dialect.MaxAttachments {
		part.Attachments = append(part.Attachments, a)
	}
	return nil
}

func readInstructions(raw json.RawMessage) ([]piece, error) {
	if rawjson.KindOf(raw) != rawjson.String {
		return nil, rawjson.WrongKind(raw, rawjson.String)
	}
	return readString(raw)
}

// unreadInstructions puts a line in the place of instructions that cannot be read.
func (r *reader) unreadInstructions(raw json.RawMessage, err error) error {
	finding, line := dialect.UnreadField(rawjson.In(fieldInstructions, err))
	m := &compactordv1.Message{
		Role:        compactordv1.Role_ROLE_SYSTEM,
		Parts:       []*compactordv1.Part{textPiece(line).part()},
		Attachments: []*compactordv1.Attachment{note(noteInstructions, "")},
	}
	found := []dialect.Finding{finding}
	dialect.KeepUnread(kind, m, raw, found)
	r.parsed.Findings = append(r.parsed.Findings, found...)
	return r.add(0, m)
}

// mark is how far a list was read.
type mark struct {
	messages, findings, parts, reasonings, others int
	atom                                          *compactordv1.Message
	attachments                                   []*compactordv1.Attachment
}

func (r *reader) mark() mark {
	return mark{
		messages: len(r.parsed.Messages), findings: len(r.parsed.Findings), parts: len(r.atom.GetParts()),
		reasonings: r.reasonings, others: r.others, atom: r.atom, attachments: slices.Clone(r.atom.GetAttachments()),
	}
}

func (r *reader) reset(to mark) {
	r.parsed.Messages, r.parsed.Positions = r.parsed.Messages[:to.messages], r.parsed.Positions[:to.messages]
	r.parsed.Findings = r.parsed.Findings[:to.findings]
	r.atom, r.reasonings, r.others = to.atom, to.reasonings, to.others
	if r.atom != nil {
		r.atom.Parts, r.atom.Attachments = r.atom.GetParts()[:to.parts], to.attachments
	}
}

// wasUnread is an item as it was before a line took the place of what could not be read of it.
func wasUnread(m *compactordv1.Message, part int) (json.RawMessage, bool) {
	if raw, found := dialect.WasUnread(kind, m.GetAttachments()); found {
		return raw, true
	}
	if part < len(m.GetParts()) {
		return dialect.WasUnread(kind, m.GetParts()[part].GetAttachments())
	}
	return nil, false
}
