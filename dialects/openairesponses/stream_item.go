package openairesponses

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// pieceEvent says where the text of an event belongs.
type pieceEvent struct {
	// text is the event's field that holds it; isWhole says that it is all of the text, and no piece.
	text    string
	isWhole bool
	// field is the item's field. Where it is a list, index is the event's field that says which element, typ the element's
	// type and inner its field.
	field, index, typ, inner string
}

// pieceEvents are the events that tell of an item before it is finished, by type without its prefix.
var pieceEvents = map[string]pieceEvent{
	"function_call_arguments.delta": {text: "delta", field: "arguments"},
	"function_call_arguments.done":  {text: "arguments", isWhole: true, field: "arguments"},
	"custom_tool_call_input.delta":  {text: "delta", field: "input"},
	"custom_tool_call_input.done":   {text: "input", isWhole: true, field: "input"},
	"output_text.delta":             {"delta", false, "content", "content_index", typeOutputText, "text"},
	"output_text.done":              {"text", true, "content", "content_index", typeOutputText, "text"},
	"refusal.delta":                 {"delta", false, "content", "content_index", typeRefusal, "refusal"},
	"refusal.done":                  {"refusal", true, "content", "content_index", typeRefusal, "refusal"},
	"reasoning_text.delta":          {"delta", false, "content", "content_index", typeReasoningText, "text"},
	"reasoning_text.done":           {"text", true, "content", "content_index", typeReasoningText, "text"},
	"reasoning_summary_text.delta":  {"delta", false, "summary", "summary_index", typeSummaryText, "text"},
	"reasoning_summary_text.done":   {"text", true, "summary", "summary_index", typeSummaryText, "text"},
}

// streamedItem is an item while it is put together.
type streamedItem struct {
	// fields are the item as it was told last; nil before that. Of a finished one they are all.
	fields rawjson.Object
	isDone bool
	texts  map[textPlace]*rawjson.Pieces
}

// textPlace is where a text of an item stands.
type textPlace struct {
	field string
	at    uint32
	// typ and inner are the type of an element and its field; empty where the field is the text itself.
	typ, inner string
}

func inOrder(a, b textPlace) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.typ, b.typ)) }

func (i *streamedItem) add(o rawjson.Object, p pieceEvent) error {
	place := textPlace{field: p.field, typ: p.typ, inner: p.inner}
	if p.index != "" {
		var err error
		if place.at, err = o.Count(p.index); err != nil {
			return err
		}
	}
	if i.texts[place] == nil || p.isWhole {
		i.texts[place] = &rawjson.Pieces{}
	}
	i.texts[place].Add(o[p.text])
	return nil
}

// object is the item so far.
func (i *streamedItem) object() rawjson.Object {
	if i.isDone {
		return i.fields
	}
	lists := make(map[string][]json.RawMessage)
	for _, place := range slices.SortedFunc(maps.Keys(i.texts), inOrder) {
		if place.inner == "" {
			i.fields[place.field] = i.texts[place].Value()
			continue
		}
		element := rawjson.Object{"type": rawjson.Quote(place.typ), place.inner: i.texts[place].Value()}
		lists[place.field] = append(lists[place.field], element.Encode())
	}
	for field, list := range lists {
		i.fields[field] = rawjson.EncodeArray(list)
	}
	if i.fields.Has("status") {
		i.fields["status"] = rawjson.Quote("incomplete")
	}
	return i.fields
}
