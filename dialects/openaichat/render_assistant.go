package openaichat

import (
	"encoding/json"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// sortedParts holds the parts of an ASSISTANT message by the field that they are in.
type sortedParts struct {
	thinking, content, refusals, calls []numberedPart
	audio, functionCall                *numberedPart
}

func (r *renderer) sortParts() *sortedParts {
	s := &sortedParts{}
	for i, p := range r.m.GetParts() {
		n := numberedPart{i, p}
		field := fieldOf(p)
		switch {
		case p.GetThinking() != nil:
			s.thinking = append(s.thinking, n)
		case p.GetToolCall() != nil && field == "function_call" && s.functionCall == nil && (r.legacy != nil || !r.request):
			s.functionCall = &n
		case p.GetToolCall() != nil, p.GetOpaque() != nil && field == "tool_calls":
			s.calls = append(s.calls, n)
		case p.GetOpaque() != nil && p.GetOpaque().GetDialect() == kind && field == "audio" && s.audio == nil:
			s.audio = &n
		case p.GetText().GetRefusal() && (field == "refusal" || r.request):
			s.refusals = append(s.refusals, n)
		default:
			s.content = append(s.content, n)
		}
	}
	return s
}

func (r *renderer) renderAssistant() rawjson.Object {
	s := r.sortParts()
	o := rawjson.Object{"role": rawjson.Quote(roleAssistant)}
	blocks := r.renderParts(s.content)
	r.renderCallFields(o, s)
	if audio := r.renderAudio(s.audio); audio != nil {
		o["audio"] = audio
	}
	// Without calls and a recording, the object has only its role so far.
	silent := len(o) == 1
	blocks, refusal := r.renderRefusals(s.refusals, blocks, silent)
	if refusal != "" {
		o["refusal"] = rawjson.Quote(refusal)
	}
	if r.request && silent && len(blocks) == 0 {
		r.dropAssistant(s.thinking)
		return nil
	}
	r.putContent(o, blocks)
	r.renderName(o)
	r.renderThinking(o, s.thinking)
	r.restoreAssistant(o, s, blocks, refusal)
	return o
}

func (r *renderer) renderCallFields(o rawjson.Object, s *sortedParts) {
	if calls := r.renderCalls(s.calls); len(calls) > 0 {
		o["tool_calls"] = r.by.Array(calls)
	}
	if s.functionCall != nil {
		o["function_call"] = r.renderFunctionCall(s.functionCall.part)
	}
}

func (r *renderer) restoreAssistant(o rawjson.Object, s *sortedParts, blocks []renderedPart, refusal string) {
	guarded := dialect.Guards{
		"content": r.matchesContent(blocks), "refusal": matchesText(refusal), "name": matchesText(r.m.GetName()),
	}
	for _, key := range []string{"tool_calls", "function_call", "audio"} {
		if o[key] != nil {
			guarded[key] = dialect.Never
		}
	}
	for _, key := range reasoningFields {
		// Reasoning with an unreadable shape stays with the message, and is left out of requests.
		guarded[key] = func(raw json.RawMessage) bool {
			return len(s.thinking) == 0 && (!r.request || isEmptyValue(raw))
		}
	}
	r.restore(o, guarded)
	if r.request && len(blocks) == 0 {
		r.restoreEmptyContent(o)
	}
	if r.request && len(s.thinking) == 0 {
		r.restoreEmptyReasoning(o)
	}
}

// dropAssistant reports an ASSISTANT message that has nothing left.
func (r *renderer) dropAssistant(thinking []numberedPart) {
	r.repair(ruleAssistantContent, "A message of the assistant without content or calls was left out.")
	for _, t := range thinking {
		r.drop(t.at, "The message has only reasoning, which the provider does not accept.")
	}
}

// restoreEmptyContent writes an empty content as the client did, since servers accept different forms.
func (r *renderer) restoreEmptyContent(o rawjson.Object) {
	raw, found := dialect.Attached(r.m.GetAttachments(), kind, "content")
	switch {
	case !found:
	case len(raw) == 0:
		delete(o, "content")
	case string(raw) == `""`:
		o["content"] = raw
	}
}

// renderRefusals renders the model's refusals: unchanged or, for a request, either as the only part of the content or
// in the message's own field.
func (r *renderer) renderRefusals(parts []numberedPart, blocks []renderedPart, silent bool) (content []renderedPart, field string) {
	var refused []renderedPart
	var texts []string
	fromField := 0
	for _, n := range parts {
		text := n.part.GetText().GetText()
		if r.request && text == "" {
			r.drop(n.at, emptyText)
			continue
		}
		if fieldOf(n.part) == "refusal" {
			fromField++
		}
		refused, texts = append(refused, r.renderText(n.part)), append(texts, text)
	}
	if len(texts) == 0 {
		return blocks, ""
	}
	inField := !r.request || len(blocks) > 0 || fromField == len(texts) && !silent
	if r.request && (len(texts) > 1 || inField != (fromField > 0)) {
		r.repair(ruleRefusalAlone, "A refusal was moved to where the provider accepts it.")
	}
	if inField {
		return blocks, strings.Join(texts, "\n")
	}
	if len(texts) > 1 {
		joined := rawjson.Quote(strings.Join(texts, "\n"))
		refused = []renderedPart{{object: rawjson.Object{"type": rawjson.Quote("refusal"), "refusal": joined}}}
	}
	return refused, ""
}

// renderAudio refers to a recording of the model. A request has only its id, and a response holds the recording.
func (r *renderer) renderAudio(n *numberedPart) json.RawMessage {
	if n == nil {
		return nil
	}
	raw := json.RawMessage(n.part.GetOpaque().GetJson())
	o, err := rawjson.ParseObject(raw)
	if err == nil && !r.request {
		return raw
	}
	if id, idErr := o.Text("id"); err == nil && idErr == nil && id != "" {
		return rawjson.Object{"id": rawjson.Quote(id)}.Encode()
	}
	r.drop(n.at, "The recording has no id by which the provider could find it.")
	return nil
}
