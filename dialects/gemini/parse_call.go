package gemini

import (
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func parseCall(o rawjson.Object, snake []string) (*compactordv1.Part, error) {
	inner, err := rawjson.SplitObject(o[fieldCall])
	if err != nil {
		return nil, rawjson.In(fieldCall, err)
	}
	call, err := parseFunctionCall(inner)
	if err != nil {
		return nil, rawjson.In(fieldCall, err)
	}
	d := canonicalCall(call)
	residue, err := d.residue(o, inner, snake)
	if err != nil {
		return nil, err
	}
	if !has(inner, "id") {
		residue = append(residue, leftOut(fieldCall+".id"))
	}
	if !o.Has("thoughtSignature") {
		residue = append(residue, dialect.Note(kind, noteUnsigned, ""))
	}
	part := &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: call}}
	part.Attachments = residue
	return part, dialect.BoundAttachments(residue)
}

func parseFunctionCall(inner rawjson.Object) (*compactordv1.ToolCall, error) {
	name, err := inner.BoundedText("name", dialect.MaxName)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return nil, rawjson.In("name", rawjson.ErrMissing)
	}
	id, err := inner.BoundedText("id", dialect.MaxID)
	if err != nil {
		return nil, err
	}
	call := &compactordv1.ToolCall{Id: id, Name: name}
	if inner.Has("args") {
		call.Arguments = string(inner["args"])
	}
	if len(call.GetArguments()) > dialect.MaxText {
		return nil, rawjson.In("args", rawjson.TooLarge(len(call.GetArguments()), dialect.MaxText))
	}
	return call, nil
}

func isArguments(arguments string) bool {
	_, changed := dialect.ArgumentsObject(arguments)
	return !changed
}
