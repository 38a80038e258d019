package openaichat

import (
	"encoding/json"
	"slices"
	"strings"

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
		// Reasoning of a shape that could not be read stays with the message, and goes into no request.
		guarded[key] = func(raw json.RawMessage) bool {
			return len(s.thinking) == 0 && (!w.request || saysNothing(raw))
		}
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
	var refused []block
	var texts []string
	fromField := 0
	for _, n := range parts {
		text := n.part.GetText().GetText()
		if w.request && text == "" {
			w.drop(n.at, emptyText)
			continue
		}
		if fieldOf(n.part) == "refusal" {
			fromField++
		}
		refused, texts = append(refused, w.textBlock(n.part)), append(texts, text)
	}
	if len(texts) == 0 {
		return blocks, ""
	}
	inField := !w.request || len(blocks) > 0 || fromField == len(texts) && !silent
	if w.request && (len(texts) > 1 || inField != (fromField > 0)) {
		w.repair(ruleRefusalAlone, "A refusal was put where the provider takes it.")
	}
	if inField {
		return blocks, strings.Join(texts, "\n")
	}
	if len(texts) > 1 {
		joined := rawjson.Quote(strings.Join(texts, "\n"))
		refused = []block{{object: rawjson.Object{"type": rawjson.Quote("refusal"), "refusal": joined}}}
	}
	return refused, ""
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
	texts := make(map[string][]string)
	for _, n := range parts {
		field := fieldOf(n.part)
		if !slices.Contains(reasoningFields, field) {
			if w.request {
				w.drop(n.at, "The reasoning did not come from a server of this dialect.")
				continue
			}
			field = reasoningContent
		}
		for _, key := range reasoningFields {
			if key != field || key == reasoningDetails {
				layField(o, n.part, key)
			}
		}
		if field != reasoningDetails {
			texts[field] = append(texts[field], n.part.GetThinking().GetText())
		}
	}
	for field, said := range texts {
		o[field] = rawjson.Quote(strings.Join(said, "\n"))
	}
	if len(parts) == 1 && !w.request {
		w.restoreThinking(o, parts[0].part)
	}
}

// layField lays a field that was kept with a part over its message.
func layField(o rawjson.Object, p *compactordv1.Part, key string) {
	if raw, found := dialect.Attached(p.GetAttachments(), kind, key); found && json.Valid(raw) {
		o[key] = raw
	}
}

// restoreThinking writes a text as it was where decoding lost something of it.
func (w *writer) restoreThinking(o rawjson.Object, p *compactordv1.Part) {
	field := fieldOf(p)
	raw, found := dialect.Attached(p.GetAttachments(), kind, field)
	if found && field != reasoningDetails && saysText(p.GetThinking().GetText())(raw) {
		layField(o, p, field)
	}
}
