package llmtest

// chatWire writes OpenAI's Chat Completions.
type chatWire struct{ *answering }

func (w *chatWire) chunk(choices []object, more object) {
	chunk := object{
		"id": w.id("chatcmpl-"), "object": "chat.completion.chunk", "created": 1_750_000_000, "model": w.req.Model, "choices": choices,
	}
	for name, value := range more {
		chunk[name] = value
	}
	w.event("", chunk)
}

func (w *chatWire) delta(delta object, reason any) {
	w.chunk([]object{{"index": 0, "delta": delta, "finish_reason": reason}}, nil)
}

func (w *chatWire) begin() {
	// Gateways send comments to keep connections alive.
	w.raw(": PROCESSING\n\n")
	w.delta(object{"role": "assistant", "content": ""}, nil)
}

func (w *chatWire) text(delta string) {
	w.say(delta)
	w.delta(object{"content": delta}, nil)
}

func (w *chatWire) thinking(delta string) { w.delta(object{"reasoning_content": delta}, nil) }

func (w *chatWire) call(name, arguments string) {
	w.delta(object{"tool_calls": []object{{
		"index": 0, "id": w.id("call_"), "type": "function", "function": object{"name": name, "arguments": ""},
	}}}, nil)
	for _, piece := range pieces(arguments) {
		w.delta(object{"tool_calls": []object{{"index": 0, "function": object{"arguments": piece}}}}, nil)
	}
}

func (w *chatWire) refuse(text string) { w.delta(object{"refusal": text}, nil) }

func (w *chatWire) fault() {
	w.event("", object{"error": object{"message": "The server had an error: " + Quoted, "type": "server_error", "param": nil, "code": "server_error"}})
}

func (w *chatWire) end(why stop) {
	w.delta(object{}, map[stop]string{finished: "stop", atLimit: "length", calling: "tool_calls", declined: "stop"}[why])
	if w.req.wantsUsage && !w.noUsage {
		w.chunk([]object{}, object{"usage": object{
			"prompt_tokens": w.usage.Input, "completion_tokens": w.usage.Output, "total_tokens": w.usage.Input + w.usage.Output,
			"prompt_tokens_details":     object{"cached_tokens": w.usage.CacheRead},
			"completion_tokens_details": object{"reasoning_tokens": w.usage.Thinking},
		}})
	}
	w.whole()
	w.raw("data: [DONE]\n\n")
}
