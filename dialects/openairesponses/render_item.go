package openairesponses

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// maxItemID is the most characters that an item's id can have. Call ids have the same bound.
const maxItemID = 64

// idPrefixes are the prefixes of ids, by the type of item.
var idPrefixes = map[string]string{typeMessage: "msg", typeReasoning: "rs", typeFunctionCall: "fc"}

// renderedItem is an item of a request while it is being made.
type renderedItem struct {
	typ    string
	fields rawjson.Object
	// raw is the unchanged JSON of an opaque item, and fields are its fields.
	raw json.RawMessage
	// text is one more field, with the name textField; nil where there is none. It is written only when the item is.
	text      *string
	textField string
	// part is the position of the part that it was made from.
	part int
	// isCall reports that it is a call whose output comes from the client.
	isCall bool
	// fixed reports that an answer refers to its id, so that the id cannot be removed.
	fixed bool
}

func (it *renderedItem) encode(by *dialect.Writer) json.RawMessage {
	switch {
	case it.raw != nil:
		return it.raw
	case it.text != nil:
		return by.ObjectWithText(it.fields, it.textField, *it.text)
	default:
		return by.Object(it.fields)
	}
}

func (it *renderedItem) hasID() bool {
	_, has := idOf(it.fields)
	return has && !it.fixed
}

func (it *renderedItem) dropID() {
	if _, there := it.fields["id"]; there && !it.fixed {
		delete(it.fields, "id")
		it.raw = nil
	}
}

// isAcceptedID reports whether the provider accepts the id of an item: it has the provider's form, and no earlier item
// has it.
func (r *renderer) isAcceptedID(it *renderedItem) bool {
	if !it.fields.Has("id") || it.fixed {
		return true
	}
	id, err := it.fields.Text("id")
	return err == nil && isItemID(id, it.typ) && !r.used.Has(id)
}

func isItemID(id, typ string) bool {
	prefix := idPrefixes[typ]
	return id != "" && len(id) <= maxItemID && dialect.CleanID(id) == id &&
		len(id) >= len(prefix) && id[:len(prefix)] == prefix
}

// claim removes an id that the provider would refuse, and records one that it accepts.
func (r *renderer) claim(it *renderedItem) {
	if r.asWritten {
		return
	}
	if !r.isAcceptedID(it) {
		r.repair(ruleItemIDs, "An id of an item that the provider would refuse was left out.")
		it.dropID()
	}
	if id, has := idOf(it.fields); has {
		r.used.Add(id)
	}
}

// renderOpaque renders an item without a neutral meaning. It returns nil where the provider would refuse the item.
// settled reports that the item is a call that the provider ran itself, or its output.
func (r *renderer) renderOpaque(p piece, settled bool) *renderedItem {
	raw := json.RawMessage(p.opaque.GetJson())
	fields, err := objectOf(raw)
	if p.opaque.GetDialect() != kind {
		r.leaveOut(p, "The item belongs to another provider.")
		return nil
	}
	if err != nil {
		r.leaveOut(p, "The item is no JSON object.")
		return nil
	}
	typ, err := fields.Text("type")
	if r.asWritten {
		return &renderedItem{typ: typ, fields: fields, raw: raw, part: p.at}
	}
	it := &renderedItem{typ: typ, fields: fields, raw: raw, part: p.at}
	switch {
	case err != nil || typ == "" || !settled && !isFreeItem(fields, typ):
		r.drop(p.at, "The item needs another item that is missing.")
	case !r.isAcceptedID(it):
		r.drop(p.at, "The item has an id that the provider refuses, or that of an earlier item.")
	default:
		return it
	}
	return nil
}

// objectOf reads an object that can be invalid JSON.
func objectOf(raw json.RawMessage) (rawjson.Object, error) {
	raw = bytes.TrimSpace(raw)
	if !rawjson.Valid(raw) {
		return nil, rawjson.ErrNotJSON
	}
	return rawjson.SplitObject(raw)
}

func (r *renderer) leaveOut(p piece, why string) {
	if !r.asWritten {
		r.drop(p.at, why)
	}
}

// isFreeItem reports whether an item needs no other item, and has what its type needs.
func isFreeItem(o rawjson.Object, typ string) bool {
	switch typ {
	case typeMessage, typeReasoning, typeApproval:
		return false
	case typeCompaction:
		content, err := o.Text("encrypted_content")
		return err == nil && content != "" && utf8.RuneCountInString(content) <= maxTextLength
	case typeItemReference:
		_, has := idOf(o)
		return has
	case typeToolSearch, typeToolSearchOut:
		// Without a call id, the provider runs the search itself.
		return callIDIn(o, typ) == ""
	default:
		return kindOfCall(typ) == nil && kindOfOutput(typ) == nil
	}
}
