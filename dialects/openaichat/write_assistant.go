package openaichat

import (
	"encoding/json"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// sorted are the parts of an ASSISTANT message by the field that they stand in.
type sorted struct {
	thinking, content, refusals, calls []numberedPart
	audio, functionCall                *numberedPart
}

func (w *writer) sort() *sorted {
	s := &sorted{}
	for i, p := range w.m.GetParts() {
		n := numberedPart{i, p}
		field := fieldOf(p)
		switch {
		case p.GetThinking() != nil:
			s.thinking = append(s.thinking, n)
		case p.GetToolCall() != nil && field == "function_call" && s.functionCall == nil && (w.legacy != nil || !w.request):
			s.functionCall = &n
		case p.GetToolCall() != nil, p.GetOpaque() != nil && field == "tool_calls":
			s.calls = append(s.calls, n)
		case p.GetOpaque() != nil && p.GetOpaque().GetDialect() == kind && field == "audio" && s.audio == nil:
			s.audio = &n
		case p.GetText().GetRefusal() && (field == "refusal" || w.request):
			s.refusals = append(s.refusals, n)
		default:
			s.content = append(s.content, n)
		}
	}
	return s
}

func (w *writer) assistant() rawjson.Object {
	s := w.sort()
	o := rawjson.Object{"role": rawjson.Quote("assistant")}
	blocks := w.blocks(s.content)
	w.writeCalls(o, s)
	if audio := w.audio(s.audio); audio != nil {
		o["audio"] = audio
	}
	// Only the role is there so far if there are neither calls nor a recording.
	silent := len(o) == 1
	blocks, refusal := w.refusals(s.refusals, blocks, silent)
	if refusal != "" {
		o["refusal"] = rawjson.Quote(refusal)
	}
	if w.request && silent && len(blocks) == 0 {
		w.leaveOut(s.thinking)
		return nil
	}
	o["content"] = w.joined(blocks)
	w.name(o)
	w.thinking(o, s.thinking)
	w.restoreAssistant(o, s, blocks, refusal)
	return o
}

func (w *writer) writeCalls(o rawjson.Object, s *sorted) {
	if calls := w.calls(s.calls); len(calls) > 0 {
		o["tool_calls"] = rawjson.EncodeArray(calls)
	}
	if s.functionCall != nil {
		o["function_call"] = w.functionCall(s.functionCall.part)
	}
}

func (w *writer) restoreAssistant(o rawjson.Object, s *sorted, blocks []block, refusal string) {
	guarded := guards{
		"content": w.saysContent(blocks), "refusal": saysText(refusal), "name": saysText(w.m.GetName()),
	}
	for _, key := range []string{"tool_calls", "function_call", "audio"} {
		if o[key] != nil {
			guarded[key] = never
		}
	}
	for _, key := range reasoningFields {
		guarded[key] = func(raw json.RawMessage) bool { return len(s.thinking) == 0 && saysNothing(raw) }
	}
	w.restore(o, guarded)
	if w.request && len(blocks) == 0 {
		w.restoreEmptyContent(o)
	}
	if w.request && len(s.thinking) == 0 {
		w.restoreEmptyReasoning(o)
	}
}

// leaveOut reports an ASSISTANT message of which nothing is left.
func (w *writer) leaveOut(thinking []numberedPart) {
	w.repair(ruleAssistantContent, "A message of the assistant without content or calls was left out.")
	for _, t := range thinking {
		w.drop(t.at, "The message has no content beside its reasoning, and the provider takes none such.")
	}
}

// restoreEmptyContent writes no content in the way in which the client did, since servers differ in what they want.
func (w *writer) restoreEmptyContent(o rawjson.Object) {
	raw, found := dialect.Attached(w.m.GetAttachments(), kind, "content")
	switch {
	case !found:
	case len(raw) == 0:
		delete(o, "content")
	case string(raw) == `""`:
		o["content"] = raw
	}
}

// restoreEmptyReasoning writes the reasoning that a client sent though there was none: some servers refuse calls without
// the field.
func (w *writer) restoreEmptyReasoning(o rawjson.Object) {
	for _, key := range []string{reasoningContent, reasoning} {
		if raw, found := dialect.Attached(w.m.GetAttachments(), kind, key); found && string(raw) == `""` {
			o[key] = raw
		}
	}
}

// refusals writes what the model refused with: as it was, or for a request either as the only part of the content, or
// beside it in the message's own field.
func (w *writer) refusals(parts []numberedPart, blocks []block, silent bool) (content []block, field string) {
	var texts []block
	own := 0
	for _, n := range parts {
		text := n.part.GetText().GetText()
		if w.request && text == "" {
			w.drop(n.at, emptyText)
			continue
		}
		if fieldOf(n.part) == "refusal" {
			own++
		}
		texts = append(texts, w.textBlock(n.part))
	}
	if len(texts) == 0 {
		return blocks, ""
	}
	joined := texts[0].text
	for _, t := range texts[1:] {
		joined += "\n" + t.text
	}
	inField := !w.request || len(blocks) > 0 || own == len(texts) && !silent
	if w.request && (len(texts) > 1 || inField != (own > 0)) {
		w.repair(ruleRefusalAlone, "A refusal was put where the provider takes it.")
	}
	if inField {
		return blocks, joined
	}
	refusal := texts[0]
	if len(texts) > 1 {
		refusal = block{object: rawjson.Object{"type": rawjson.Quote("refusal"), "refusal": rawjson.Quote(joined)}}
	}
	return []block{refusal}, ""
}

// audio refers to what the model said aloud: a request names it, only a response holds it.
func (w *writer) audio(n *numberedPart) json.RawMessage {
	if n == nil {
		return nil
	}
	raw := json.RawMessage(n.part.GetOpaque().GetJson())
	o, err := rawjson.ParseObject(raw)
	if err == nil && !w.request {
		return raw
	}
	if id, idErr := o.Text("id"); err == nil && idErr == nil && id != "" {
		return rawjson.Object{"id": rawjson.Quote(id)}.Encode()
	}
	w.drop(n.at, "The recording has no id by which the provider could find it.")
	return nil
}

// thinking writes reasoning into the fields that it came from.
func (w *writer) thinking(o rawjson.Object, parts []numberedPart) {
	said := make(map[string]string)
	for _, n := range parts {
		field, text := fieldOf(n.part), n.part.GetThinking().GetText()
		if !slices.Contains(reasoningFields, field) {
			if w.request {
				w.drop(n.at, "The reasoning did not come from a server of this dialect.")
				continue
			}
			field = reasoningContent
		}
		if field != reasoningDetails {
			if before := said[field]; before != "" {
				text = before + "\n" + text
			}
			said[field] = text
			o[field] = rawjson.Quote(text)
		}
		w.restoreThinking(o, n.part, field, text)
	}
}

func (w *writer) restoreThinking(o rawjson.Object, p *compactordv1.Part, field, text string) {
	for _, key := range reasoningFields {
		raw, found := dialect.Attached(p.GetAttachments(), kind, key)
		if !found || len(raw) == 0 || !json.Valid(raw) {
			continue
		}
		if key == field && key != reasoningDetails && (w.request || !saysText(text)(raw)) {
			continue
		}
		o[key] = raw
	}
}
