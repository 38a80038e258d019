package openairesponses

import (
	"encoding/json"
	"fmt"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	roleNames = map[compactordv1.Role]string{
		compactordv1.Role_ROLE_USER:      "user",
		compactordv1.Role_ROLE_ASSISTANT: "assistant",
		compactordv1.Role_ROLE_SYSTEM:    "system",
		compactordv1.Role_ROLE_DEVELOPER: "developer",
	}
	roles = func() map[string]compactordv1.Role {
		byName := make(map[string]compactordv1.Role, len(roleNames))
		for role, name := range roleNames {
			byName[name] = role
		}
		return byName
	}()
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

// message reads a message item, in its easy form or its full one.
func (r *reader) message(at int, raw json.RawMessage, o rawjson.Object) error {
	name, err := o.DemandText("role")
	if err != nil {
		return err
	}
	role, known := roles[name]
	if !known {
		return rawjson.In("role", errRole)
	}
	pieces, err := readContent(o["content"], sideOf(role))
	if err != nil {
		return rawjson.In("content", err)
	}
	if len(pieces) == 0 {
		r.find(dialect.InputEmptyMessage, at, "the message is empty; kept as it is")
	}
	if role == compactordv1.Role_ROLE_ASSISTANT {
		return r.assistantItem(at, raw, o, pieces)
	}
	m := &compactordv1.Message{Role: role}
	for _, p := range pieces {
		// An instruction holds text only. What else stands in it is kept with its content as a whole.
		if role == compactordv1.Role_ROLE_USER || p.text != nil {
			m.Parts = append(m.Parts, p.contentPart())
		}
	}
	parts := noteOfParts(o["content"], pieces)
	m.Attachments, err = dialect.Residue(kind, o, usualMessage(role, pieces, parts != nil))
	if err != nil {
		return err
	}
	if len(m.GetParts()) != len(pieces) {
		m.Attachments = append(m.GetAttachments(), &compactordv1.Attachment{
			Dialect: kind, Key: "content", Json: string(o["content"]),
		})
	}
	m.Attachments = append(m.GetAttachments(), parts...)
	if err := tooMany(m.GetAttachments()); err != nil {
		return err
	}
	return r.add(at, m)
}

// assistantItem makes parts of a message of the model. The first one keeps the fields of the item.
func (r *reader) assistantItem(at int, raw json.RawMessage, o rawjson.Object, pieces []piece) error {
	r.countID(o)
	if len(pieces) == 0 {
		part, err := opaqueOf(raw, typeMessage)
		if err != nil {
			return err
		}
		return r.say(at, piece{opaque: part}.part())
	}
	form := noteOfParts(o["content"], pieces)
	fields, err := dialect.Residue(kind, o, usualMessage(compactordv1.Role_ROLE_ASSISTANT, pieces, form != nil))
	if err != nil {
		return err
	}
	var parts []*compactordv1.Part
	for i, p := range pieces {
		part := p.contentPart()
		if i > 0 {
			part.Attachments = append(part.GetAttachments(), note(noteContinued, ""))
		} else {
			part.Attachments = append(part.GetAttachments(), itemFields(fields)...)
			part.Attachments = append(part.GetAttachments(), form...)
		}
		if err := tooMany(part.GetAttachments()); err != nil {
			return err
		}
		parts = append(parts, part)
	}
	return r.say(at, parts...)
}

// contentPart is a part within the content of a message, which an opaque one usually is not.
func (p piece) contentPart() *compactordv1.Part {
	part := p.part()
	if p.opaque != nil {
		part.Attachments = append(part.GetAttachments(), note(noteWithin, ""))
	}
	return part
}

// itemFields puts the fields of an item into one attachment. None of them is usual, so none can be missing.
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

// readContent reads a message's content: a text, a list of pieces, or nothing.
func readContent(raw json.RawMessage, s side) ([]piece, error) {
	switch rawjson.KindOf(raw) {
	case rawjson.Missing, rawjson.Null:
		return nil, nil
	case rawjson.String:
		return readString(raw)
	default:
		return readList(raw, s)
	}
}

func readList(raw json.RawMessage, s side) ([]piece, error) {
	elements, err := rawjson.SplitArray(raw)
	if err != nil {
		return nil, err
	}
	if len(elements) > dialect.MaxParts {
		return nil, fmt.Errorf("%w: more than %d parts", dialect.ErrLimit, dialect.MaxParts)
	}
	pieces := make([]piece, len(elements))
	for i, element := range elements {
		if pieces[i], err = readPiece(element, s); err != nil {
			return nil, rawjson.InElement(i, err)
		}
	}
	return pieces, nil
}

func readString(raw json.RawMessage) ([]piece, error) {
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

// noteOfParts notes where one text stood in a list, since it usually stands by itself.
func noteOfParts(content json.RawMessage, pieces []piece) []*compactordv1.Attachment {
	if len(pieces) == 1 && isPlain(pieces[0]) && rawjson.KindOf(content) == rawjson.Array {
		return []*compactordv1.Attachment{note(noteContent, inParts)}
	}
	return nil
}

func isPlain(p piece) bool { return p.text != nil && !p.text.GetRefusal() }

func tooMany(attachments []*compactordv1.Attachment) error {
	if len(attachments) > dialect.MaxAttachments {
		return fmt.Errorf("%w: more than %d fields that are not known", dialect.ErrLimit, dialect.MaxAttachments)
	}
	return nil
}
