package llmtest

// responsesWire writes OpenAI's Responses: items with parts, each with an event at its beginning and end.
type responsesWire struct {
	*answering
	number int
	items  []object
	// open is the kind of the last item; it is empty if that item has ended.
	open, content string
}

func (w *responsesWire) send(kind string, more object) {
	event := object{"type": kind, "sequence_number": w.number}
	for name, value := range more {
		event[name] = value
	}
	w.number++
	w.event(kind, event)
}

func (w *responsesWire) response(status string) object {
	r := object{
		"id": w.id("resp_"), "object": "response", "created_at": 1_750_000_000, "status": status, "model": w.req.Model,
		"output": w.items, "error": nil, "incomplete_details": nil, "usage": nil, "store": false, "tools": []object{},
	}
	if r["output"] == nil || w.items == nil {
		r["output"] = []object{}
	}
	return r
}

func (w *responsesWire) begin() {
	w.send("response.created", object{"response": w.response("in_progress")})
	w.send("response.in_progress", object{"response": w.response("in_progress")})
}

// place adds the position of an event.
func (w *responsesWire) place(more object) object {
	more["output_index"] = len(w.items)
	more["item_id"] = w.id("item_")
	return more
}

// enter begins an item of this kind, unless one is open.
func (w *responsesWire) enter(kind string, item object) {
	if w.open == kind {
		return
	}
	w.leave()
	w.open, w.content = kind, ""
	item["id"] = w.id("item_")
	w.send("response.output_item.added", object{"output_index": len(w.items), "item": item})
	switch kind {
	case "text":
		w.send("response.content_part.added", w.place(object{
			"content_index": 0, "part": object{"type": "output_text", "text": "", "annotations": []object{}},
		}))
	case "refusal":
		w.send("response.content_part.added", w.place(object{"content_index": 0, "part": object{"type": "refusal", "refusal": ""}}))
	case "thinking":
		w.send("response.reasoning_summary_part.added", w.place(object{
			"summary_index": 0, "part": object{"type": "summary_text", "text": ""},
		}))
	}
}

// leave ends the open item.
func (w *responsesWire) leave() {
	var item object
	switch w.open {
	case "":
		return
	case "text":
		part := object{"type": "output_text", "text": w.content, "annotations": []object{}}
		w.send("response.output_text.done", w.place(object{"content_index": 0, "text": w.content, "logprobs": []object{}}))
		w.send("response.content_part.done", w.place(object{"content_index": 0, "part": part}))
		item = object{"type": "message", "role": "assistant", "status": "completed", "content": []object{part}}
	case "refusal":
		part := object{"type": "refusal", "refusal": w.content}
		w.send("response.refusal.done", w.place(object{"content_index": 0, "refusal": w.content}))
		w.send("response.content_part.done", w.place(object{"content_index": 0, "part": part}))
		item = object{"type": "message", "role": "assistant", "status": "completed", "content": []object{part}}
	case "thinking":
		part := object{"type": "summary_text", "text": w.content}
		w.send("response.reasoning_summary_text.done", w.place(object{"summary_index": 0, "text": w.content}))
		w.send("response.reasoning_summary_part.done", w.place(object{"summary_index": 0, "part": part}))
		item = object{"type": "reasoning", "summary": []object{part}}
	default:
		w.send("response.function_call_arguments.done", w.place(object{"arguments": w.content, "name": w.open}))
		item = object{"type": "function_call", "call_id": w.id("call_"), "name": w.open, "arguments": w.content, "status": "completed"}
	}
	item["id"] = w.id("item_")
	w.send("response.output_item.done", object{"output_index": len(w.items), "item": item})
	w.items = append(w.items, item)
	w.open = ""
}

func (w *responsesWire) text(delta string) {
	w.enter("text", object{"type": "message", "role": "assistant", "status": "in_progress", "content": []object{}})
	w.say(delta)
	w.content += delta
	w.send("response.output_text.delta", w.place(object{"content_index": 0, "delta": delta, "logprobs": []object{}}))
}

func (w *responsesWire) thinking(delta string) {
	w.enter("thinking", object{"type": "reasoning", "summary": []object{}})
	w.content += delta
	w.send("response.reasoning_summary_text.delta", w.place(object{"summary_index": 0, "delta": delta}))
}

func (w *responsesWire) call(name, arguments string) {
	w.enter(name, object{"type": "function_call", "call_id": w.id("call_"), "name": name, "arguments": "", "status": "in_progress"})
	for _, piece := range pieces(arguments) {
		w.content += piece
		w.send("response.function_call_arguments.delta", w.place(object{"delta": piece}))
	}
}

func (w *responsesWire) refuse(text string) {
	w.enter("refusal", object{"type": "message", "role": "assistant", "status": "in_progress", "content": []object{}})
	w.content += text
	w.send("response.refusal.delta", w.place(object{"content_index": 0, "delta": text}))
}

func (w *responsesWire) fault() {
	w.send("error", object{"code": "server_error", "message": "The server had an error: " + Quoted, "param": nil})
}

func (w *responsesWire) end(why stop) {
	w.leave()
	status := "completed"
	if why == atLimit {
		status = "incomplete"
	}
	r := w.response(status)
	if why == atLimit {
		r["incomplete_details"] = object{"reason": "max_output_tokens"}
	}
	if !w.noUsage {
		r["usage"] = object{
			"input_tokens": w.usage.Input, "input_tokens_details": object{"cached_tokens": w.usage.CacheRead},
			"output_tokens": w.usage.Output, "output_tokens_details": object{"reasoning_tokens": w.usage.Thinking},
			"total_tokens": w.usage.Input + w.usage.Output,
		}
	}
	w.whole()
	w.send("response."+status, object{"response": r})
}
