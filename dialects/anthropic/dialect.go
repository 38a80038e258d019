package anthropic

import (
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const kind = compactordv1.Dialect_DIALECT_ANTHROPIC

// New returns the dialect.
func New() dialect.Dialect {
	return dialect.New(&dialect.Implementation[*body, *decoded]{
		Kind: kind,
		Name: "anthropic",

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
	body := rawjson.Object{"messages": rawjson.EncodeArray(list.Messages)}
	if text, is := systemText(list); is {
		body["system"] = text
	} else if len(list.System) > 0 {
		body["system"] = rawjson.EncodeArray(list.System)
	}
	return body
}
