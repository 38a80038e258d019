package gemini

import (
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// renderAssistant adds a message of the model. While calls wait for their results, it is added to the same content.
func (r *renderer) renderAssistant(at int, m *compactordv1.Message) {
	var parts []rawjson.Draft
	var calls []*compactordv1.Part
	var called []int
	for i, p := range m.GetParts() {
		if p.GetToolCall() != nil {
			calls, called = append(calls, p), append(called, len(parts))
			parts = append(parts, rawjson.Whole(r.renderCall(at, p)))
		} else if part, ok := r.renderPart(at, i, p); ok {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		r.repair(ruleContentNotEmpty, at, "a message of the model of which nothing is left was left out")
		return
	}
	if len(calls) > 0 && !r.calledAlready() {
		r.sign(at, m, calls[0], parts, called[0])
	}
	for _, part := range parts {
		r.signed = r.signed || isSigned(part.Object())
	}
	into := r.add(at, roleModel, parts)
	into.called = into.called || len(calls) > 0
	for _, p := range calls {
		if answered := r.calls[r.ids.PairOf(p)]; answered != nil {
			answered.open = true
			r.waiting = append(r.waiting, answered)
			r.missing++
		}
	}
}

// calledAlready reports whether the model's next parts are added to a content that has a call.
func (r *renderer) calledAlready() bool {
	n := len(r.contents)
	return n > 0 && r.contents[n-1].role == roleModel && r.contents[n-1].called
}
