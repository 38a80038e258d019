package openaichat

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// writer writes one message, as it was or for a request.
type writer struct {
	out     *dialect.Rendered
	at      int
	m       *compactordv1.Message
	request bool
	// The others are for requests only; legacy is the call of an exchange by function_call.
	ids    *dialect.CallIDs
	legacy *compactordv1.ToolCall
}

func (w *writer) drop(part int, why string) {
	w.out.Dropped = append(w.out.Dropped, dialect.Dropped{Message: w.at, Part: part, Why: why})
}

func (w *writer) repair(rule, what string) {
	w.out.Repairs = append(w.out.Repairs, dialect.Repair{Rule: rule, Message: w.at, What: what})
}

// message returns nil where nothing is left to say.
func (w *writer) message() rawjson.Object {
	switch w.m.GetRole() {
	case compactordv1.Role_ROLE_ASSISTANT:
		return w.assistant()
	case compactordv1.Role_ROLE_TOOL:
		return w.result()
	case compactordv1.Role_ROLE_USER:
		return w.plain("user")
	case compactordv1.Role_ROLE_DEVELOPER:
		return w.plain("developer")
	default:
		return w.plain("system")
	}
}

// plain writes a message of a role that only speaks.
func (w *writer) plain(role string) rawjson.Object {
	o := rawjson.Object{"role": rawjson.Quote(role)}
	blocks := w.blocks(numbered(w.m.GetParts()))
	if w.request && len(blocks) == 0 {
		if role != "user" {
			w.repair(ruleContentNotEmpty, "A message without content was left out.")
			return nil
		}
		w.repair(ruleContentNotEmpty, "A message without content got a text that says so.")
		blocks = []block{{text: dialect.EmptyUserText}}
	}
	o["content"] = w.joined(blocks)
	w.name(o)
	w.restore(o, guards{"content": w.saysContent(blocks), "name": saysText(w.m.GetName())})
	return o
}

// name writes the participant's name, where there is one.
func (w *writer) name(o rawjson.Object) {
	name := w.m.GetName()
	if name == "" {
		return
	}
	if w.request {
		name = w.cleanName(ruleParticipantName, name)
	}
	o["name"] = rawjson.Quote(name)
}

// restore lays over a message what was kept of it. In a request that is only what the provider's rules do not speak of.
func (w *writer) restore(o rawjson.Object, guarded guards) {
	guarded["role"] = never
	for _, key := range ofAssistant {
		if guarded[key] == nil {
			guarded[key] = saysNothing
		}
	}
	if w.request {
		for key := range guarded {
			guarded[key] = never
		}
		for _, key := range transcriptFields {
			guarded[key] = never
		}
		for _, key := range []string{"name", "tool_call_id", reasoningContent, reasoning, reasoningDetails} {
			guarded[key] = never
		}
		if w.m.GetRole() == compactordv1.Role_ROLE_ASSISTANT {
			w.allowNulls(o, guarded)
		}
	}
	dialect.Restore(o, w.m.GetAttachments(), kind, guarded)
}

// allowNulls lets null stand where responses have it and the provider's schema of requests allows it, so that what an
// agent sends back is what it got.
func (w *writer) allowNulls(o rawjson.Object, guarded guards) {
	for _, key := range []string{"refusal", "audio"} {
		if o[key] == nil {
			guarded[key] = isNull
		}
	}
}

func isNull(raw json.RawMessage) bool { return rawjson.KindOf(raw) == rawjson.Null }

// saysContent guards a content that is written in another way than usual.
func (w *writer) saysContent(blocks []block) func(json.RawMessage) bool {
	switch {
	case len(blocks) == 0:
		return saysNothing
	case len(blocks) == 1 && w.isString(blocks[0]):
		return saysText(blocks[0].text)
	default:
		return never
	}
}

func (w *writer) result() rawjson.Object {
	part := w.m.GetParts()
	if len(part) == 0 {
		return w.emptyResult()
	}
	result := part[0].GetToolResult()
	blocks := w.blocks(resultParts(result))
	flagged := result.GetIsError()
	if _, own := dialect.Attached(w.m.GetAttachments(), kind, "is_error"); own {
		flagged = false
	}
	o := rawjson.Object{"role": rawjson.Quote("tool")}
	if flagged && w.request {
		blocks = markFailed(blocks)
	} else if flagged {
		o["is_error"] = json.RawMessage("true")
	}
	if w.legacy != nil || !w.request && isNoted(w.m.GetAttachments(), noteRole, "function") {
		o["role"] = rawjson.Quote("function")
	}
	o["content"] = w.joined(blocks)
	if w.legacy == nil {
		if id := w.idOf(part[0], result.GetCallId()); id != "" {
			o["tool_call_id"] = rawjson.Quote(id)
		}
	}
	if name := w.resultName(result); name != "" {
		o["name"] = w.toolName(name)
	}
	w.restore(o, guards{
		"content": w.saysContent(blocks), "tool_call_id": saysText(result.GetCallId()), "name": saysText(result.GetName()),
	})
	return o
}

// resultName is the tool's name. A message of role function needs one, if only that of the call.
func (w *writer) resultName(result *compactordv1.ToolResult) string {
	if result.GetName() == "" && w.legacy != nil {
		return w.legacy.GetName()
	}
	return result.GetName()
}

// emptyResult is a TOOL message without its result, which no log takes.
func (w *writer) emptyResult() rawjson.Object {
	return rawjson.Object{"role": rawjson.Quote("tool"), "content": emptyContent(compactordv1.Role_ROLE_TOOL)}
}

// markFailed says in the text that the tool failed.
func markFailed(blocks []block) []block {
	if len(blocks) == 0 {
		return []block{{text: dialect.ErrorResultText("")}}
	}
	marked := blocks[0]
	marked.text = dialect.ErrorResultText(marked.text)
	if marked.object != nil {
		marked.object["text"] = rawjson.Quote(marked.text)
	}
	return append([]block{marked}, blocks[1:]...)
}

// idOf is the id of a call, or of the call that a result answers.
func (w *writer) idOf(p *compactordv1.Part, id string) string {
	if !w.request {
		return id
	}
	given, changed := w.ids.Of(p)
	if changed {
		rule := ruleCallIDs
		switch {
		case id == "":
			rule = ruleCallID
		case len(id) > maxCallID:
			rule = ruleCallIDLength
		}
		w.repair(rule, "The id of a call was replaced by one that the provider takes and that no other call has.")
	}
	return given
}

// cleanName makes a name that the provider takes.
func (w *writer) cleanName(rule, name string) string {
	clean := dialect.CleanID(name)
	clean = clean[:min(len(clean), maxToolName)]
	if clean != name {
		w.repair(rule, "Characters that a name may not have were replaced, and what is too long was cut.")
	}
	return clean
}
