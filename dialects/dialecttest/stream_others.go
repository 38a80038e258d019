package dialecttest

import (
	"encoding/json"
	"strconv"

	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/dialect"
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

// blockPieces are what a block begins as, and the deltas that follow.
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

// geminiStream streams a response. Neighbouring texts without a signature are one text in a stream, so the body that
// is returned has no such neighbours.
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

// streamsMutated: a stream that something happened to, or that broke off, is taken or refused in words.
func streamsMutated(t *rapid.T, d dialect.Dialect) {
	_, events := StreamOf(t, d.Kind())
	stream := rawjson.EncodeArray(events[:1+dice(t, len(events))])
	for range dice(t, 3) {
		stream = mutate(t, stream)
	}
	requireVerdict(t, d, stream)
}
