package openaichat

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func (r *renderer) renderCalls(parts []numberedPart) []json.RawMessage {
	calls := make([]json.RawMessage, 0, len(parts))
	for _, n := range parts {
		item := n.part.GetOpaque()
		switch {
		case item == nil:
			calls = append(calls, r.by.Object(r.renderCall(n.part)))
		case r.request || item.GetDialect() != kind || !rawjson.Valid([]byte(item.GetJson())):
			r.drop(n.at, "The call is of a type that results cannot be found for.")
		default:
			calls = append(calls, json.RawMessage(item.GetJson()))
		}
	}
	return calls
}

func (r *renderer) renderCall(p *compactordv1.Part) rawjson.Object {
	call := p.GetToolCall()
	o := make(rawjson.Object)
	if id := r.idOf(p, call.GetId()); id != "" {
		o["id"] = rawjson.Quote(id)
	}
	guarded := dialect.Guards{"id": matchesText(call.GetId()), "type": isEmptyValue}
	if isNoted(p.GetAttachments(), noteType, typeCustom) {
		o["type"] = rawjson.Quote(typeCustom)
		o[typeCustom] = r.renderCustom(p)
		guarded[typeCustom], guarded["type"] = dialect.Never, dialect.Never
	} else {
		o["type"] = rawjson.Quote(typeFunction)
		o[typeFunction] = r.renderFunction(p, typeFunction)
		guarded[typeFunction] = dialect.Never
	}
	if r.request {
		// `index` comes from a stream. The order of the calls says the same.
		guarded["index"], guarded[typeCustom], guarded[typeFunction] = dialect.Never, dialect.Never, dialect.Never
	}
	r.restorePart(o, p, guarded)
	return o
}

// renderFunctionCall writes function_call, the older field for calls.
func (r *renderer) renderFunctionCall(p *compactordv1.Part) json.RawMessage {
	return r.renderFunction(p, "function_call")
}

func (r *renderer) renderFunction(p *compactordv1.Part, key string) json.RawMessage {
	call := p.GetToolCall()
	o := rawjson.Object{"name": r.renderToolName(call.GetName())}
	guarded := dialect.Guards{"name": matchesText(call.GetName()), "arguments": matchesText(call.GetArguments())}
	if r.request {
		object, changed := dialect.ArgumentsObject(call.GetArguments())
		if changed {
			r.repair(ruleArgumentsObject, "Arguments that were no JSON object were put into one.")
		}
		o["arguments"] = rawjson.Quote(string(object))
		guarded["name"], guarded["arguments"], guarded[parsedArguments] = dialect.Never, dialect.Never, dialect.Never
	} else if arguments := writtenArguments(p); arguments != nil {
		o["arguments"] = arguments
	}
	restoreWithin(o, p.GetAttachments(), key, guarded)
	return r.by.Object(o)
}

// writtenArguments returns the arguments in their original form, which is usually a string. It returns nil where there
// were none.
func writtenArguments(p *compactordv1.Part) json.RawMessage {
	arguments := p.GetToolCall().GetArguments()
	form, _ := dialect.Noted(p.GetAttachments(), kind, noteArguments)
	switch {
	case form == "missing" && arguments == "":
		return nil
	case form == "null" && arguments == "":
		return json.RawMessage("null")
	case form == "value" && rawjson.Valid([]byte(arguments)):
		return json.RawMessage(arguments)
	default:
		return rawjson.Quote(arguments)
	}
}

func (r *renderer) renderCustom(p *compactordv1.Part) json.RawMessage {
	call := p.GetToolCall()
	o := rawjson.Object{"name": r.renderToolName(call.GetName()), "input": rawjson.Quote(call.GetArguments())}
	guarded := dialect.Guards{"name": matchesText(call.GetName()), "input": matchesText(call.GetArguments())}
	if r.request {
		guarded["name"], guarded["input"] = dialect.Never, dialect.Never
	}
	restoreWithin(o, p.GetAttachments(), typeCustom, guarded)
	return r.by.Object(o)
}

func (r *renderer) renderToolName(name string) json.RawMessage {
	if r.request {
		name = r.cleanName(ruleToolNames, name)
	}
	return rawjson.Quote(name)
}

// maxIDBytes is the most bytes that OpenAI accepts in the id of a call.
const maxIDBytes = 40

// cleanID keeps more characters than letters, since servers use them in ids: Kimi's `functions.bash:0` must be sent
// back unchanged.
func cleanID(id string) string {
	clean := []byte(id)
	for i, b := range clean {
		if b <= ' ' || b > '~' {
			clean[i] = '_'
		}
	}
	return string(clean)
}

// idOf returns the id of a call, or of the call that a result answers.
func (r *renderer) idOf(p *compactordv1.Part, id string) string {
	if !r.request {
		return id
	}
	given, changed := r.ids.Of(p)
	if changed {
		rule := ruleCallIDsUnique
		switch {
		case id == "":
			rule = ruleCallIDs
		case len(id) > maxIDBytes:
			rule = ruleCallIDLength
		}
		r.repair(rule, "The id of a call was replaced by one that the provider accepts and that no other call has.")
	}
	return given
}

// cleanName returns a name that the provider accepts.
func (r *renderer) cleanName(rule, name string) string {
	clean := dialect.CleanName(name, maxToolName)
	if clean != name {
		r.repair(rule, "Characters that a name may not have were replaced, and what is too long was cut.")
	}
	return clean
}
