package openaichat

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const (
	customType   = "custom"
	functionType = "function"
)

func (w *writer) calls(parts []numberedPart) []json.RawMessage {
	calls := make([]json.RawMessage, 0, len(parts))
	for _, n := range parts {
		item := n.part.GetOpaque()
		switch {
		case item == nil:
			calls = append(calls, w.call(n.part).Encode())
		case w.request || item.GetDialect() != kind || !json.Valid([]byte(item.GetJson())):
			w.drop(n.at, "The call is of a type that results cannot be found for.")
		default:
			calls = append(calls, json.RawMessage(item.GetJson()))
		}
	}
	return calls
}

func (w *writer) call(p *compactordv1.Part) rawjson.Object {
	call := p.GetToolCall()
	o := make(rawjson.Object)
	if id := w.idOf(p, call.GetId()); id != "" {
		o["id"] = rawjson.Quote(id)
	}
	guarded := guards{"id": saysText(call.GetId()), "type": saysNothing}
	if isNoted(p.GetAttachments(), noteType, customType) {
		o["type"] = rawjson.Quote(customType)
		o[customType] = w.custom(p)
		guarded[customType], guarded["type"] = never, never
	} else {
		o["type"] = rawjson.Quote(functionType)
		o[functionType] = w.function(p, functionType)
		guarded[functionType] = never
	}
	if w.request {
		// `index` is left over from a stream and says nothing that the order does not.
		guarded["index"], guarded[customType], guarded[functionType] = never, never, never
	}
	w.restorePart(o, p, guarded)
	return o
}

// functionCall writes the field that came before tool_calls.
func (w *writer) functionCall(p *compactordv1.Part) json.RawMessage {
	return w.function(p, "function_call")
}

func (w *writer) function(p *compactordv1.Part, key string) json.RawMessage {
	call := p.GetToolCall()
	o := rawjson.Object{"name": w.toolName(call.GetName())}
	guarded := guards{"name": saysText(call.GetName()), "arguments": saysText(call.GetArguments())}
	if w.request {
		object, changed := dialect.ArgumentsObject(call.GetArguments())
		if changed {
			w.repair(ruleArgumentsObject, "Arguments that were no JSON object were put into one.")
		}
		o["arguments"] = rawjson.Quote(string(object))
		guarded["name"], guarded["arguments"], guarded[parsedArguments] = never, never, never
	} else if arguments := writtenArguments(p); arguments != nil {
		o["arguments"] = arguments
	}
	layWithin(o, p.GetAttachments(), key, guarded)
	return o.Encode()
}

// writtenArguments are the arguments in the form that they came in: a string as a rule. It returns nil where there were
// none.
func writtenArguments(p *compactordv1.Part) json.RawMessage {
	arguments := p.GetToolCall().GetArguments()
	form, _ := dialect.Noted(p.GetAttachments(), kind, noteArguments)
	switch {
	case form == "missing" && arguments == "":
		return nil
	case form == "null" && arguments == "":
		return json.RawMessage("null")
	case form == "value" && json.Valid([]byte(arguments)):
		return json.RawMessage(arguments)
	default:
		return rawjson.Quote(arguments)
	}
}

func (w *writer) custom(p *compactordv1.Part) json.RawMessage {
	call := p.GetToolCall()
	o := rawjson.Object{"name": w.toolName(call.GetName()), "input": rawjson.Quote(call.GetArguments())}
	guarded := guards{"name": saysText(call.GetName()), "input": saysText(call.GetArguments())}
	if w.request {
		guarded["name"], guarded["input"] = never, never
	}
	layWithin(o, p.GetAttachments(), customType, guarded)
	return o.Encode()
}

func (w *writer) toolName(name string) json.RawMessage {
	if w.request {
		name = w.cleanName(ruleToolName, name)
	}
	return rawjson.Quote(name)
}
