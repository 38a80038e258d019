package gemini

import (
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const kind = compactordv1.Dialect_DIALECT_GEMINI

// New returns the dialect.
func New() dialect.Dialect {
	return dialect.New(&dialect.Implementation[*body, *decoded]{
		Kind: kind,
		Name: "gemini",

		Valid:      dialect.ValidJSON,
		IsEvent:    isEvent,
		ReadStream: readStream,
		ReadList:   readList,
		ReadObject: readObject,
		Bound:      bound,

		List:            (*body).list,
		Document:        document,
		Parse:           parse,
		RenderRequest:   renderRequest,
		RenderAsWritten: renderAsWritten,

		Prompt:      prompt,
		Continue:    continueView,
		RequestBody: requestBody,
		NewAnswer:   newAnswer,

		Decode: decode,
		Checks: checks,
	})
}

// document returns a list as the fields of a request body.
func document(list *dialect.List) rawjson.Object {
	body := rawjson.Object{"contents": rawjson.EncodeArray(list.Messages)}
	if len(list.System) > 0 {
		body["systemInstruction"] = list.System[0]
	}
	return body
}
