package openairesponses

import (
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const kind = compactordv1.Dialect_DIALECT_OPENAI_RESPONSES

// New returns the dialect.
func New() dialect.Dialect {
	return dialect.New(&dialect.Implementation[*body, *decoded]{
		Kind: kind,
		Name: "openai_responses",

		Valid:      dialect.ValidJSON,
		IsEvent:    isEvent,
		ReadStream: readStream,
		ReadList:   readList,
		ReadObject: readObject,
		ReadText:   readText,

		List:            (*body).list,
		Document:        document,
		Parse:           parse,
		RenderRequest:   renderRequest,
		RenderAsWritten: renderAsWritten,

		Prompt:      prompt,
		RequestBody: requestBody,
		NewAnswer:   newAnswer,

		Decode: decode,
		Checks: checks,
	})
}

// document returns a list as the fields of a request body. A list of one text becomes that text.
func document(list *dialect.List) rawjson.Object {
	o := rawjson.Object{fieldInput: rawjson.EncodeArray(list.Messages)}
	if len(list.Messages) == 1 && rawjson.KindOf(list.Messages[0]) == rawjson.String {
		o[fieldInput] = list.Messages[0]
	}
	if len(list.System) > 0 {
		o[fieldInstructions] = list.System[0]
	}
	return o
}
