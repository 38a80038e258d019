package dialecttest

import (
	"encoding/json"
	"strconv"

	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// openaichatStream streams a response: its message in pieces, and the usage in a chunk without choices.
func openaichatStream(t *rapid.T, body rawjson.Object) []json.RawMessage {
	choice := fieldsOf(elementsOf(body["choices"])[0])
	message := fieldsOf(choice["message"])
	var chunks []json.RawMessage
	send := func(o rawjson.Object, extra ...any) {
		said := object(append([]any{"index", raw("0"), "delta", o, "finish_reason", raw("null")}, extra...)...)
		chunk := object("object", "chat.completion.chunk", "model", body["model"], "choices", []json.RawMessage{said.Encode()},
			"usage", raw("null"))
		chunks = append(chunks, chunk.Encode())
	}
	first := without(message, "content", "refusal", "reasoning_content", "tool_calls")
	for _, key := range []string{"reasoning_content", "content", "refusal"} {
		value, there := message[key]
		switch {
		case !there:
		case rawjson.KindOf(value) == rawjson.String:
			for _, piece := range piecesOf(t, value) {
				send(rawjson.Object{key: piece})
			}
		case rawjson.KindOf(value) == rawjson.Array:
			for _, part := range elementsOf(value) {
				send(rawjson.Object{key: rawjson.EncodeArray([]json.RawMessage{part})})
			}
		default:
			first[key] = value
		}
	}
	for i, call := range elementsOf(message["tool_calls"]) {
		for _, piece := range callPieces(t, fieldsOf(call)) {
			piece["index"] = raw(strconv.Itoa(i))
			send(rawjson.Object{"tool_calls": rawjson.EncodeArray([]json.RawMessage{piece.Encode()})})
		}
	}
	rest := chunks
	chunks = nil
	send(first)
	chunks = append(chunks, rest...)
	send(rawjson.Object{}, "finish_reason", choice["finish_reason"])
	return append(chunks, object("object", "chat.completion.chunk", "choices", raw("[]"), "usage", body["usage"]).Encode())
}

func callPieces(t *rapid.T, call rawjson.Object) []rawjson.Object {
	function := fieldsOf(call["function"])
	begin := without(call)
	begin["function"] = without(function, "arguments").Encode()
	pieces := []rawjson.Object{begin}
	for _, piece := range piecesOf(t, function["arguments"]) {
		pieces = append(pieces, object("function", object("arguments", piece)))
	}
	return pieces
}
