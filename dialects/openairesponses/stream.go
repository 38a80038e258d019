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

// eventPrefix begins the types of all events except the error that ends a stream.
const eventPrefix = "response."

// isEvent reports whether an object is an event of a stream, and no item.
func isEvent(o rawjson.Object) bool {
	typ := o.TextOrEmpty("type")
	return !o.Has("role") && (strings.HasPrefix(typ, eventPrefix) || typ == "error")
}

// lastEvents are the events that hold the whole response.
var lastEvents = []string{"response.completed", "response.incomplete", "response.failed", "response.cancelled"}

// stream assembles a response from the events of a stream.
type stream struct {
	// response is the newest response that an event holds.
	response rawjson.Object
	items    map[uint32]*streamedItem
	isWhole  bool
	ending   dialect.Ending
}

// readStream returns the body that the response would have had without streaming.
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
	// Some servers leave the output out of the last event, and send only the items.
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

// takeResponse reads the response in an event.
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

// takeItem reads what an event says about an item. Other events, such as the progress of a search, have no more
// information than the item.
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

// itemOf returns the item that an event belongs to.
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

// encode returns the items so far, including unfinished ones.
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
	// text is the event's field with the text. isWhole reports that it is the whole text, and no piece.
	text    string
	isWhole bool
	// field is the item's field. Where that is a list, index is the event's field with the position of the element, typ is
	// the element's type, and inner is the element's field.
	field, index, typ, inner string
}

// pieceEvents are the events before the end of an item, by type without its prefix.
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

// streamedItem is an item while its events are read.
type streamedItem struct {
	// fields is the item in the last event that has it, or nil before that. Those of a finished item are complete.
	fields rawjson.Object
	isDone bool
	texts  map[textPlace]*rawjson.Pieces
}

// textPlace is the place of a text in an item.
type textPlace struct {
	field string
	at    uint32
	// typ and inner are the type of an element and its field. They are empty where the field is the text itself.
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

// encode returns the item so far.
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
