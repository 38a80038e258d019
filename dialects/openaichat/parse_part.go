package openaichat

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	errOnlyText = errors.New("a message of this role holds only parts of type text")
	errContent  = "must be a string or an array, is %s"
)

// partTypes returns the types of content parts that have a neutral meaning in messages of a role. Other parts are
// opaque. System and developer messages hold only text.
func partTypes(role compactordv1.Role) []string {
	switch role {
	case compactordv1.Role_ROLE_ASSISTANT:
		return []string{"text", "refusal", typeImage, typeAudio, typeFile}
	case compactordv1.Role_ROLE_USER, compactordv1.Role_ROLE_TOOL:
		return []string{"text", typeImage, typeAudio, typeFile}
	default:
		return []string{"text"}
	}
}

// parseContent parses the content. An empty string has no part.
func (p *messageParser) parseContent(types []string) ([]*compactordv1.Part, error) {
	raw := p.Object["content"]
	var parts []*compactordv1.Part
	switch rawjson.KindOf(raw) {
	case rawjson.Missing:
		p.lacks("content")
	case rawjson.Null:
		if string(emptyContent(p.m.GetRole())) == "null" {
			p.markNeutral("content")
		}
	case rawjson.String:
		text, err := p.text("content", dialect.MaxText)
		if err != nil {
			return nil, err
		}
		if text != "" {
			return []*compactordv1.Part{textPart(text)}, nil
		}
		if string(emptyContent(p.m.GetRole())) == `""` {
			p.markNeutral("content")
		}
	case rawjson.Array:
		list, err := rawjson.SplitArray(raw)
		if err != nil {
			return nil, rawjson.In("content", err)
		}
		if parts, err = p.parseParts(list, types); err != nil {
			return nil, err
		}
	default:
		return nil, rawjson.In("content", fmt.Errorf(errContent, rawjson.KindOf(raw)))
	}
	return parts, nil
}

func (p *messageParser) parseParts(list []json.RawMessage, types []string) ([]*compactordv1.Part, error) {
	if len(list) > dialect.MaxParts {
		return nil, rawjson.In("content", errManyParts)
	}
	parts := make([]*compactordv1.Part, 0, len(list))
	for i, raw := range list {
		part, err := parsePart(raw, types)
		if err != nil {
			return nil, dialect.Malformed(p.at, i, rawjson.In("content", rawjson.InElement(i, err)))
		}
		parts = append(parts, part)
	}
	if len(parts) > 0 {
		p.markNeutral("content")
	}
	if len(parts) == 1 && isPlain(parts[0]) {
		p.note(noteContent, "array")
	}
	return parts, nil
}

// emptyContent returns the content of a message without content parts.
func emptyContent(role compactordv1.Role) json.RawMessage {
	if role == compactordv1.Role_ROLE_ASSISTANT {
		return json.RawMessage("null")
	}
	return json.RawMessage(`""`)
}

// isPlain reports whether a part can be written as a string.
func isPlain(p *compactordv1.Part) bool {
	return p.GetText() != nil && !p.GetText().GetRefusal() && !hasOwn(p.GetAttachments())
}

func parsePart(raw json.RawMessage, types []string) (*compactordv1.Part, error) {
	f, err := readFields(raw)
	if err != nil {
		return nil, err
	}
	partType, err := f.DemandText("type")
	if err != nil {
		return nil, err
	}
	if !slices.Contains(types, partType) {
		if len(types) == 1 {
			return nil, rawjson.In("type", errOnlyText)
		}
		return parseOpaque(raw, partType)
	}
	f.markNeutral("type")
	var part *compactordv1.Part
	switch partType {
	case "text", "refusal":
		part, err = f.parseText(partType)
	default:
		part, err = f.parseMedia(partType)
	}
	if err != nil {
		return nil, err
	}
	part.Attachments, err = f.rest()
	return part, err
}

func (f *fields) parseText(key string) (*compactordv1.Part, error) {
	if _, err := f.DemandText(key); err != nil {
		return nil, err
	}
	text, err := f.text(key, dialect.MaxText)
	if err != nil {
		return nil, err
	}
	if text == "" {
		f.markNeutral(key)
	}
	part := textPart(text)
	part.GetText().Refusal = key == "refusal"
	return part, nil
}

func textPart(text string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}}
}

// parseOpaque keeps an item that has no neutral meaning.
func parseOpaque(raw json.RawMessage, typ string) (*compactordv1.Part, error) {
	opaque, err := dialect.OpaqueOf(kind, typ, raw)
	if err != nil {
		return nil, err
	}
	return &compactordv1.Part{Kind: &compactordv1.Part_Opaque{Opaque: opaque}}, nil
}

// parseRefusal parses the message's own field. In a response the content beside it is empty.
func (p *messageParser) parseRefusal() ([]*compactordv1.Part, error) {
	text, err := p.text("refusal", dialect.MaxText)
	if err != nil || text == "" {
		return nil, err
	}
	return []*compactordv1.Part{{
		Kind:        &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text, Refusal: true}},
		Attachments: []*compactordv1.Attachment{dialect.Note(kind, noteField, "refusal")},
	}}, nil
}

// parseAudio keeps the model's recording unchanged.
func (p *messageParser) parseAudio() ([]*compactordv1.Part, error) {
	if !p.Has("audio") {
		return nil, nil
	}
	raw := p.Object["audio"]
	if k := rawjson.KindOf(raw); k != rawjson.ObjectKind {
		return nil, rawjson.In("audio", rawjson.WrongKind(raw, rawjson.ObjectKind))
	}
	part, err := parseOpaque(raw, "audio")
	if err != nil {
		return nil, rawjson.In("audio", err)
	}
	p.markNeutral("audio")
	part.Attachments = []*compactordv1.Attachment{dialect.Note(kind, noteField, "audio")}
	return []*compactordv1.Part{part}, nil
}
