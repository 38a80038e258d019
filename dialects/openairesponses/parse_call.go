package openairesponses

import (
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// parseCall parses an item that calls a tool.
func (p *parser) parseCall(at int, o rawjson.Object, k *callKind) error {
	call, notes, err := parseToolCall(o, k)
	if err != nil {
		return err
	}
	if k == functionCalls && call.GetArguments() != "" && !rawjson.Valid([]byte(call.GetArguments())) {
		p.find(dialect.InputArgumentsNotJSON, at, "the arguments of the call are no JSON; kept as they are")
	}
	residue, err := dialect.Residue(kind, o, canonicalCall(k, call, notes))
	if err != nil {
		return err
	}
	part := &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: call}, Attachments: append(notes, residue...)}
	if err := dialect.BoundAttachments(part.GetAttachments()); err != nil {
		return err
	}
	if k.id != "id" {
		p.countID(o)
	}
	return p.addParts(at, part)
}

func parseToolCall(o rawjson.Object, k *callKind) (*compactordv1.ToolCall, []*compactordv1.Attachment, error) {
	var notes []*compactordv1.Attachment
	if k != functionCalls {
		notes = append(notes, note(noteKind, k.call))
	}
	id, err := o.BoundedText(k.id, dialect.MaxID)
	if err != nil {
		return nil, nil, err
	}
	name := k.name
	if name == "" {
		if name, err = parseName(o); err != nil {
			return nil, nil, err
		}
	}
	field := k.inputs[0]
	for _, other := range k.inputs[1:] {
		if _, there := o[field]; !there && o.Has(other) {
			field = other
			notes = append(notes, note(noteField, other))
		}
	}
	arguments, err := parseInput(o, k, field)
	return &compactordv1.ToolCall{Id: id, Name: name, Arguments: arguments}, notes, err
}

func parseName(o rawjson.Object) (string, error) {
	if _, err := o.DemandText("name"); err != nil {
		return "", err
	}
	name, err := o.BoundedText("name", dialect.MaxName)
	if err == nil && name == "" {
		err = rawjson.In("name", rawjson.ErrEmpty)
	}
	return name, err
}

func parseInput(o rawjson.Object, k *callKind, field string) (string, error) {
	switch {
	case k.isText:
		return o.BoundedText(field, dialect.MaxText)
	case !o.Has(field):
		return "", nil
	case len(o[field]) > dialect.MaxText:
		return "", rawjson.In(field, rawjson.TooLarge(len(o[field]), dialect.MaxText))
	default:
		return string(o[field]), nil
	}
}

func inputField(k *callKind, attachments []*compactordv1.Attachment) string {
	if field := noted(attachments, noteField); field != "" && field == k.inputs[len(k.inputs)-1] {
		return field
	}
	return k.inputs[0]
}
