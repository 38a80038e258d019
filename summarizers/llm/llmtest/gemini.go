package llmtest

import "encoding/json"

// geminiWire writes Gemini's stream: a series of answers, each with the next parts.
type geminiWire struct {
	*answering
	blocked bool
}

func (w *geminiWire) answer(parts []object, reason string) {
	candidate := object{"index": 0}
	if len(parts) > 0 {
		candidate["content"] = object{"role": "model", "parts": parts}
	}
	if reason != "" {
		candidate["finishReason"] = reason
	}
	w.send(object{"candidates": []object{candidate}})
}

func (w *geminiWire) send(answer object) {
	answer["modelVersion"], answer["responseId"] = w.req.Model, w.id("r")
	if !w.noUsage {
		answer["usageMetadata"] = object{
			"promptTokenCount": w.usage.Input, "cachedContentTokenCount": w.usage.CacheRead,
			"candidatesTokenCount": w.usage.Output - w.usage.Thinking, "thoughtsTokenCount": w.usage.Thinking,
			"totalTokenCount": w.usage.Input + w.usage.Output,
		}
	}
	text, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	w.raw("data: " + string(text) + "\r\n\r\n")
}

// begin only sends the head, since the stream has no event for its beginning.
func (w *geminiWire) begin() { w.raw("") }

func (w *geminiWire) text(delta string) {
	w.say(delta)
	w.answer([]object{{"text": delta}}, "")
}

func (w *geminiWire) thinking(delta string) { w.answer([]object{{"text": delta, "thought": true}}, "") }

func (w *geminiWire) call(name, arguments string) {
	w.answer([]object{{"functionCall": object{"name": name, "args": json.RawMessage(arguments)}}}, "")
}

func (w *geminiWire) refuse(string) { w.blocked = true }

func (w *geminiWire) fault() {
	w.event("", object{"error": object{"code": 503, "message": "The model is overloaded: " + Quoted, "status": "UNAVAILABLE"}})
}

func (w *geminiWire) end(why stop) {
	w.whole()
	switch {
	case w.blocked:
		w.send(object{"promptFeedback": object{"blockReason": "PROHIBITED_CONTENT"}})
	case why == atLimit:
		w.answer(nil, "MAX_TOKENS")
	default:
		w.answer(nil, "STOP")
	}
}
