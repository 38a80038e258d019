package openairesponses

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// maxItemID is how long an item's id may be, in characters. Call ids have the same bound.
const maxItemID = 64

// idPrefixes are how ids begin, by the type of item.
var idPrefixes = map[string]string{typeMessage: "msg", typeReasoning: "rs", typeFunctionCall: "fc"}

// renderedItem is an item on its way into the list.
type renderedItem struct {
	typ    string
	fields rawjson.Object
	// raw is an opaque item as it stands; fields then are what it says.
	raw json.RawMessage
	// part is the part that it was made from.
	part int
	// isCall says that it is a call whose answer comes from the client.
	isCall bool
	// fixed says that its id is what an answer names, and no id to be taken away.
	fixed bool
}

func (it *renderedItem) encode() json.RawMessage {
	if it.raw != nil {
		return it.raw
	}
	return it.fields.Encode()
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

// idIsTaken says whether the provider takes the id of an item: one of its own form that no earlier item has.
func (r *renderer) idIsTaken(it *renderedItem) bool {
	if !it.fields.Has("id") || it.fixed {
		return true
	}
	id, err := it.fields.Text("id")
	return err == nil && isItemID(id, it.typ) && !r.used[id]
}

func isItemID(id, typ string) bool {
	prefix := idPrefixes[typ]
	return id != "" && len(id) <= maxItemID && dialect.CleanID(id) == id &&
		len(id) >= len(prefix) && id[:len(prefix)] == prefix
}

// claim takes away an id that the provider would refuse, and remembers one that it takes.
func (r *renderer) claim(it *renderedItem) {
	if r.asWritten {
		return
	}
	if !r.idIsTaken(it) {
		r.repair(ruleItemIDs, "An id of an item that the provider would refuse was left out.")
		it.dropID()
	}
	if id, has := idOf(it.fields); has {
		r.used[id] = true
	}
}

// renderOpaque renders an item without a neutral meaning; nil where the provider would refuse it. settled says that the
// item is a call that the provider ran itself, or the answer to one.
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
		r.drop(p.at, "The item cannot stand by itself.")
	case !r.idIsTaken(it):
		r.drop(p.at, "The item has an id that the provider refuses, or that of an earlier item.")
	default:
		return it
	}
	return nil
}

// objectOf reads an object that may not be valid JSON.
func objectOf(raw json.RawMessage) (rawjson.Object, error) {
	raw = bytes.TrimSpace(raw)
	if !json.Valid(raw) {
		return nil, rawjson.ErrNotJSON
	}
	return rawjson.SplitObject(raw)
}

func (r *renderer) leaveOut(p piece, why string) {
	if !r.asWritten {
		r.drop(p.at, why)
	}
}

// isFreeItem says whether an item can stand without others, and has what its type demands.
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
		// The provider searches by itself where there is no id for an answer.
		return callIDIn(o, typ) == ""
	default:
		return kindOfCall(typ) == nil && kindOfOutput(typ) == nil
	}
}
