package dialecttest

import (
	"encoding/json"
	"strconv"

	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func anthropicStream(t *rapid.T, body rawjson.Object) []json.RawMessage {
	begun := without(body, "content", "stop_reason")
	begun["content"], begun["stop_reason"] = raw("[]"), raw("null")
	begun["usage"] = raw(`{"input_tokens":12,"cache_read_input_tokens":4,"cache_creation_input_tokens":0,"output_tokens":1}`)
	events := []json.RawMessage{object("type", "message_start", "message", begun).Encode()}
	for i, block := range elementsOf(body["content"]) {
		at := raw(strconv.Itoa(i))
		start, deltas := blockPieces(t, fieldsOf(block))
		events = append(events, object("type", "content_block_start", "index", at, "content_block", start).Encode())
		for _, delta := range deltas {
			if chance(t, 5) {
				events = append(events, object("type", "ping").Encode())
			}
			events = append(events, object("type", "content_block_delta", "index", at, "delta", delta).Encode())
		}
		events = append(events, object("type", "content_block_stop", "index", at).Encode())
	}
	return append(events,
		object("type", "message_delta", "delta", object("stop_reason", body["stop_reason"], "stop_sequence", raw("null")),
			"usage", object("output_tokens", fieldsOf(body["usage"])["output_tokens"])).Encode(),
		object("type", "message_stop").Encode())
}

// blockPieces returns the start of a block, and the deltas that follow.
func blockPieces(t *rapid.T, block rawjson.Object) (start rawjson.Object, deltas []rawjson.Object) {
	start = without(block)
	pieces := func(field, typ, key string, text json.RawMessage) {
		start[field] = raw(`""`)
		for _, piece := range piecesOf(t, text) {
			deltas = append(deltas, object("type", typ, key, piece))
		}
	}
	switch {
	case block.IsText("type", "text"):
		pieces("text", "text_delta", "text", block["text"])
		if citations := elementsOf(block["citations"]); len(citations) > 0 {
			start["citations"] = raw("[]")
			for _, citation := range citations {
				deltas = append(deltas, object("type", "citations_delta", "citation", citation))
			}
		}
	case block.IsText("type", "thinking"):
		pieces("thinking", "thinking_delta", "thinking", block["thinking"])
		start["signature"] = raw(`""`)
		deltas = append(deltas, object("type", "signature_delta", "signature", block["signature"]))
	case block["input"] != nil:
		pieces("input", "input_json_delta", "partial_json", rawjson.Quote(string(block["input"])))
		start["input"] = raw("{}")
	}
	return start, deltas
}
