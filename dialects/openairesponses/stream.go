package openairesponses

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// eventPrefix begins the types of all events but the error that ends a stream.
const eventPrefix = "response."

// isEvent tells an event of a stream from an item.
func isEvent(o rawjson.Object) bool {
	typ := o.TextOrEmpty("type")
	return !o.Has("role") && (strings.HasPrefix(typ, eventPrefix) || typ == "error")
}

// lastEvents are those that hold the whole response.
var lastEvents = []string{"response.completed", "response.incomplete", "response.failed", "response.cancelled"}

// stream is a streamed response while its events are put together.
type stream struct {
	// response is the newest response that an event holds.
	response rawjson.Object
	items    map[uint32]*streamedItem
	isWhole  bool
	ending   dialect.Ending
}

// readStream puts the events of a stream together to what its response's body would have been.
func readStream(events []json.RawMessage) (*body, error) {
	s := &stream{response: make(rawjson.Object), items: make(map[uint32]*streamedItem)}
	for i, raw := range events {
		if err := s.event(raw); err != nil {
			return nil, rawjson.InElement(i, err)
		}
	}
	b := &body{response: s.response, ending: s.ending}
	if s.response.Has(fieldOutput) {
		var err error
		if b.messages, err = rawjson.SplitArray(s.response[fieldOutput]); err != nil {
			return nil, rawjson.In(fieldOutput, err)
		}
	}
	// Some servers leave the output out of the last event, and only tell of each item.
	if !s.isWhole || len(b.messages) == 0 {
		b.messages = s.encode()
	}
	b.ending.Cut = !s.isWhole && !s.ending.Failed
	return b, nil
}

func (s *stream) event(raw json.RawMessage) error {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return err
	}
	typ, err := o.DemandText("type")
	if err != nil {
		return err
	}
	switch {
	case typ == "error":
		if s.ending.Fail(raw); o.Has("error") {
			s.ending.Fail(o["error"])
		}
		return nil
	case !strings.HasPrefix(typ, eventPrefix):
		if o.Has("role") || o.Has("id") || o.Has("call_id") {
			return dialect.ErrMixed
		}
		return nil
	case o.Has("response"):
		return s.takeResponse(o, typ)
	}
	return s.takeItem(o, strings.TrimPrefix(typ, eventPrefix))
}

// takeResponse takes what an event says of the response as a whole.
func (s *stream) takeResponse(o rawjson.Object, typ string) error {
	response, err := rawjson.SplitObject(o["response"])
	if err != nil {
		return rawjson.In("response", err)
	}
	if !s.isWhole {
		s.response, s.isWhole = response, slices.Contains(lastEvents, typ)
	}
	return nil
}

// takeItem takes what an event says of an item. Events of other things, such as the progress of a search, tell nothing
// that the item does not.
func (s *stream) takeItem(o rawjson.Object, typ string) error {
	switch typ {
	case "output_item.added", "output_item.done":
		fields, err := rawjson.SplitObject(o["item"])
		if err != nil {
			return rawjson.In("item", err)
		}
		item, err := s.itemOf(o)
		if err != nil {
			return err
		}
		item.fields, item.isDone = fields, item.isDone || typ == "output_item.done"
		return nil
	}
	p, known := pieceEvents[typ]
	if !known {
		return nil
	}
	item, err := s.itemOf(o)
	if err != nil {
		return err
	}
	return item.add(o, p)
}

// itemOf is the item that an event is of.
func (s *stream) itemOf(o rawjson.Object) (*streamedItem, error) {
	index, err := o.Count("output_index")
	if err != nil {
		return nil, err
	}
	if s.items[index] == nil {
		s.items[index] = &streamedItem{texts: make(map[textPlace]*rawjson.Pieces)}
	}
	return s.items[index], nil
}

// encode are the items so far, those that were not finished with what there is of them.
func (s *stream) encode() []json.RawMessage {
	var items []json.RawMessage
	for _, index := range slices.Sorted(maps.Keys(s.items)) {
		if item := s.items[index]; item.fields != nil {
			items = append(items, item.encode().Encode())
		}
	}
	return items
}

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
	// fields are the item as the last event gave it; nil before that. Those of a finished item are complete.
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

// encode is the item so far.
func (i *streamedItem) encode() rawjson.Object {
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
