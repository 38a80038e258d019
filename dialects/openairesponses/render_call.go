package openairesponses

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// maxToolName is the most characters that the name of a tool can have.
const maxToolName = 64

// renderCall renders a call.
func (r *renderer) renderCall(p *compactordv1.Part, at int) *renderedItem {
	k := r.callKindOf(p)
	call, attachments := p.GetToolCall(), p.GetAttachments()
	if !r.asWritten {
		call = r.acceptedCall(k, p)
		if k.call != writtenCall(attachments) {
			attachments = nil
		}
	}
	it := &renderedItem{typ: k.call, part: at, isCall: true, fixed: k.id == "id", fields: canonicalCall(k, call, attachments)}
	r.restore(it.fields, attachments, guardsOfCall(k, call, attachments))
	return it
}

// writtenCall returns the original type of a call's item. A call of another dialect counts as a function call.
func writtenCall(attachments []*compactordv1.Attachment) string {
	if k := kindOfCall(noted(attachments, noteKind)); k != nil {
		return k.call
	}
	return typeFunctionCall
}

// acceptedCall returns the call with an id, a name and arguments that the provider accepts.
func (r *renderer) acceptedCall(k *callKind, p *compactordv1.Part) *compactordv1.ToolCall {
	call := p.GetToolCall()
	id, changed := r.ids.Of(p)
	if changed {
		r.repair(ruleCallIDs, "The id of a call was missing, repeated or not accepted by the provider. It was replaced.")
	}
	r.usedCalls.Add(id)
	name := dialect.CleanName(call.GetName(), maxToolName)
	if name != call.GetName() {
		r.repair(ruleToolNames, "The name of a tool was changed to one that the provider accepts.")
	}
	arguments := call.GetArguments()
	if k == functionCalls && !isJSONObject(arguments) {
		object, changed := dialect.ArgumentsObject(arguments)
		if changed {
			r.repair(ruleArgumentsObject, "The arguments of a call were no JSON object, and are now within one.")
		}
		arguments = string(object)
	}
	return &compactordv1.ToolCall{Id: id, Name: name, Arguments: arguments}
}

func isJSONObject(text string) bool {
	_, err := objectOf(json.RawMessage(text))
	return err == nil
}

// callKindOf returns the kind of item that a call is rendered as. It is the original kind where the call and its result
// still have what that needs, otherwise a function call.
func (r *renderer) callKindOf(p *compactordv1.Part) *callKind {
	k := kindOfCall(noted(p.GetAttachments(), noteKind))
	if k == nil {
		k = functionCalls
	}
	if r.asWritten {
		return k
	}
	if !k.open && (!r.isComplete(k, p) || !r.isAnswered(k, p)) {
		r.repair(ruleShape, "A call of a tool of the provider, or its answer, was changed and became one of a function.")
		k = functionCalls
	}
	r.pairs.kinds[p] = k
	return k
}

func (r *renderer) isComplete(k *callKind, p *compactordv1.Part) bool {
	arguments := []byte(p.GetToolCall().GetArguments())
	if k.isText {
		id, changed := r.ids.Of(p)
		return !changed && isItemID(id, k.call) && !r.used.Has(id)
	}
	if !rawjson.Valid(arguments) {
		return false
	}
	if k.complete == nil {
		return true
	}
	input, err := objectOf(arguments)
	return err == nil && k.complete(input)
}

func (r *renderer) isAnswered(k *callKind, p *compactordv1.Part) bool {
	pair := r.ids.PairOf(p)
	if pair == nil {
		return true
	}
	answer := pair.Result
	_, ok := k.form.render(&renderer{}, k.pieces(answer.GetToolResult()), isInParts(answer))
	return ok
}

func inputOf(o rawjson.Object, k *callKind) rawjson.Object {
	input, err := o.Sub(k.inputs[0])
	if err != nil {
		return nil
	}
	return input
}
