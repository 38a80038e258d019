package dialecttest

import (
	"encoding/json"

	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func (w *writer) openairesponses(t *rapid.T) Source {
	if chance(t, 15) {
		return w.openairesponsesResponse(t)
	}
	var list []json.RawMessage
	for range 1 + dice(t, 7) {
		switch dice(t, 6) {
		case 0, 1:
			list = append(list, w.itemInput(t))
		case 2:
			list = append(list, w.itemOutput(t)...)
		case 3:
			list = append(list, w.itemOpaque(t))
		default:
			list = append(list, w.itemExchange(t)...)
		}
	}
	body := rawjson.Object{}
	s := Source{Messages: list}
	if chance(t, 30) {
		body["instructions"] = textJSON(t)
		s.System = []json.RawMessage{body["instructions"]}
	}
	if len(list) == 1 && len(body) == 0 && chance(t, 50) {
		s.Raw = respaced(t, list[0])
	} else {
		s.Raw = listOrBody(t, "input", list, body)
	}
	return s
}

// itemInput draws a message of the user or of the application, with or without its type.
func (w *writer) itemInput(t *rapid.T) json.RawMessage {
	role := oneOf(t, []string{"user", "user", "user", "system", "developer"})
	o := object("role", role)
	switch {
	case chance(t, 40):
		o["content"] = textOrBlankJSON(t)
	case role == "user":
		var parts []json.RawMessage
		for range 1 + dice(t, 3) {
			parts = append(parts, w.itemPart(t))
		}
		o["content"] = rawjson.EncodeArray(parts)
	default:
		o["content"] = chatTexts(t, "input_text")
	}
	maybe(t, o, 60, "type", `"message"`)
	maybe(t, o, 15, "id", `"msg_in"`)
	maybe(t, o, 15, "status", `"completed"`)
	return odd(t, o).Encode()
}

func (w *writer) itemPart(t *rapid.T) json.RawMessage {
	o := object("type", "input_text", "text", textOrBlankJSON(t))
	switch dice(t, 6) {
	case 0:
		o = object("type", "input_image", "detail", "auto", "image_url", oneOf(t, []string{
			"https://example.com/a.png", "data:image/png;base64," + imageData, "data:image/png;base64,iVBORw0KGgo",
		}))
	case 1:
		o = object("type", "input_image", "file_id", "file-abc")
		maybe(t, o, 40, "detail", `"high"`)
		maybe(t, o, 20, "image_url", "null")
	case 2:
		o = object("type", "input_file", "filename", "a.pdf", "file_data", "data:application/pdf;base64,AQID")
	case 3:
		o = object("type", "input_file", "file_url", "https://example.com/a.pdf")
	default:
	}
	return odd(t, o).Encode()
}

// itemOutput draws items of the model: mostly reasoning, and a message.
func (w *writer) itemOutput(t *rapid.T) []json.RawMessage {
	content := object("type", "output_text", "text", textJSON(t), "annotations", raw("[]"))
	if chance(t, 15) {
		content = object("type", "refusal", "refusal", textJSON(t))
	}
	maybe(t, content, 20, "logprobs", "[]")
	parts := []json.RawMessage{odd(t, content).Encode()}
	if chance(t, 20) {
		parts = append(parts, object("type", "output_text", "text", textJSON(t), "annotations", raw("[]")).Encode())
	}
	o := object("type", "message", "role", "assistant", "content", parts)
	if chance(t, 15) {
		// This is the short form of a message, as clients write it.
		o = object("role", "assistant", "content", textJSON(t))
	} else {
		o["id"], o["status"] = rawjson.Quote(w.id("msg_")), raw(`"completed"`)
	}
	maybe(t, o, 10, "phase", `"commentary"`, `"final_answer"`)
	return append(w.itemReasoning(t), odd(t, o).Encode())
}

func (w *writer) itemReasoning(t *rapid.T) []json.RawMessage {
	if !chance(t, 50) {
		return nil
	}
	var summary []json.RawMessage
	for range dice(t, 3) {
		summary = append(summary, object("type", "summary_text", "text", textJSON(t)).Encode())
	}
	o := object("type", "reasoning", "id", w.id("rs_"), "summary", summary)
	maybe(t, o, 70, "encrypted_content", `"Z2VoZWlt"`, "null")
	maybe(t, o, 10, "content", `[{"type":"reasoning_text","text":"As I see it."}]`, "null", "[]")
	maybe(t, o, 10, "status", `"completed"`, "null")
	return []json.RawMessage{odd(t, o).Encode()}
}

func (w *writer) itemExchange(t *rapid.T) []json.RawMessage {
	list := w.itemReasoning(t)
	if chance(t, 30) {
		list = append(list, w.itemOutput(t)...)
	}
	var outputs []json.RawMessage
	for range 1 + dice(t, 4) {
		id := w.id("call_")
		call, output := w.itemCall(t, id)
		list = append(list, odd(t, call).Encode())
		outputs = append(outputs, odd(t, output).Encode())
	}
	for _, i := range shuffled(t, len(outputs)) {
		list = append(list, outputs[i])
	}
	return list
}

func (w *writer) itemCall(t *rapid.T, id string) (call, output rawjson.Object) {
	if chance(t, 15) {
		call = object("type", "custom_tool_call", "call_id", id, "name", "apply_patch", "input", textJSON(t))
		output = object("type", "custom_tool_call_output", "call_id", id, "output", textOrBlankJSON(t))
	} else {
		call = object("type", "function_call", "call_id", id, "name", "read", "arguments", string(argumentsJSON(t)))
		output = object("type", "function_call_output", "call_id", id, "output", textOrBlankJSON(t))
		if chance(t, 25) {
			output["output"] = rawjson.EncodeArray([]json.RawMessage{w.itemPart(t), w.itemPart(t)})
		}
	}
	if chance(t, 60) {
		call["id"] = rawjson.Quote(w.id("fc_"))
	}
	maybe(t, call, 50, "status", `"completed"`, `"incomplete"`)
	maybe(t, output, 20, "status", `"completed"`)
	maybe(t, output, 10, "id", `"fco_1"`)
	return call, output
}

func (w *writer) itemOpaque(t *rapid.T) json.RawMessage {
	o := oneOf(t, []rawjson.Object{
		object("type", "web_search_call", "id", "ws_1", "status", "completed", "action", raw(`{"type":"search","query":"x"}`)),
		object("type", "compaction", "id", "cmp_1", "encrypted_content", "Z2VoZWlt"),
		object("type", "item_reference", "id", "msg_x"),
		object("type", "image_generation_call", "id", "ig_1", "status", "completed", "result", "AQID"),
		object("type", "something_new", "id", "sn_1", "payload", raw(`{"a":1.0}`)),
	})
	fresh := rawjson.Object{}
	for key, value := range o {
		fresh[key] = value
	}
	return odd(t, fresh).Encode()
}

func (w *writer) openairesponsesResponse(t *rapid.T) Source {
	output := w.itemOutput(t)
	if chance(t, 50) {
		for _, item := range w.itemExchange(t) {
			if o, err := rawjson.ParseObject(item); err == nil && !o.IsText("type", "function_call_output") &&
				!o.IsText("type", "custom_tool_call_output") {
				output = append(output, item)
			}
		}
	}
	body := object(
		"id", "resp_1", "object", "response", "created_at", raw("1760000000"), "status", "completed", "model", "model-1",
		"error", raw("null"), "incomplete_details", raw("null"), "output", output,
		"usage", raw(`{"input_tokens":12,"input_tokens_details":{"cached_tokens":4},"output_tokens":3,"total_tokens":15}`),
	)
	return Source{Raw: respaced(t, odd(t, body).Encode()), Messages: output, Response: true}
}
