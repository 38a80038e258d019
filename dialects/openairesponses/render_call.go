package openairesponses

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// maxToolName is how long the name of a tool may be, in characters.
const maxToolName = 64

// call renders a call.
func (w *writer) call(p *compactordv1.Part, at int) *item {
	k := w.kindFor(p)
	call, attachments := p.GetToolCall(), p.GetAttachments()
	if !w.asWritten {
		call = w.presentableCall(k, p)
		if k.call != writtenCall(attachments) {
			attachments = nil
		}
	}
	it := &item{typ: k.call, part: at, isCall: true, fixed: k.id == "id", fields: usualCall(k, call, attachments)}
	w.restore(it.fields, attachments, guardsOfCall(k, call, attachments))
	return it
}

// writtenCall is the type of item that a call was read from; a function call where it was not read here.
func writtenCall(attachments []*compactordv1.Attachment) string {
	if k := kindOfCall(noted(attachments, noteKind)); k != nil {
		return k.call
	}
	return typeFunctionCall
}

// presentableCall is a call with an id, a name and arguments that the provider takes.
func (w *writer) presentableCall(k *callKind, p *compactordv1.Part) *compactordv1.ToolCall {
	call := p.GetToolCall()
	id, changed := w.ids.Of(p)
	if changed {
		w.repair(ruleCallIDs, "The id of a call was missing, not unique or not such as the provider takes, and replaced.")
	}
	w.usedCalls[id] = true
	name := toolName(call.GetName())
	if name != call.GetName() {
		w.repair(ruleToolNames, "The name of a tool was changed to what the provider takes.")
	}
	arguments := call.GetArguments()
	if k == functionCalls && !isJSONObject(arguments) {
		object, changed := dialect.ArgumentsObject(arguments)
		if changed {
			w.repair(ruleArguments, "The arguments of a call were no JSON object, and are now within one.")
		}
		arguments = string(object)
	}
	return &compactordv1.ToolCall{Id: id, Name: name, Arguments: arguments}
}

func toolName(name string) string {
	clean := dialect.CleanID(name)
	return clean[:min(len(clean), maxToolName)]
}

func isJSONObject(text string) bool {
	_, err := objectOf(json.RawMessage(text))
	return err == nil
}

// result renders the answer to a call.
func (w *writer) result(p *compactordv1.Part) {
	k := kindOfOutput(noted(p.GetAttachments(), noteKind))
	if k == nil {
		k = functionCalls
	}
	written := k
	if call := w.callOf(p); call != nil {
		k = w.pairs.kinds[call]
	}
	it := &item{typ: k.output, fields: w.usualOutput(k, p)}
	if w.asWritten || k == written {
		form, pieces := &k.answer, k.pieces(p.GetToolResult())
		w.restore(it.fields, p.GetAttachments(), guards{
			k.link:     saysOptional(p.GetToolResult().GetCallId()),
			form.field: saysContent(pieces, outputSide),
		})
	}
	it.fixed = it.typ == typeLocalShellOut && !it.fields.Has(callID)
	w.claim(it)
	w.emit(it.encode())
}

func (w *writer) callOf(result *compactordv1.Part) *compactordv1.Part {
	if w.asWritten {
		return nil
	}
	return w.pairs.calls[result]
}

// pieces are what a result says, with a text that tells of a failure where nothing else does.
func (k *callKind) pieces(result *compactordv1.ToolResult) []piece {
	pieces := make([]piece, len(result.GetParts()))
	for i, rp := range result.GetParts() {
		pieces[i] = pieceOfResult(rp)
	}
	if !result.GetIsError() || k.answer.flag != "" {
		return pieces
	}
	if len(pieces) > 0 && pieces[0].text != nil {
		pieces[0] = textPiece(dialect.ErrorResultText(pieces[0].text.GetText()))
		return pieces
	}
	return append([]piece{textPiece(dialect.ErrorResultText(""))}, pieces...)
}

func (w *writer) usualOutput(k *callKind, p *compactordv1.Part) rawjson.Object {
	result, form := p.GetToolResult(), &k.answer
	id := result.GetCallId()
	if !w.asWritten {
		id, _ = w.ids.Of(p)
	}
	link := k.link
	if k.output == typeLocalShellOut && noted(p.GetAttachments(), noteLink) == "id" {
		link = "id"
	}
	o := rawjson.Object{"type": rawjson.Quote(k.output), link: rawjson.Quote(id)}
	pieces := k.pieces(result)
	if len(pieces) > 0 || !form.optional {
		o[form.field] = w.answer(form, pieces, isInParts(p))
	}
	if form.flag != "" {
		o[form.flag] = json.RawMessage(form.done)
		if result.GetIsError() {
			o[form.flag] = json.RawMessage(form.failed)
		}
	}
	return o
}

// answer is the field that says what the tool answered. As written it can have a form that its kind does not know.
func (w *writer) answer(form *answerForm, pieces []piece, inList bool) json.RawMessage {
	if raw, ok := whole(pieces); ok && w.asWritten {
		return raw
	}
	if raw, ok := form.write(w, pieces, inList); ok {
		return raw
	}
	return w.content(pieces, outputSide, inList)
}
