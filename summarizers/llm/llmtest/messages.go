package llmtest

import "encoding/json"

// messagesWire writes Anthropic's Messages: blocks, each with an event at its beginning and end.
type messagesWire struct {
	*answering
	// blocks is the number of finished blocks, and open the type of deltas of the open block.
	blocks int
	open   string
}

func (w *messagesWire) send(kind string, more object) {
	event := object{"type": kind}
	for name, value := range more {
		event[name] = value
	}
	w.event(kind, event)
}

func (w *messagesWire) begin() {
	usage := object{}
	if !w.noUsage {
		usage = object{
			"input_tokens":            w.usage.Input - w.usage.CacheRead - w.usage.CacheWrite,
			"cache_read_input_tokens": w.usage.CacheRead, "cache_creation_input_tokens": w.usage.CacheWrite, "output_tokens": 1,
		}
	}
	w.send("message_start", object{"message": object{
		"id": w.id("msg_"), "type": "message", "role": "assistant", "model": w.req.Model, "content": []object{},
		"stop_reason": nil, "stop_sequence": nil, "usage": usage,
	}})
	w.send("ping", nil)
}

// enter begins a block with deltas of this type, unless one is open.
func (w *messagesWire) enter(kind string, block object) {
	if w.open == kind {
		return
	}
	w.leave()
	w.open = kind
	w.send("content_block_start", object{"index": w.blocks, "content_block": block})
}

func (w *messagesWire) delta(delta object) {
	w.send("content_block_delta", object{"index": w.blocks, "delta": delta})
}

func (w *messagesWire) leave() {
	if w.open == "" {
		return
	}
	if w.open == "thinking_delta" {
		w.delta(object{"type": "signature_delta", "signature": "c2lnbmVk"})
	}
	w.send("content_block_stop", object{"index": w.blocks})
	w.blocks++
	w.open = ""
}

func (w *messagesWire) text(delta string) {
	w.enter("text_delta", object{"type": "text", "text": ""})
	w.say(delta)
	w.delta(object{"type": "text_delta", "text": delta})
}

func (w *messagesWire) thinking(delta string) {
	w.enter("thinking_delta", object{"type": "thinking", "thinking": "", "signature": ""})
	w.delta(object{"type": "thinking_delta", "thinking": delta})
}

func (w *messagesWire) call(name, arguments string) {
	w.enter("input_json_delta", object{"type": "tool_use", "id": w.id("toolu_"), "name": name, "input": json.RawMessage("{}")})
	for _, piece := range pieces(arguments) {
		w.delta(object{"type": "input_json_delta", "partial_json": piece})
	}
}

// refuse writes no text: the stop reason says that the model refused.
func (w *messagesWire) refuse(string) {}

func (w *messagesWire) fault() {
	w.send("error", object{"error": object{"type": "overloaded_error", "message": "Overloaded: " + Quoted}})
}

func (w *messagesWire) end(why stop) {
	w.leave()
	usage := object{}
	if !w.noUsage {
		usage = object{"output_tokens": w.usage.Output}
	}
	reason := map[stop]string{finished: "end_turn", atLimit: "max_tokens", calling: "tool_use", declined: "refusal"}[why]
	w.send("message_delta", object{"delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": usage})
	w.whole()
	w.send("message_stop", nil)
}
