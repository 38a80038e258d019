package openairesponses

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// call reads an item by which the model wants a tool called.
func (r *reader) call(at int, o rawjson.Object, k *callKind) error {
	call, notes, err := readCall(o, k)
	if err != nil {
		return err
	}
	if k == functionCalls && call.GetArguments() != "" && !json.Valid([]byte(call.GetArguments())) {
		r.find(dialect.InputArgumentsNotJSON, at, "the arguments of the call are no JSON; kept as they are")
	}
	residue, err := dialect.Residue(kind, o, usualCall(k, call, notes))
	if err != nil {
		return err
	}
	p := &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: call}, Attachments: append(notes, residue...)}
	if err := tooMany(p.GetAttachments()); err != nil {
		return err
	}
	if k.id != "id" {
		r.countID(o)
	}
	return r.say(at, p)
}

func readCall(o rawjson.Object, k *callKind) (*compactordv1.ToolCall, []*compactordv1.Attachment, error) {
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
		if name, err = readName(o); err != nil {
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
	arguments, err := readInput(o, k, field)
	return &compactordv1.ToolCall{Id: id, Name: name, Arguments: arguments}, notes, err
}

func readName(o rawjson.Object) (string, error) {
	if _, err := o.DemandText("name"); err != nil {
		return "", err
	}
	name, err := o.BoundedText("name", dialect.MaxName)
	if err == nil && name == "" {
		err = rawjson.In("name", rawjson.ErrEmpty)
	}
	return name, err
}

func readInput(o rawjson.Object, k *callKind, field string) (string, error) {
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

func usualCall(k *callKind, call *compactordv1.ToolCall, attachments []*compactordv1.Attachment) rawjson.Object {
	o := rawjson.Object{"type": rawjson.Quote(k.call), k.id: rawjson.Quote(call.GetId())}
	if k.name == "" {
		o["name"] = rawjson.Quote(call.GetName())
	}
	field, arguments := inputField(k, attachments), call.GetArguments()
	switch {
	case k.isText:
		o[field] = rawjson.Quote(arguments)
	case arguments == "":
	case json.Valid([]byte(arguments)):
		o[field] = json.RawMessage(arguments)
	default:
		o[field] = rawjson.Quote(arguments)
	}
	return o
}

// guardsOfCall keep an edited call from showing what it was before.
func guardsOfCall(k *callKind, call *compactordv1.ToolCall, attachments []*compactordv1.Attachment) guards {
	return guards{
		k.id:                       saysOptional(call.GetId()),
		"name":                     saysOptional(call.GetName()),
		inputField(k, attachments): saysOptional(call.GetArguments()),
	}
}

// saysOptional guards a text that was missing or null where it is empty now.
func saysOptional(text string) func(json.RawMessage) bool {
	says := dialect.SaysText(text)
	return func(raw json.RawMessage) bool {
		if k := rawjson.KindOf(raw); k == rawjson.Missing || k == rawjson.Null {
			return text == ""
		}
		return says(raw)
	}
}

// output reads an item that answers a call.
func (r *reader) output(at int, raw json.RawMessage, o rawjson.Object, k *callKind) error {
	form := &k.answer
	if k.output == typeApproval && rawjson.KindOf(o[form.flag]) != rawjson.Bool {
		// Whoever has not clearly approved has not answered.
		return r.clientItem(at, raw, k.output)
	}
	link := k.linkIn(o)
	id, err := o.BoundedText(link, dialect.MaxID)
	if err != nil {
		return err
	}
	pieces, err := form.readAnswer(o[form.field])
	if err != nil {
		return rawjson.In(form.field, err)
	}
	result := &compactordv1.ToolResult{CallId: id, IsError: form.flag != "" && string(o[form.flag]) == form.failed}
	// A name is one only where it fits: it is kept with the other fields in any case.
	if name, err := o.BoundedText("name", dialect.MaxName); err == nil {
		result.Name = name
	}
	for _, p := range pieces {
		result.Parts = append(result.Parts, p.resultPart())
	}
	p := &compactordv1.Part{Kind: &compactordv1.Part_ToolResult{ToolResult: result}}
	if k != functionCalls {
		p.Attachments = append(p.Attachments, note(noteKind, k.output))
	}
	if link != k.link {
		p.Attachments = append(p.GetAttachments(), note(noteLink, link))
	}
	p.Attachments = append(p.GetAttachments(), noteOfParts(o[form.field], pieces)...)
	residue, err := dialect.Residue(kind, o, asItWas.usualOutput(k, p))
	if err != nil {
		return err
	}
	p.Attachments = append(p.GetAttachments(), residue...)
	if err := tooMany(p.GetAttachments()); err != nil {
		return err
	}
	return r.add(at, &compactordv1.Message{Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{p}})
}
