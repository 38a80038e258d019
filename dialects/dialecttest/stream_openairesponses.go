package dialecttest

import (
	"encoding/json"
	"strconv"

	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// openairesponsesStream streams a response. The last event has the output, unless the server left it out.
func openairesponsesStream(t *rapid.T, body rawjson.Object) []json.RawMessage {
	begun := without(body, "output", "usage")
	begun["status"], begun["output"] = raw(`"in_progress"`), raw("[]")
	events := []json.RawMessage{object("type", "response.created", "response", begun).Encode()}
	for i, item := range elementsOf(body["output"]) {
		at := raw(strconv.Itoa(i))
		events = append(events, object("type", "response.output_item.added", "output_index", at, "item",
			without(fieldsOf(item), "content", "summary", "arguments", "encrypted_content")).Encode())
		if arguments := fieldsOf(item)["arguments"]; arguments != nil {
			for _, piece := range piecesOf(t, arguments) {
				events = append(events, object(
					"type", "response.function_call_arguments.delta", "output_index", at, "delta", piece).Encode())
			}
		}
		events = append(events, object("type", "response.output_item.done", "output_index", at, "item", item).Encode())
	}
	if chance(t, 50) {
		body = without(body)
		body["output"] = raw("[]")
	}
	return append(events, object("type", "response.completed", "response", body).Encode())
}
