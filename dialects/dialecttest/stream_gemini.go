package dialecttest

import (
	"encoding/json"
	"strconv"

	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// geminiStream streams a response. Neighbouring texts without a signature are one text in a stream, so the body that it
// returns has no such neighbours.
func geminiStream(t *rapid.T, body rawjson.Object) (whole json.RawMessage, chunks []json.RawMessage) {
	candidate := fieldsOf(elementsOf(body["candidates"])[0])
	content := fieldsOf(candidate["content"])
	var parts []json.RawMessage
	before := ""
	for _, part := range elementsOf(content["parts"]) {
		is := ""
		if o := fieldsOf(part); isPlainText(o) {
			is = "text, thought " + strconv.FormatBool(string(o["thought"]) == "true")
		}
		if is == "" || is != before {
			parts = append(parts, part)
		}
		before = is
	}
	content["parts"] = rawjson.EncodeArray(parts)
	candidate["content"] = content.Encode()
	body["candidates"] = rawjson.EncodeArray([]json.RawMessage{candidate.Encode()})

	send := func(pieces ...json.RawMessage) {
		inner := without(content)
		inner["parts"] = rawjson.EncodeArray(pieces)
		said := object("content", inner, "index", raw("0"))
		chunks = append(chunks, object("candidates", []json.RawMessage{said.Encode()}, "modelVersion", body["modelVersion"],
			"usageMetadata", raw(`{"promptTokenCount":12,"totalTokenCount":12}`)).Encode())
	}
	for _, part := range parts {
		if o := fieldsOf(part); !isPlainText(o) {
			send(part)
		} else {
			for _, piece := range piecesOf(t, o["text"]) {
				o["text"] = piece
				send(o.Encode())
			}
		}
	}
	last := without(candidate, "content")
	chunks = append(chunks, object("candidates", []json.RawMessage{last.Encode()}, "modelVersion", body["modelVersion"],
		"usageMetadata", body["usageMetadata"]).Encode())
	return body.Encode(), chunks
}

func isPlainText(o rawjson.Object) bool {
	return rawjson.KindOf(o["text"]) == rawjson.String && len(o.Others("text", "thought")) == 0
}
