package openairesponses

import (
	"encoding/json"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// renderResults renders the results of the calls of consecutive messages.
func (r *renderer) renderResults(run []int) {
	next := run[len(run)-1] + 1
	for _, at := range run {
		for _, from := range r.pairs.resultsOf[at] {
			r.at = from
			if from != next {
				r.repair(ruleResultsFollowCalls, "A result was moved directly after the calls that it belongs to.")
			}
			next++
			for _, p := range r.messages[from].GetParts() {
				r.renderResult(p)
			}
		}
	}
}

// renderStray renders a result that answers no call, in its place.
func (r *renderer) renderStray(m *compactordv1.Message) {
	if !slices.ContainsFunc(m.GetParts(), func(p *compactordv1.Part) bool { return r.ids.PairOf(p) != nil }) {
		r.renderMessage(m)
	}
}

// renderResult renders the result of a call.
func (r *renderer) renderResult(p *compactordv1.Part) {
	k := kindOfOutput(noted(p.GetAttachments(), noteKind))
	if k == nil {
		k = functionCalls
	}
	written := k
	if call := r.callOf(p); call != nil {
		k = r.pairs.kinds[call]
	}
	if k == functionCalls || k == customCalls {
		if text, only := r.onlyText(k.pieces(p.GetToolResult()), p.GetAttachments()); only {
			id, _ := r.ids.Of(p)
			o := rawjson.Object{"type": rawjson.Quote(k.output), k.link: rawjson.Quote(id)}
			r.emit(r.by.ObjectWithText(o, k.form.field, *text))
			return
		}
	}
	it := &renderedItem{typ: k.output, fields: r.canonicalResult(k, p)}
	if r.asWritten || k == written {
		form, pieces := &k.form, k.pieces(p.GetToolResult())
		r.restore(it.fields, p.GetAttachments(), dialect.Guards{
			k.link:     dialect.MatchesOptionalText(p.GetToolResult().GetCallId()),
			form.field: matchesContent(pieces, outputSide),
		})
	}
	it.fixed = it.typ == typeLocalShellOut && !it.fields.Has(callID)
	r.claim(it)
	r.emit(it.encode(r.by))
}

func (r *renderer) callOf(result *compactordv1.Part) *compactordv1.Part {
	if r.asWritten {
		return nil
	}
	if pair := r.ids.PairOf(result); pair != nil {
		return pair.Call
	}
	return nil
}

// pieces returns the content of a result. Where the item has no field for an error, a text says that the tool failed.
func (k *callKind) pieces(result *compactordv1.ToolResult) []piece {
	pieces := make([]piece, len(result.GetParts()))
	for i, rp := range result.GetParts() {
		pieces[i] = pieceOfResult(rp)
	}
	if !result.GetIsError() || k.form.flag != "" {
		return pieces
	}
	if len(pieces) > 0 && pieces[0].text != nil {
		pieces[0] = textPiece(wording.FailedResult(pieces[0].text.GetText()))
		return pieces
	}
	return append([]piece{textPiece(wording.FailedResult(""))}, pieces...)
}

// renderOutput renders the field with the output. As written, it can have an unknown form.
func (r *renderer) renderOutput(form *resultForm, pieces []piece, inList bool) json.RawMessage {
	if raw, ok := whole(pieces); ok && r.asWritten {
		return raw
	}
	if raw, ok := form.render(r, pieces, inList); ok {
		return raw
	}
	return r.renderContent(pieces, outputSide, inList)
}
