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

// item is an item on its way into the list.
type item struct {
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

func (it *item) encode() json.RawMessage {
	if it.raw != nil {
		return it.raw
	}
	return it.fields.Encode()
}

func (it *item) hasID() bool {
	_, has := idOf(it.fields)
	return has && !it.fixed
}

func (it *item) dropID() {
	if _, there := it.fields["id"]; there && !it.fixed {
		delete(it.fields, "id")
		it.raw = nil
	}
}

// idIsTaken says whether the provider takes the id, if there is one, beside those of earlier items.
func (w *writer) idIsTaken(it *item) bool {
	if !it.fields.Has("id") || it.fixed {
		return true
	}
	id, err := it.fields.Text("id")
	return err == nil && isItemID(id, it.typ) && !w.used[id]
}

func isItemID(id, typ string) bool {
	prefix := idPrefixes[typ]
	return id != "" && len(id) <= maxItemID && dialect.CleanID(id) == id &&
		len(id) >= len(prefix) && id[:len(prefix)] == prefix
}

// claim takes away an id that the provider would refuse, and remembers one that it takes.
func (w *writer) claim(it *item) {
	if w.asWritten {
		return
	}
	if !w.idIsTaken(it) {
		w.repair(ruleItemIDs, "An id of an item that the provider would refuse was left out.")
		it.dropID()
	}
	if id, has := idOf(it.fields); has {
		w.used[id] = true
	}
}

// opaqueItem is an item of no neutral meaning; nil where it cannot be one. settled says that it is a call or an answer
// to one that both are the provider's.
func (w *writer) opaqueItem(p piece, settled bool) *item {
	raw := json.RawMessage(p.opaque.GetJson())
	fields, err := objectOf(raw)
	if p.opaque.GetDialect() != kind {
		w.leaveOut(p, "The item belongs to another provider.")
		return nil
	}
	if err != nil {
		w.leaveOut(p, "The item is no JSON object.")
		return nil
	}
	typ, err := fields.Text("type")
	if w.asWritten {
		return &item{typ: typ, fields: fields, raw: raw, part: p.at}
	}
	it := &item{typ: typ, fields: fields, raw: raw, part: p.at}
	switch {
	case err != nil || typ == "" || !settled && !isFreeItem(fields, typ):
		w.drop(p.at, "The item cannot stand by itself.")
	case !w.idIsTaken(it):
		w.drop(p.at, "The item has an id that the provider refuses, or that of an earlier item.")
	default:
		return it
	}
	return nil
}

// objectOf reads an object of which nobody knows that it is JSON.
func objectOf(raw json.RawMessage) (rawjson.Object, error) {
	raw = bytes.TrimSpace(raw)
	if !json.Valid(raw) {
		return nil, rawjson.ErrNotJSON
	}
	return rawjson.SplitObject(raw)
}

func (w *writer) leaveOut(p piece, why string) {
	if !w.asWritten {
		w.drop(p.at, why)
	}
}

// isFreeItem says whether an item asks nothing of the others and has what its type demands.
func isFreeItem(o rawjson.Object, typ string) bool {
	switch typ {
	case typeMessage, typeReasoning, typeApproval:
		return false
	case typeCompaction:
		content, err := o.Text("encrypted_content")
		return err == nil && content != "" && utf8.RuneCountInString(content) <= maxText
	case typeItemReference:
		_, has := idOf(o)
		return has
	case typeToolSearch, typeToolSearchOut:
		// The provider searches by itself where there is no id for an answer.
		return linkOf(o, typ) == ""
	default:
		return kindOfCall(typ) == nil && kindOfOutput(typ) == nil
	}
}
