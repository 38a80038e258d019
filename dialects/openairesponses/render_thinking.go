package openairesponses

import (
	"encoding/json"
	"slices"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// heldThinking is reasoning at the end of a message. Agents that append each item alone put the item after the
// reasoning into another message.
type heldThinking struct {
	*renderedItem
	at int
}

// emitHeld writes the held reasoning, since the next item of the model follows.
func (r *renderer) emitHeld() {
	at := r.at
	for _, h := range r.held {
		r.at = h.at
		r.emit(h.encode(r.by))
	}
	r.held, r.at = nil, at
}

// dropHeld leaves out the held reasoning, since no item of the model follows it.
func (r *renderer) dropHeld() {
	at := r.at
	for _, h := range r.held {
		r.at = h.at
		r.drop(h.part, "Nothing follows the reasoning, which the provider does not accept.")
	}
	r.held, r.at = nil, at
}

// renderThinking renders reasoning. A request has only reasoning that the provider can find again, by its encrypted
// content or its id.
func (r *renderer) renderThinking(p *compactordv1.Part, at int) *renderedItem {
	it := &renderedItem{typ: typeReasoning, part: at, fields: canonicalThinking(p.GetThinking(), p.GetAttachments())}
	r.restore(it.fields, p.GetAttachments(), nil)
	if r.asWritten {
		return it
	}
	if !isReasoningContent(it.fields["content"]) {
		delete(it.fields, "content")
	}
	if rawjson.KindOf(it.fields["encrypted_content"]) != rawjson.String {
		delete(it.fields, "encrypted_content")
	}
	if _, has := idOf(it.fields); !has && !isEncrypted(it) {
		r.drop(at, "The reasoning has neither an id nor an encrypted content of this provider.")
		return nil
	}
	return it
}

func isReasoningContent(raw json.RawMessage) bool {
	if k := rawjson.KindOf(raw); k == rawjson.Missing || k == rawjson.Null {
		return true
	}
	elements, err := rawjson.ParseArray(raw)
	return err == nil && !slices.ContainsFunc(elements, func(element json.RawMessage) bool {
		return rawjson.KindOf(element) != rawjson.ObjectKind
	})
}

func isEncrypted(it *renderedItem) bool {
	content, err := it.fields.Text("encrypted_content")
	return err == nil && content != ""
}

func isThinking(it *renderedItem) bool { return it.typ == typeReasoning }

// isTorn reports whether reasoning, or an item that belonged to it, is missing. The provider would refuse the ids of
// the others.
func (r *renderer) isTorn(m *compactordv1.Message, items []*renderedItem) bool {
	whole := noted(m.GetAttachments(), noteReasoning)
	if whole == "" {
		return r.lost && slices.ContainsFunc(items, (*renderedItem).hasID)
	}
	reasonings, others := 0, 0
	for _, it := range items {
		switch {
		case isThinking(it):
			reasonings++
		case it.hasID():
			others++
		}
	}
	return countItems(reasonings, others) != whole
}

// splitLastThinking separates the reasoning at the end from the items before it.
func splitLastThinking(items []*renderedItem) (rest, last []*renderedItem) {
	end := len(items)
	for end > 0 && isThinking(items[end-1]) {
		end--
	}
	return items[:end], items[end:]
}
