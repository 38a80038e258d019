package gemini

import (
	"encoding/json"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// reportFields tells of fields of the content that are not sent.
func (r *requesting) reportFields(at int, m *compactordv1.Message) {
	unknown, role := false, false
	for _, a := range m.GetAttachments() {
		own := a.GetDialect() == kind && !strings.HasPrefix(a.GetKey(), dialect.NotePrefix) && a.GetJson() != ""
		role = role || own && a.GetKey() == "role"
		unknown = unknown || own && a.GetKey() != "role" && a.GetKey() != "parts"
	}
	if unknown {
		r.repair(ruleKnownFields, at, "fields of the content that are neither role nor parts were left out")
	}
	if role {
		r.repair(ruleRoles, at, "the content was given the role of its side")
	}
}

// user adds what is not the model's: a USER message, or an instruction in the middle of the conversation.
func (r *requesting) user(at int, m *compactordv1.Message) {
	if m.GetRole() != compactordv1.Role_ROLE_USER {
		r.instruct(at, m)
		return
	}
	r.reportFields(at, m)
	if n := len(r.contents); n > 0 && r.contents[n-1].responses && noted(m.GetAttachments(), noteContent) == sameContent {
		r.repair(ruleResponsesAlone, at, "what stood beside function responses was put into a content of its own")
	}
	var parts []json.RawMessage
	for i, p := range m.GetParts() {
		if part := r.part(at, i, p); part != nil {
			parts = append(parts, part.Encode())
		}
	}
	if len(parts) == 0 {
		r.repair(rulePartsNotEmpty, at, "a message without content was given a text that says so")
		parts = []json.RawMessage{requestText(dialect.EmptyUserText, nil).Encode()}
	}
	r.add(at, roleUser, parts)
}

// instruct puts an instruction into the user's mouth, marked as what it is: Gemini has a place for it at the start only.
func (r *requesting) instruct(at int, m *compactordv1.Message) {
	says := false
	for _, p := range m.GetParts() {
		says = says || p.GetText().GetText() != ""
	}
	if !says {
		r.repair(rulePartsNotEmpty, at, "an empty instruction was left out")
		return
	}
	r.repair(ruleRoles, at, "an instruction in the middle of the conversation was put as text of the user")
	r.add(at, roleUser, []json.RawMessage{requestText(instruction(m), nil).Encode()})
}

// part draws what both sides can say; nil where nothing of it can be sent.
func (r *requesting) part(at, i int, p *compactordv1.Part) rawjson.Object {
	switch k := p.GetKind().(type) {
	case *compactordv1.Part_Text:
		part := requestText(k.Text.GetText(), p.GetAttachments())
		if k.Text.GetText() == "" && !isSigned(part) {
			r.repair(rulePartsNotEmpty, at, "an empty text was left out")
			return nil
		}
		r.reportSignature(at, p, part)
		return part
	case *compactordv1.Part_Media:
		if part := requestMedia(k.Media, p.GetAttachments()); part != nil {
			if name, known := mimeType(k.Media.GetMimeType()); known && name != k.Media.GetMimeType() {
				r.repair(ruleMimeTypes, at, "the MIME type was written as Gemini names it")
			}
			return part
		}
		r.drop(at, i, whyMedia)
		return requestText(session.MediaLine(k.Media), nil)
	case *compactordv1.Part_Opaque:
		if part := requestOpaque(k.Opaque); part != nil {
			return part
		}
		r.drop(at, i, whyOpaque)
	case *compactordv1.Part_Thinking:
		r.drop(at, i, whyThought)
	}
	return nil
}

// reportSignature tells of a signature that cannot be read and was left out.
func (r *requesting) reportSignature(at int, p *compactordv1.Part, part rawjson.Object) {
	given, found := dialect.Attached(p.GetAttachments(), kind, "thoughtSignature")
	if found && len(given) > 0 && !isNothingOr(isSignature)(given) && !isSigned(part) {
		r.repair(ruleSignatures, at, "a thought signature that is no base64 was left out")
	}
}

// model adds what the model said. While calls wait for their results, what it says is part of the same content.
func (r *requesting) model(at int, m *compactordv1.Message) {
	var parts []rawjson.Object
	var calls []*compactordv1.Part
	var called []int
	for i, p := range m.GetParts() {
		if p.GetToolCall() != nil {
			calls, called = append(calls, p), append(called, len(parts))
			parts = append(parts, r.call(at, p))
		} else if part := r.part(at, i, p); part != nil {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		r.repair(rulePartsNotEmpty, at, "a message of the model of which nothing is left was left out")
		return
	}
	if len(calls) > 0 && !r.calledAlready() {
		r.sign(at, m, calls[0], parts, called[0])
	}
	encoded := make([]json.RawMessage, len(parts))
	for i, part := range parts {
		r.signed = r.signed || isSigned(part)
		encoded[i] = part.Encode()
	}
	into := r.add(at, roleModel, encoded)
	into.called = into.called || len(calls) > 0
	for _, p := range calls {
		if answered := r.calls[p]; answered != nil {
			answered.open = true
			r.waiting = append(r.waiting, answered)
			r.missing++
		}
	}
}

// calledAlready says whether what the model says now joins a content that has a call.
func (r *requesting) calledAlready() bool {
	n := len(r.contents)
	return n > 0 && r.contents[n-1].role == roleModel && r.contents[n-1].called
}

// sign gives the first call of a content the value that stands in for a signature, if it needs one.
func (r *requesting) sign(
	at int, m *compactordv1.Message, first *compactordv1.Part, parts []rawjson.Object, position int,
) {
	signed := r.signed
	for _, before := range parts[:position] {
		signed = signed || isSigned(before)
	}
	if isSigned(parts[position]) || !signed && mayBeUnsigned(m, first) {
		return
	}
	delete(parts[position], "thought_signature")
	if carried := carriedSignature(first); carried != nil {
		parts[position]["thoughtSignature"] = carried
		return
	}
	parts[position]["thoughtSignature"] = rawjson.Quote(skipSignature)
	r.repair(ruleCallsSigned, at, "a call without a thought signature was given the value that stands in for one")
}

// call draws a call, and notes what its result must repeat.
func (r *requesting) call(at int, p *compactordv1.Part) rawjson.Object {
	id, changed := r.ids.Of(p)
	name := functionName(p.GetToolCall().GetName())
	if isLeftOut(p.GetAttachments(), fieldCall+".id") {
		id = ""
	} else if changed {
		r.repair(ruleCallsAnswered, at, "a call was given an id of its own")
	}
	if name != p.GetToolCall().GetName() {
		r.repair(ruleFunctionNames, at, "the name of a function was made one that Gemini takes")
	}
	if !isArguments(p.GetToolCall().GetArguments()) {
		r.repair(ruleArguments, at, "arguments that are no JSON object were put into one")
	}
	if answered := r.calls[p]; answered != nil {
		answered.id, answered.name = id, name
	}
	if thought, _ := dialect.Attached(p.GetAttachments(), kind, "thought"); string(thought) == "true" {
		r.repair(ruleNoThoughts, at, "the mark of a thought was taken off a call")
	}
	part := requestCall(p, id, name)
	r.reportSignature(at, p, part)
	return part
}
