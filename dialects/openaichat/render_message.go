package openaichat

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// renderMessage returns nil where nothing is left to say.
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

// renderPlain writes a message of a role that only speaks.
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
	o["content"] = r.encodeContent(blocks)
	r.renderName(o)
	r.restore(o, dialect.Guards{"content": r.saysContent(blocks), "name": saysText(r.m.GetName())})
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

// restore lays over a message what was kept of it. In a request that is only what the provider's rules do not speak of.
func (r *renderer) restore(o rawjson.Object, guarded dialect.Guards) {
	guarded["role"] = dialect.Never
	for _, key := range ofAssistant {
		if guarded[key] == nil {
			guarded[key] = saysNothing
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

// allowNulls lets null stand where responses have it and the provider's schema of requests allows it, so that what an
// agent sends back is what it got.
func (r *renderer) allowNulls(o rawjson.Object, guarded dialect.Guards) {
	for _, key := range []string{"refusal", "audio"} {
		if o[key] == nil {
			guarded[key] = isNull
		}
	}
}

func isNull(raw json.RawMessage) bool { return rawjson.KindOf(raw) == rawjson.Null }

// saysContent guards a content that is written in another way than usual.
func (r *renderer) saysContent(blocks []renderedPart) func(json.RawMessage) bool {
	switch {
	case len(blocks) == 0:
		return saysNothing
	case len(blocks) == 1 && r.isString(blocks[0]):
		return saysText(blocks[0].text)
	default:
		return dialect.Never
	}
}
