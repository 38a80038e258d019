package openairesponses

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func sideOf(role compactordv1.Role) side {
	switch role {
	case compactordv1.Role_ROLE_ASSISTANT:
		return assistantSide
	case compactordv1.Role_ROLE_USER:
		return userSide
	default:
		return instructionSide
	}
}

// parseMessage parses a message item in the full form, or in the short one with only a role and a content.
func (p *parser) parseMessage(at int, raw json.RawMessage, o rawjson.Object) error {
	name, err := o.DemandText("role")
	if err != nil {
		return err
	}
	role, known := roles[name]
	if !known {
		return rawjson.In("role", errRole)
	}
	pieces, err := parseContent(o["content"], sideOf(role))
	if err != nil {
		return rawjson.In("content", err)
	}
	if len(pieces) == 0 {
		p.find(dialect.InputEmptyMessage, at, "the message is empty; kept as it is")
	}
	if role == compactordv1.Role_ROLE_ASSISTANT {
		return p.parseAssistant(at, raw, o, pieces)
	}
	m := &compactordv1.Message{Role: role}
	for _, piece := range pieces {
		// An instruction holds only text. Other elements are kept with its whole content.
		if role == compactordv1.Role_ROLE_USER || piece.text != nil {
			m.Parts = append(m.Parts, piece.contentPart())
		}
	}
	parts := noteOfParts(o["content"], pieces)
	m.Attachments, err = dialect.Residue(kind, o, canonicalMessage(role, pieces, parts != nil))
	if err != nil {
		return err
	}
	if len(m.GetParts()) != len(pieces) {
		m.Attachments = append(m.GetAttachments(), &compactordv1.Attachment{
			Dialect: kind, Key: "content", Json: string(o["content"]),
		})
	}
	m.Attachments = append(m.GetAttachments(), parts...)
	if err := dialect.BoundAttachments(m.GetAttachments()); err != nil {
		return err
	}
	return p.add(at, m)
}

// parseAssistant makes parts from a message item of the model. The first part keeps the fields of the item.
func (p *parser) parseAssistant(at int, raw json.RawMessage, o rawjson.Object, pieces []piece) error {
	p.countID(o)
	if len(pieces) == 0 {
		part, err := dialect.OpaqueOf(kind, typeMessage, raw)
		if err != nil {
			return err
		}
		return p.addParts(at, piece{opaque: part}.part())
	}
	form := noteOfParts(o["content"], pieces)
	fields, err := dialect.Residue(kind, o, canonicalMessage(compactordv1.Role_ROLE_ASSISTANT, pieces, form != nil))
	if err != nil {
		return err
	}
	var parts []*compactordv1.Part
	for i, piece := range pieces {
		part := piece.contentPart()
		if i > 0 {
			part.Attachments = append(part.GetAttachments(), note(noteContinued, ""))
		} else {
			part.Attachments = append(part.GetAttachments(), itemFields(fields)...)
			part.Attachments = append(part.GetAttachments(), form...)
		}
		if err := dialect.BoundAttachments(part.GetAttachments()); err != nil {
			return err
		}
		parts = append(parts, part)
	}
	return p.addParts(at, parts...)
}

// contentPart returns the piece as a part of a message. An opaque part gets a note that it was an element of content.
func (p piece) contentPart() *compactordv1.Part {
	part := p.part()
	if p.opaque != nil {
		part.Attachments = append(part.GetAttachments(), note(noteWithin, ""))
	}
	return part
}

// itemFields puts the fields of an item into one attachment. The canonical item has none of them, so none can be
// missing.
func itemFields(residue []*compactordv1.Attachment) []*compactordv1.Attachment {
	if len(residue) == 0 {
		return nil
	}
	fields := make(rawjson.Object, len(residue))
	for _, a := range residue {
		fields[a.GetKey()] = json.RawMessage(a.GetJson())
	}
	return []*compactordv1.Attachment{{Dialect: kind, Key: keyItem, Json: string(fields.Encode())}}
}

// parseContent parses a message's content: a text, a list of pieces, or nothing.
func parseContent(raw json.RawMessage, s side) ([]piece, error) {
	switch rawjson.KindOf(raw) {
	case rawjson.Missing, rawjson.Null:
		return nil, nil
	case rawjson.String:
		return parseString(raw)
	default:
		return parsePieces(raw, s)
	}
}

func parsePieces(raw json.RawMessage, s side) ([]piece, error) {
	elements, err := rawjson.SplitArray(raw)
	if err != nil {
		return nil, err
	}
	if len(elements) > dialect.MaxParts {
		return nil, fmt.Errorf("%w: more than %d parts", dialect.ErrLimit, dialect.MaxParts)
	}
	pieces := make([]piece, len(elements))
	for i, element := range elements {
		if pieces[i], err = parsePiece(element, s); err != nil {
			return nil, rawjson.InElement(i, err)
		}
	}
	return pieces, nil
}

func parseString(raw json.RawMessage) ([]piece, error) {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return nil, rawjson.WrongKind(raw, rawjson.String)
	}
	if len(text) > dialect.MaxText {
		return nil, rawjson.TooLarge(len(text), dialect.MaxText)
	}
	if text == "" {
		return nil, nil
	}
	return []piece{textPiece(text)}, nil
}

// noteOfParts notes that one text was in a list. The canonical content is the text itself.
func noteOfParts(content json.RawMessage, pieces []piece) []*compactordv1.Attachment {
	if len(pieces) == 1 && isPlain(pieces[0]) && rawjson.KindOf(content) == rawjson.Array {
		return []*compactordv1.Attachment{note(noteContent, inParts)}
	}
	return nil
}

func isPlain(p piece) bool { return p.text != nil && !p.text.GetRefusal() }

func (p *parser) parseItem(at int, raw json.RawMessage) error {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return err
	}
	if err := dialect.CheckDialect(kind, o); err != nil {
		return err
	}
	typ, err := itemType(o)
	if err != nil {
		return err
	}
	switch {
	case strings.HasPrefix(typ, eventPrefix):
		return errEventAlone
	case typ == typeMessage:
		return p.parseMessage(at, raw, o)
	case typ == typeReasoning:
		return p.parseThinking(at, o)
	case p.settled[callIDIn(o, typ)]:
		return p.parseOpaque(at, raw, o, typ)
	}
	if k := kindOfCall(typ); k != nil && k.reads(o, k.id) {
		return p.parseCall(at, o, k)
	}
	if k := kindOfOutput(typ); k != nil && k.reads(o, k.linkIn(o)) {
		return p.parseResult(at, raw, o, k)
	}
	if fromClient[typ] {
		return p.parseClientItem(at, raw, typ)
	}
	return p.parseOpaque(at, raw, o, typ)
}

// itemType returns an item's type, which messages can leave out.
func itemType(o rawjson.Object) (string, error) {
	if _, there := o["type"]; !there && o.Has("role") {
		return typeMessage, nil
	}
	return o.DemandText("type")
}

func (p *parser) parseClientItem(at int, raw json.RawMessage, typ string) error {
	part, err := dialect.OpaqueOf(kind, typ, raw)
	if err != nil {
		return err
	}
	return p.add(at, &compactordv1.Message{
		Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{piece{opaque: part}.part()},
	})
}

// parseSystem parses the instructions of a request body into a SYSTEM message at the start.
func (p *parser) parseSystem(raw json.RawMessage) error {
	pieces, err := parseInstructions(raw)
	if err != nil {
		return p.parseLenientSystem(raw, err)
	}
	m := &compactordv1.Message{
		Role:        compactordv1.Role_ROLE_SYSTEM,
		Attachments: []*compactordv1.Attachment{note(noteInstructions, "")},
	}
	text := ""
	for _, piece := range pieces {
		m.Parts, text = append(m.Parts, piece.part()), piece.text.GetText()
	}
	if text == "" {
		p.find(dialect.InputEmptyMessage, 0, "the instructions are empty; kept as they are")
	}
	residue, err := dialect.Residue(kind,
		rawjson.Object{fieldInstructions: raw}, rawjson.Object{fieldInstructions: rawjson.Quote(text)})
	m.Attachments = append(m.GetAttachments(), residue...)
	if err != nil {
		return err
	}
	return p.add(0, m)
}

func parseInstructions(raw json.RawMessage) ([]piece, error) {
	if rawjson.KindOf(raw) != rawjson.String {
		return nil, rawjson.WrongKind(raw, rawjson.String)
	}
	return parseString(raw)
}

// parseInputText parses an input that is one text, into one message of the user.
func (p *parser) parseInputText(raw json.RawMessage) error {
	if err := p.parseMessage(0, nil, rawjson.Object{"role": rawjson.Quote(roleUser), "content": raw}); err != nil {
		return err
	}
	m := p.parsed.Messages[len(p.parsed.Messages)-1]
	m.Attachments = append(m.GetAttachments(), note(noteInput, ""))
	return nil
}
