package openaichat

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// renderMessage returns nil where nothing is left of the message.
func (r *renderer) renderMessage() rawjson.Object {
	switch r.m.GetRole() {
	case compactordv1.Role_ROLE_ASSISTANT:
		return r.renderAssistant()
	case compactordv1.Role_ROLE_TOOL:
		return r.renderResult()
	case compactordv1.Role_ROLE_USER:
		return r.renderPlain(roleUser)
	case compactordv1.Role_ROLE_DEVELOPER:
		return r.renderPlain(roleDeveloper)
	default:
		return r.renderPlain(roleSystem)
	}
}

// renderPlain renders a message of a role without calls and results.
func (r *renderer) renderPlain(role string) rawjson.Object {
	o := rawjson.Object{"role": rawjson.Quote(role)}
	blocks := r.renderParts(numbered(r.m.GetParts()))
	if r.request && len(blocks) == 0 {
		if role != roleUser {
			r.repair(ruleContentNotEmpty, "A message without content was left out.")
			return nil
		}
		r.repair(ruleContentNotEmpty, "A message without content got a text that says so.")
		blocks = []renderedPart{{text: wording.EmptyUser}}
	}
	r.putContent(o, blocks)
	r.renderName(o)
	r.restore(o, dialect.Guards{"content": r.matchesContent(blocks), "name": matchesText(r.m.GetName())})
	return o
}

// renderName writes the participant's name, where there is one.
func (r *renderer) renderName(o rawjson.Object) {
	name := r.m.GetName()
	if name == "" {
		return
	}
	if r.request {
		name = r.cleanName(ruleParticipantNames, name)
	}
	o["name"] = rawjson.Quote(name)
}

// restore restores the kept fields of a message. In a request these are only fields that no rule of the provider
// concerns.
func (r *renderer) restore(o rawjson.Object, guarded dialect.Guards) {
	if len(r.m.GetAttachments()) == 0 {
		return
	}
	guarded["role"] = dialect.Never
	for _, key := range ofAssistant {
		if guarded[key] == nil {
			guarded[key] = isEmptyValue
		}
	}
	if r.request {
		for key := range guarded {
			guarded[key] = dialect.Never
		}
		for _, key := range recordedFields {
			guarded[key] = dialect.Never
		}
		for _, key := range []string{"name", "tool_call_id", reasoningContent, reasoning, reasoningDetails} {
			guarded[key] = dialect.Never
		}
		if r.m.GetRole() == compactordv1.Role_ROLE_ASSISTANT {
			r.allowNulls(o, guarded)
		}
	}
	dialect.Restore(o, r.m.GetAttachments(), kind, guarded)
}

// allowNulls keeps null where responses have it and the provider's schema of requests allows it. So an agent sends back
// what it received.
func (r *renderer) allowNulls(o rawjson.Object, guarded dialect.Guards) {
	for _, key := range []string{"refusal", "audio"} {
		if o[key] == nil {
			guarded[key] = isNull
		}
	}
}

func isNull(raw json.RawMessage) bool { return rawjson.KindOf(raw) == rawjson.Null }

// matchesContent guards a content that is written in an unusual way.
func (r *renderer) matchesContent(blocks []renderedPart) func(json.RawMessage) bool {
	switch {
	case len(blocks) == 0:
		return isEmptyValue
	case len(blocks) == 1 && r.isString(blocks[0]):
		return matchesText(blocks[0].text)
	default:
		return dialect.Never
	}
}
