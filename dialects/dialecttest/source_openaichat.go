package dialecttest

import (
	"encoding/json"

	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func (w *writer) openaichat(t *rapid.T) Source {
	if chance(t, 15) {
		return w.openaichatResponse(t)
	}
	var list []json.RawMessage
	for range dice(t, 3) {
		list = append(list, w.chatInstruction(t))
	}
	for range 1 + dice(t, 6) {
		switch dice(t, 6) {
		case 0, 1:
			list = append(list, w.chatUser(t))
		case 2:
			list = append(list, w.chatAssistant(t).Encode())
		case 3:
			list = append(list, w.chatInstruction(t))
		default:
			list = append(list, w.chatExchange(t)...)
		}
	}
	s := Source{Messages: list}
	if len(list) == 1 && chance(t, 50) {
		s.Raw = respaced(t, list[0])
	} else {
		s.Raw = listOrBody(t, "messages", list, rawjson.Object{})
	}
	return s
}

func (w *writer) chatInstruction(t *rapid.T) json.RawMessage {
	o := object("role", oneOf(t, []string{"system", "developer"}), "content", chatTexts(t, "text"))
	maybe(t, o, 10, "name", `"operator"`)
	return odd(t, o).Encode()
}

// chatTexts draws a text, or a list of texts.
func chatTexts(t *rapid.T, kind string) json.RawMessage {
	if chance(t, 60) {
		return textOrBlankJSON(t)
	}
	var parts []json.RawMessage
	for range 1 + dice(t, 3) {
		parts = append(parts, odd(t, object("type", kind, "text", textOrBlankJSON(t))).Encode())
	}
	return rawjson.EncodeArray(parts)
}

func (w *writer) chatUser(t *rapid.T) json.RawMessage {
	o := object("role", "user", "content", chatTexts(t, "text"))
	if chance(t, 40) {
		var parts []json.RawMessage
		for range 1 + dice(t, 3) {
			parts = append(parts, w.chatPart(t))
		}
		o["content"] = rawjson.EncodeArray(parts)
	}
	maybe(t, o, 10, "name", `"alice"`)
	return odd(t, o).Encode()
}

func (w *writer) chatPart(t *rapid.T) json.RawMessage {
	var o rawjson.Object
	switch dice(t, 6) {
	case 0:
		image := object("url", oneOf(t, []string{
			"https://example.com/a.png", "data:image/png;base64," + imageData, "data:image/png;base64,iVBORw0KGgo",
			"data:;base64,AQID", "DATA:image/svg+xml,%3Csvg/%3E",
		}))
		maybe(t, image, 40, "detail", `"low"`, `"auto"`, "null")
		o = object("type", "image_url", "image_url", odd(t, image))
	case 1:
		o = object("type", "input_audio", "input_audio", odd(t, object("data", "AQID", "format", oneOf(t, []string{"wav", "mp3"}))))
	case 2:
		file := object("file_data", "data:application/pdf;base64,AQID", "filename", "a.pdf")
		if chance(t, 50) {
			file = object("file_id", "file-abc")
		}
		o = object("type", "file", "file", odd(t, file))
	default:
		o = object("type", "text", "text", textOrBlankJSON(t))
		maybe(t, o, 10, "cache_control", `{"type":"ephemeral"}`)
	}
	return odd(t, o).Encode()
}

// chatAssistant draws a message without calls.
func (w *writer) chatAssistant(t *rapid.T) rawjson.Object {
	o := object("role", "assistant")
	switch dice(t, 6) {
	case 4:
		o["content"], o["refusal"] = raw("null"), textJSON(t)
	case 5:
		parts := []json.RawMessage{object("type", "text", "text", textJSON(t)).Encode()}
		if chance(t, 30) {
			parts = append(parts, object("type", "refusal", "refusal", textJSON(t)).Encode())
		}
		o["content"] = rawjson.EncodeArray(parts)
	default:
		o["content"] = textJSON(t)
		maybe(t, o, 30, "refusal", "null")
	}
	maybe(t, o, 20, "reasoning_content", `"As I see it."`, `""`, "null", `"cut \ud83d"`)
	maybe(t, o, 10, "annotations", "[]", `[{"type":"url_citation","url_citation":{"url":"https://example.com","start_index":0}}]`)
	maybe(t, o, 10, "audio", `{"id":"audio_1"}`, "null")
	maybe(t, o, 10, "name", `"robot"`)
	return odd(t, o)
}

func (w *writer) chatExchange(t *rapid.T) []json.RawMessage {
	o := w.chatAssistant(t)
	switch dice(t, 4) {
	case 0:
		o["content"] = raw("null")
		delete(o, "refusal")
	case 1:
		delete(o, "content")
		delete(o, "refusal")
	case 2:
		o["content"] = raw(`""`)
		delete(o, "refusal")
	default:
	}
	var calls, results []json.RawMessage
	for range 1 + dice(t, 4) {
		id := w.id("call_")
		function := odd(t, object("name", "read", "arguments", string(argumentsJSON(t))))
		calls = append(calls, odd(t, object("id", id, "type", "function", "function", function)).Encode())
		result := object("role", "tool", "tool_call_id", id, "content", chatTexts(t, "text"))
		maybe(t, result, 20, "name", `"read"`)
		results = append(results, odd(t, result).Encode())
	}
	o["tool_calls"] = rawjson.EncodeArray(calls)
	list := []json.RawMessage{o.Encode()}
	for _, i := range shuffled(t, len(results)) {
		list = append(list, results[i])
	}
	return list
}

func (w *writer) openaichatResponse(t *rapid.T) Source {
	message, finish := w.chatAssistant(t).Encode(), "stop"
	if chance(t, 50) {
		message, finish = w.chatExchange(t)[0], "tool_calls"
	}
	choice := object("index", raw("0"), "message", message, "finish_reason", finish, "logprobs", raw("null"))
	body := object(
		"id", "chatcmpl-1", "object", "chat.completion", "created", raw("1760000000"), "model", "model-1",
		"choices", []json.RawMessage{odd(t, choice).Encode()},
		"usage", raw(`{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":4}}`),
	)
	return Source{Raw: respaced(t, odd(t, body).Encode()), Messages: []json.RawMessage{message}, Response: true}
}
