package openaichat

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const notJSONText = "The arguments of the call are no JSON; they are kept as they are."

func (p *messageParser) parseCalls() ([]*compactordv1.Part, error) {
	list, err := p.SplitElements("tool_calls")
	if err != nil {
		return nil, err
	}
	if len(list) > dialect.MaxParts {
		return nil, rawjson.In("tool_calls", errManyParts)
	}
	parts := make([]*compactordv1.Part, 0, len(list))
	for i, raw := range list {
		part, err := p.parseCall(raw, i)
		if err != nil {
			return nil, dialect.Malformed(p.at, i, rawjson.In("tool_calls", rawjson.InElement(i, err)))
		}
		parts = append(parts, part)
	}
	if len(parts) > 0 {
		p.markNeutral("tool_calls")
	}
	return parts, nil
}

func (p *messageParser) parseCall(raw json.RawMessage, at int) (*compactordv1.Part, error) {
	f, err := readFields(raw)
	if err != nil {
		return nil, err
	}
	callType, err := f.Text("type")
	if err != nil {
		return nil, err
	}
	var part *compactordv1.Part
	switch callType {
	case "", typeFunction:
		part, err = p.parseFunction(f, typeFunction, at)
	case typeCustom:
		f.note(noteType, callType)
		part, err = parseCustom(f)
	default:
		part, err = parseOpaque(raw, callType)
		if err == nil {
			part.Attachments = []*compactordv1.Attachment{dialect.Note(kind, noteField, "tool_calls")}
		}
		return part, err
	}
	if err != nil {
		return nil, err
	}
	if part.GetToolCall().Id, err = f.text("id", dialect.MaxID); err != nil {
		return nil, err
	}
	switch {
	case callType != "":
		f.markNeutral("type")
	case rawjson.KindOf(f.Object["type"]) == rawjson.Missing:
		f.lacks("type")
	}
	part.Attachments, err = f.rest()
	return part, err
}

// parseFunctionCall parses function_call, the older field for calls. Its call has no id.
func (p *messageParser) parseFunctionCall() ([]*compactordv1.Part, error) {
	if !p.Has("function_call") {
		return nil, nil
	}
	// The field is attached to the call and not to the message. It is gone when an edit removes the call.
	f := &fields{Object: rawjson.Object{"function_call": p.Object["function_call"]}}
	part, err := p.parseFunction(f, "function_call", 0)
	if err != nil {
		return nil, err
	}
	f.note(noteField, "function_call")
	p.markNeutral("function_call")
	part.Attachments, err = f.rest()
	return []*compactordv1.Part{part}, err
}

func (p *messageParser) parseFunction(f *fields, key string, at int) (*compactordv1.Part, error) {
	if !f.Has(key) {
		return nil, rawjson.In(key, rawjson.ErrMissing)
	}
	inner, err := readFields(f.Object[key])
	if err != nil {
		return nil, rawjson.In(key, err)
	}
	call := &compactordv1.ToolCall{}
	if call.Name, err = inner.name(); err != nil {
		return nil, rawjson.In(key, err)
	}
	if call.Arguments, err = inner.arguments(); err != nil {
		return nil, rawjson.In(key, err)
	}
	if strings.TrimSpace(call.GetArguments()) != "" && !rawjson.Valid([]byte(call.GetArguments())) {
		p.find(dialect.InputArgumentsNotJSON, at, notJSONText)
	}
	return callPart(call), f.keepWithin(key, inner)
}

func parseCustom(f *fields) (*compactordv1.Part, error) {
	if !f.Has(typeCustom) {
		return nil, rawjson.In(typeCustom, rawjson.ErrMissing)
	}
	inner, err := readFields(f.Object[typeCustom])
	if err != nil {
		return nil, rawjson.In(typeCustom, err)
	}
	call := &compactordv1.ToolCall{}
	if call.Name, err = inner.name(); err != nil {
		return nil, rawjson.In(typeCustom, err)
	}
	if _, err := inner.DemandText("input"); err != nil {
		return nil, rawjson.In(typeCustom, err)
	}
	if call.Arguments, err = inner.text("input", dialect.MaxText); err != nil {
		return nil, rawjson.In(typeCustom, err)
	}
	if call.GetArguments() == "" {
		inner.markNeutral("input")
	}
	return callPart(call), f.keepWithin(typeCustom, inner)
}

// arguments returns a call's arguments as the model wrote them. Some tools store them decoded: then it returns their
// JSON unchanged.
func (f *fields) arguments() (string, error) {
	raw := f.Object["arguments"]
	switch rawjson.KindOf(raw) {
	case rawjson.Missing:
		f.note(noteArguments, "missing")
		return "", nil
	case rawjson.Null:
		f.note(noteArguments, "null")
		f.markNeutral("arguments")
		return "", nil
	case rawjson.String:
		text, err := f.text("arguments", dialect.MaxText)
		if text == "" {
			f.markNeutral("arguments")
		}
		return text, err
	case rawjson.ObjectKind, rawjson.Array:
		if len(raw) > dialect.MaxText {
			return "", rawjson.In("arguments", rawjson.TooLarge(len(raw), dialect.MaxText))
		}
		f.note(noteArguments, "value")
		f.markNeutral("arguments")
		return string(raw), nil
	default:
		return "", rawjson.In("arguments", fmt.Errorf("must be a string or an object, is %s", rawjson.KindOf(raw)))
	}
}

func callPart(call *compactordv1.ToolCall) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: call}}
}
