package dialecttest

import (
	"encoding/json"

	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func (w *writer) gemini(t *rapid.T) Source {
	if chance(t, 15) {
		return w.geminiResponse(t)
	}
	var list []json.RawMessage
	for range 1 + dice(t, 5) {
		switch dice(t, 5) {
		case 0, 1:
			list = append(list, w.content(t, "user", w.userContent(t)))
		case 2:
			list = append(list, w.content(t, "model", w.modelContent(t)))
		default:
			list = append(list, w.callAndResponse(t)...)
		}
	}
	body, s := rawjson.Object{}, Source{Messages: list}
	if chance(t, 40) {
		instruction := object("parts", []json.RawMessage{object("text", textJSON(t)).Encode()})
		maybe(t, instruction, 40, "role", `"user"`, `"system"`)
		body["systemInstruction"] = odd(t, instruction).Encode()
		s.System = []json.RawMessage{body["systemInstruction"]}
	}
	if len(list) == 1 && len(body) == 0 && chance(t, 50) {
		s.Raw = respaced(t, list[0])
	} else {
		s.Raw = listOrBody(t, "contents", list, body)
	}
	return s
}

func (w *writer) content(t *rapid.T, role string, parts []json.RawMessage) json.RawMessage {
	return odd(t, object("role", role, "parts", parts)).Encode()
}

func (w *writer) userContent(t *rapid.T) []json.RawMessage {
	var parts []json.RawMessage
	for range 1 + dice(t, 3) {
		o := object("text", textOrBlankJSON(t))
		switch dice(t, 6) {
		case 0:
			blob := object("mimeType", "image/png", "data", oneOf(t, []string{imageData, "AQID", "iVBORw0KGgo", "_-8="}))
			maybe(t, blob, 20, "displayName", `"plan.png"`)
			o = object("inlineData", odd(t, blob))
		case 1:
			file := object("fileUri", "https://generativelanguage.googleapis.com/v1beta/files/abc")
			maybe(t, file, 70, "mimeType", `"application/pdf"`)
			o = object("fileData", odd(t, file))
			maybe(t, o, 20, "videoMetadata", `{"fps":2.0,"startOffset":"1s"}`)
		default:
		}
		parts = append(parts, odd(t, o).Encode())
	}
	return parts
}

func (w *writer) modelContent(t *rapid.T) []json.RawMessage {
	var parts []json.RawMessage
	for range dice(t, 3) {
		thought := object("text", textJSON(t), "thought", raw("true"))
		maybe(t, thought, 30, "thoughtSignature", `"c2lnbmVk"`)
		parts = append(parts, odd(t, thought).Encode())
	}
	if chance(t, 10) {
		parts = append(parts,
			object("executableCode", object("language", "PYTHON", "code", textJSON(t))).Encode(),
			object("codeExecutionResult", object("outcome", "OUTCOME_OK", "output", "1")).Encode())
	}
	text := object("text", textOrBlankJSON(t))
	maybe(t, text, 30, "thoughtSignature", `"c2lnbmVk"`)
	maybe(t, text, 10, "thought", "false")
	return append(parts, odd(t, text).Encode())
}

func (w *writer) callAndResponse(t *rapid.T) []json.RawMessage {
	parts := w.modelContent(t)
	if chance(t, 60) {
		parts = parts[:len(parts)-1]
	}
	var responses []json.RawMessage
	withIDs := chance(t, 60)
	for i := range 1 + dice(t, 4) {
		call := object("name", "read")
		response := object("name", "read", "response", raw(oneOf(t, []string{
			`{"output":"ok"}`, `{"error":"no such file"}`, `{"result":{"n":1.50}}`, "{}", `{"output":"cut \ud83d"}`, `{"output":1e400}`,
		})))
		if chance(t, 80) {
			call["args"] = argumentsJSON(t)
		}
		if withIDs {
			id := w.id("call-")
			call["id"], response["id"] = rawjson.Quote(id), rawjson.Quote(id)
		}
		part := object("functionCall", odd(t, call))
		if i == 0 {
			maybe(t, part, 70, "thoughtSignature", `"c2lnbmVk"`)
		}
		parts = append(parts, odd(t, part).Encode())
		maybe(t, response, 10, "willContinue", "false")
		responses = append(responses, odd(t, object("functionResponse", odd(t, response))).Encode())
	}
	if withIDs {
		ordered := responses
		responses = nil
		for _, i := range shuffled(t, len(ordered)) {
			responses = append(responses, ordered[i])
		}
	}
	answering := oneOf(t, []string{"user", "user", "function"})
	return []json.RawMessage{w.content(t, "model", parts), w.content(t, answering, responses)}
}

func (w *writer) geminiResponse(t *rapid.T) Source {
	parts := w.modelContent(t)
	content := w.content(t, "model", parts)
	if chance(t, 50) {
		content = w.callAndResponse(t)[0]
	}
	candidate := object("content", content, "finishReason", "STOP", "index", raw("0"))
	body := object(
		"candidates", []json.RawMessage{odd(t, candidate).Encode()}, "modelVersion", "model-1", "responseId", "r1",
		"usageMetadata", raw(`{"promptTokenCount":12,"candidatesTokenCount":3,"totalTokenCount":15,"cachedContentTokenCount":4}`),
	)
	return Source{Raw: respaced(t, odd(t, body).Encode()), Messages: []json.RawMessage{content}, Response: true}
}
