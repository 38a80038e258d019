package dialecttest

import (
	"encoding/json"

	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func (w *writer) anthropic(t *rapid.T) Source {
	if chance(t, 15) {
		return w.anthropicResponse(t)
	}
	var list []json.RawMessage
	for range 1 + dice(t, 5) {
		switch dice(t, 5) {
		case 0, 1:
			list = append(list, w.turn(t, "user", w.userBlocks(t)))
		case 2:
			list = append(list, w.turn(t, "assistant", w.assistantBlocks(t)))
		default:
			list = append(list, w.useAndResult(t)...)
		}
	}
	body, s := rawjson.Object{}, Source{Messages: list}
	switch dice(t, 4) {
	case 2:
		body["system"] = textJSON(t)
		s.System = []json.RawMessage{object("type", "text", "text", body["system"]).Encode()}
	case 3:
		for range 1 + dice(t, 2) {
			s.System = append(s.System, w.textBlock(t).Encode())
		}
		body["system"] = rawjson.EncodeArray(s.System)
	default:
	}
	if len(list) == 1 && len(body) == 0 && chance(t, 50) {
		s.Raw = respaced(t, list[0])
	} else {
		s.Raw = listOrBody(t, "messages", list, body)
	}
	return s
}

// turn returns a message, sometimes with a text instead of a list of blocks.
func (w *writer) turn(t *rapid.T, role string, blocks []json.RawMessage) json.RawMessage {
	o := object("role", role, "content", blocks)
	if chance(t, 25) {
		o["content"] = textJSON(t)
	}
	return odd(t, o).Encode()
}

func (w *writer) textBlock(t *rapid.T) rawjson.Object {
	o := object("type", "text", "text", textJSON(t))
	cached(t, o)
	maybe(t, o, 10, "citations", "null", "[]",
		`[{"type":"char_location","cited_text":"x","document_index":0,"start_char_index":0,"end_char_index":1}]`)
	return odd(t, o)
}

func cached(t *rapid.T, o rawjson.Object) {
	maybe(t, o, 10, "cache_control", `{"type":"ephemeral"}`, `{"type":"ephemeral","ttl":"1h"}`, "null")
}

func (w *writer) userBlocks(t *rapid.T) []json.RawMessage {
	var blocks []json.RawMessage
	for range 1 + dice(t, 3) {
		if chance(t, 70) {
			blocks = append(blocks, w.textBlock(t).Encode())
		} else {
			blocks = append(blocks, w.mediaBlock(t))
		}
	}
	return blocks
}

func (w *writer) mediaBlock(t *rapid.T) json.RawMessage {
	source := object("type", "base64", "media_type", "image/png", "data", oneOf(t, []string{imageData, "AQID", "iVBORw0KGgo"}))
	kind := "image"
	switch dice(t, 5) {
	case 0:
		source = object("type", "url", "url", "https://example.com/a.png")
	case 1:
		source = object("type", "file", "file_id", "file_011")
	case 2:
		kind, source = "document", object("type", "base64", "media_type", "application/pdf", "data", "AQID")
	case 3:
		kind, source = "document", object("type", "text", "media_type", "text/plain", "data", textJSON(t))
	default:
	}
	o := object("type", kind, "source", odd(t, source))
	if kind == "document" {
		maybe(t, o, 30, "title", `"A plan"`, "null")
		maybe(t, o, 30, "citations", `{"enabled":true}`)
	}
	cached(t, o)
	return odd(t, o).Encode()
}

func (w *writer) assistantBlocks(t *rapid.T) []json.RawMessage {
	var blocks []json.RawMessage
	for range dice(t, 3) {
		blocks = append(blocks, w.thinkingBlock(t))
	}
	if chance(t, 10) {
		id := w.id("srvtoolu_")
		blocks = append(blocks,
			object("type", "server_tool_use", "id", id, "name", "web_search", "input", argumentsJSON(t)).Encode(),
			object("type", "web_search_tool_result", "tool_use_id", id, "content", raw("[]")).Encode())
	}
	return append(blocks, w.textBlock(t).Encode())
}

func (w *writer) thinkingBlock(t *rapid.T) json.RawMessage {
	if chance(t, 20) {
		return odd(t, object("type", "redacted_thinking", "data", "Z2VoZWlt")).Encode()
	}
	return odd(t, object("type", "thinking", "thinking", textOrBlankJSON(t), "signature", "c2lnbmVk")).Encode()
}

func (w *writer) useAndResult(t *rapid.T) []json.RawMessage {
	blocks := w.assistantBlocks(t)
	if chance(t, 40) {
		blocks = blocks[:len(blocks)-1]
	}
	var results []json.RawMessage
	for range 1 + dice(t, 4) {
		id := w.id("toolu_")
		use := object("type", "tool_use", "id", id, "name", "read", "input", argumentsJSON(t))
		cached(t, use)
		maybe(t, use, 10, "caller", `{"type":"direct"}`)
		blocks = append(blocks, odd(t, use).Encode())
		results = append(results, w.resultBlock(t, id))
	}
	var answer []json.RawMessage
	for _, i := range shuffled(t, len(results)) {
		answer = append(answer, results[i])
	}
	for range dice(t, 2) {
		answer = append(answer, w.textBlock(t).Encode())
	}
	return []json.RawMessage{
		odd(t, object("role", "assistant", "content", blocks)).Encode(),
		odd(t, object("role", "user", "content", answer)).Encode(),
	}
}

func (w *writer) resultBlock(t *rapid.T, id string) json.RawMessage {
	o := object("type", "tool_result", "tool_use_id", id)
	switch dice(t, 5) {
	case 0:
	case 1:
		o["content"] = rawjson.EncodeArray([]json.RawMessage{w.textBlock(t).Encode(), w.mediaBlock(t)})
	case 2:
		o["content"] = raw("[]")
	default:
		o["content"] = textOrBlankJSON(t)
	}
	maybe(t, o, 40, "is_error", "true", "false")
	cached(t, o)
	return odd(t, o).Encode()
}

func (w *writer) anthropicResponse(t *rapid.T) Source {
	content, stop := rawjson.EncodeArray(w.assistantBlocks(t)), "end_turn"
	if chance(t, 50) {
		o, err := rawjson.ParseObject(w.useAndResult(t)[0])
		if err != nil {
			panic(err)
		}
		content, stop = o["content"], "tool_use"
	}
	body := object(
		"id", "msg_1", "type", "message", "role", "assistant", "model", "model-1", "content", content,
		"stop_reason", stop, "stop_sequence", raw("null"),
		"usage", raw(`{"input_tokens":12,"cache_read_input_tokens":4,"cache_creation_input_tokens":0,"output_tokens":3}`),
	)
	message := object("role", "assistant", "content", content).Encode()
	return Source{Raw: respaced(t, odd(t, body).Encode()), Messages: []json.RawMessage{message}, Response: true}
}
